package explore_test

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

// broken demands that a run breaks law after exactly n inputs, that the
// history really breaks it when told again, and that a second run says the
// same.
func broken[S, I any, K comparable](t *testing.T, m explore.Model[S, I, K], law string, n int) *explore.Counterexample[S, I] {
	t.Helper()
	_, err := explore.Run(m, explore.Limits{})
	c, ok := errors.AsType[*explore.Counterexample[S, I]](err)
	if !ok {
		t.Fatalf("got %v, want a counterexample to %q", err, law)
	}
	if c.Law != law || len(c.Inputs) != n {
		t.Fatalf("want %q broken after %d inputs, got: %v", law, n, err)
	}
	if law != explore.NoPanic {
		_, err := explore.Replay(m, c.History)
		again, ok := errors.AsType[*explore.Counterexample[S, I]](err)
		if !ok || again.Law != law || law != explore.Settles && again.Why.Error() != c.Why.Error() || !reflect.DeepEqual(again.States, c.States) {
			t.Errorf("replayed: %v\nwant: %v", err, c)
		}
	}
	if _, err := explore.Run(m, explore.Limits{}); err.Error() != c.Error() {
		t.Errorf("a second run tells another story: %v\nthe first: %v", err, c)
	}
	return c
}

// holds demands that a run closes with every promise kept.
func holds[S, I any, K comparable](t *testing.T, m explore.Model[S, I, K]) explore.Result {
	t.Helper()
	r, err := explore.Run(m, explore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Closed {
		t.Errorf("not closed, yet no error: %s", r)
	}
	return r
}

func TestSoundLockHolds(t *testing.T) {
	r := holds(t, peterson(sound))
	seen := map[lock]bool{}
	var visit func(lock)
	visit = func(s lock) {
		seen[s] = true
		for _, a := range acts {
			if to, err := sound.step(s, a); err == nil && !seen[to] {
				visit(to)
			}
		}
	}
	visit(lock{})
	if r.States != len(seen) || r.Steps != len(seen)*len(acts) {
		t.Errorf("got %s, want %d states", r, len(seen))
	}
	if dead := r.Dead(); len(dead) != 0 {
		t.Errorf("dead events %v in a sound lock", dead)
	}
}

func TestPlantedFaultsAreFoundAtTheirShortest(t *testing.T) {
	t.Run("turn kept", func(t *testing.T) {
		c := broken(t, peterson(keepTurn), "one inside", 6)
		if c.Req != "MUTEX-1" || c.States[6].PC != [2]uint8{3, 3} {
			t.Errorf("got %+v", c)
		}
	})
	t.Run("deadlock", func(t *testing.T) {
		c := broken(t, peterson(noTurn), explore.Settles, 2)
		if want := []act{{0, "want"}, {1, "want"}}; !slices.Equal(c.Inputs, want) {
			t.Errorf("got %v, want %v", c.Inputs, want)
		}
	})
	t.Run("counter", func(t *testing.T) {
		holds(t, counter(10))
		c := broken(t, counter(11), "at most 10", 6)
		if want := []int{1, 2, 2, 2, 2, 2}; !slices.Equal(c.Inputs, want) {
			t.Errorf("got %v, want the earliest inputs of the shortest, %v", c.Inputs, want)
		}
	})
	t.Run("start", func(t *testing.T) {
		m := counter(10)
		m.Start = []int{0, 3, 12}
		if c := broken(t, m, "at most 10", 0); c.Start != 2 {
			t.Errorf("got start %d, want 2", c.Start)
		}
	})
}

// Two transactions take the locks a and b in two phases: all takes before all
// releases. One that releases early lets the other write in between.
func TestTwoPhaseLock(t *testing.T) {
	type tx struct {
		Held, Done [2]bool // by lock
		Shrinking  bool
	}
	type both [2]tx
	type move struct {
		Who, Lock int
		Take      bool
	}
	model := func(twoPhase bool) explore.Model[both, move, both] {
		var moves []move
		for i := range 8 {
			moves = append(moves, move{i & 1, i >> 1 & 1, i < 4})
		}
		return explore.Model[both, move, both]{
			Name: "two-phase lock", Start: []both{{}}, Inputs: seq[both](moves...), Key: same[both],
			Step: func(s both, in move) (both, error) {
				me, other := &s[in.Who], s[1-in.Who]
				switch {
				case in.Take && (me.Done[in.Lock] || other.Held[in.Lock] || twoPhase && me.Shrinking),
					!in.Take && !me.Held[in.Lock]:
					return both{}, errNotNow
				}
				me.Held[in.Lock] = in.Take
				me.Done[in.Lock] = true
				me.Shrinking = me.Shrinking || !in.Take
				return s, nil
			},
			Invariants: []explore.Invariant[both, move]{{
				Name: "no take after a release",
				Check: func(from both, in move, to both) error {
					if in.Take && from[in.Who].Shrinking {
						return fmt.Errorf("transaction %d takes lock %d", in.Who, in.Lock)
					}
					return nil
				},
			}},
		}
	}
	holds(t, model(true))
	broken(t, model(false), "no take after a release", 3)
}

func TestTrafficLight(t *testing.T) {
	type lights [2]string // by road
	next := map[string]string{"red": "green", "green": "amber", "amber": "red"}
	model := func(interlock bool) explore.Model[lights, int, lights] {
		return explore.Model[lights, int, lights]{
			Name: "lights", Start: []lights{{"red", "red"}}, Inputs: seq[lights](0, 1), Key: same[lights],
			Step: func(s lights, road int) (lights, error) {
				if interlock && s[road] == "red" && s[1-road] != "red" {
					return s, errNotNow
				}
				s[road] = next[s[road]]
				return s, nil
			},
			Invariants: []explore.Invariant[lights, int]{{
				Name: "one road goes",
				State: func(s lights) error {
					if s[0] != "red" && s[1] != "red" {
						return errors.New("both roads go")
					}
					return nil
				},
			}, {
				Name: "amber before red",
				Check: func(from lights, road int, to lights) error {
					if to[road] == "red" && from[road] != "amber" {
						return errors.New("stopped without warning")
					}
					return nil
				},
			}},
		}
	}
	if r := holds(t, model(true)); r.States != 5 {
		t.Errorf("got %s, want 5 states", r)
	}
	broken(t, model(false), "one road goes", 2)
	next["green"] = "red"
	broken(t, model(true), "amber before red", 2)
}

func TestRefusalInvariant(t *testing.T) {
	m := counter(5)
	m.Invariants = []explore.Invariant[int, int]{{
		Name: "one is never refused",
		Refusal: func(s, in int, refused error) error {
			if !errors.Is(refused, errNotNow) {
				return errors.New("another error than Step's")
			}
			if in == 1 {
				return fmt.Errorf("refused at %d", s)
			}
			return nil
		},
	}}
	c := broken(t, m, "one is never refused", 4) // 1, 2, 2, and the 1 refused
	if len(c.States) != 4 || c.States[3] != 5 {
		t.Errorf("a refused input led on: %v", c.States)
	}
	if got := c.Error(); !strings.HasSuffix(got, "\n  4. 1") {
		t.Errorf("the refused input is not told last:\n%s", got)
	}
}

func TestWedgeIsFoundByLiveness(t *testing.T) {
	holds(t, installer(true))
	c := broken(t, installer(false), explore.Settles, 3)
	if want := []string{"start", "write", "lose"}; !slices.Equal(c.Inputs, want) {
		t.Errorf("got %v, want %v", c.Inputs, want)
	}

	// What an operator could do is no way out either, as nobody may be there.
	m := installer(true)
	class := m.Class
	m.Class = func(in string) explore.Class {
		if in == "deadline" {
			return explore.Operator
		}
		return class(in)
	}
	broken(t, m, explore.Settles, 3)

	// Without Class everything is System, so that starting again is a way
	// out, but never one that rests.
	m = installer(true)
	m.Class = nil
	c = broken(t, m, explore.Settles, 1)
	if !strings.Contains(c.Why.Error(), "always back; 3 states like it") {
		t.Errorf("got %v", c.Why)
	}
}

func TestDeadEventsAndMissingRows(t *testing.T) {
	m := installer(true)
	m.Row = func(from install, in string, to install, err error) string {
		switch {
		case err != nil && to != from:
			t.Errorf("a refused row leads from %v to %v", from, to)
		case err != nil && in == "lose":
			return "" // not worth a row
		case err != nil:
			return in + " refused"
		}
		return in + ": " + to.State
	}
	r := holds(t, m)
	if got, want := r.Dead("wipe", "start"), []string{"abort", "wipe"}; !slices.Equal(got, want) {
		t.Errorf("dead events %v, want %v", got, want)
	}
	rows := []string{"deadline: failed", "report: installed", "report: failed", "abort refused", "lose refused"}
	if got, want := r.Missing(rows...), []string{"report: failed", "lose refused"}; !slices.Equal(got, want) {
		t.Errorf("missing rows %v, want %v", got, want)
	}
	if len(r.Events) != 6 || !slices.IsSortedFunc(r.Events, func(a, b explore.Tally) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("events %v", r.Events)
	}
	tried, accepted := 0, 0
	for _, e := range r.Events {
		tried, accepted = tried+e.Tried, accepted+e.Accepted
	}
	if tried != r.Steps || accepted != r.Accepted {
		t.Errorf("events count %d tried and %d accepted, the run %d and %d", tried, accepted, r.Steps, r.Accepted)
	}
}

// A clock that never closes is closed by a key that keeps the hour alone.
func TestKeyCollapses(t *testing.T) {
	m := explore.Model[int, string, int]{
		Name: "clock", Start: []int{0, 12}, Inputs: seq[int]("tick"),
		Step: func(s int, _ string) (int, error) { return s + 1, nil },
		Key:  func(s int) int { return s % 12 },
	}
	if r := holds(t, m); r.States != 12 || r.Accepted != 12 || r.Depth != 11 {
		t.Errorf("got %s, want 12 states", r)
	}
	m.Key = same[int]
	r, err := explore.Run(m, explore.Limits{MaxStates: 100})
	if cut, ok := errors.AsType[*explore.Cut](err); !ok || cut.Limit != "MaxStates" || cut.States != 100 || r.States != 100 || r.Closed {
		t.Errorf("got %s, %v; want a cut at 100 states", r, err)
	}
	r, err = explore.Run(m, explore.Limits{MaxBytes: 1 << 20})
	if cut, ok := errors.AsType[*explore.Cut](err); !ok || cut.Limit != "MaxBytes" || r.Bytes > 1<<20 || r.Bytes < 1<<19 {
		t.Errorf("got %s, %v; want a cut at 1 MiB", r, err)
	}
}

func TestKeyInvariantFindsAKeyThatHides(t *testing.T) {
	model := func(key func(int) int) explore.Model[int, int, int] {
		m := counter(10)
		m.Key = key
		m.Invariants = []explore.Invariant[int, int]{explore.KeyInvariant(m)}
		return m
	}
	holds(t, model(same[int]))
	// Nine may not take two, eight may: an epoch counted "8 or more" is like it.
	c := broken(t, model(func(s int) int { return min(s, 8) }), "key keeps what decides", 5)
	if c.States[5] != 9 {
		t.Errorf("got %v", c)
	}
	broken(t, model(func(s int) int { return s / 2 }), "key keeps what decides", 1)

	m := counter(10)
	m.Step = func(s, in int) (int, error) { return (s + in) % 20, nil }
	m.Key = func(s int) int { return s % 10 }
	m.Invariants = []explore.Invariant[int, int]{explore.KeyInvariant(m)}
	holds(t, m) // the hidden ten decides nothing
	m.Stable = func(s int) bool { return s >= 10 }
	m.Invariants = []explore.Invariant[int, int]{explore.KeyInvariant(m)}
	broken(t, m, "key keeps what decides", 5)
}

func TestPanicIsTold(t *testing.T) {
	m := counter(10)
	m.Step = func(s, in int) (int, error) {
		if s == 4 && in == 2 {
			return []int{s}[in], nil // out of range
		}
		return min(s+in, 9), nil
	}
	c := broken(t, m, explore.NoPanic, 3)
	p, ok := errors.AsType[*explore.Panicked](c)
	if !ok || !strings.Contains(p.Stack, "run_test.go") {
		t.Errorf("no stack of the panic: %v", c.Why)
	}

	m = counter(10)
	m.Inputs = func(s int) iter.Seq[int] {
		if s == 2 {
			panic("no inputs")
		}
		return slices.Values([]int{1, 2})
	}
	if c := broken(t, m, explore.NoPanic, 1); c.States[1] != 2 {
		t.Errorf("got %v", c)
	}

	m = counter(10)
	m.Start = []int{1, 0}
	m.Key = func(s int) int { return 1 / s }
	if c := broken(t, m, explore.NoPanic, 0); c.Start != 1 || len(c.States) != 0 {
		t.Errorf("got %v", c)
	}
}

func TestDriftIsTold(t *testing.T) {
	m := counter(11)
	asked := 0
	m.Inputs = func(int) iter.Seq[int] {
		asked++
		if asked > 8 { // after the walk, when the history is stepped again
			return slices.Values([]int{2, 1})
		}
		return slices.Values([]int{1, 2})
	}
	_, err := explore.Run(m, explore.Limits{})
	if d, ok := errors.AsType[*explore.Drift](err); !ok || d.Model != "counter" {
		t.Errorf("got %v, want a Drift", err)
	}
}

// An Inputs that goes on after it was told to stop must not hide the end.
func TestInputsThatDoNotHeed(t *testing.T) {
	m := counter(11)
	m.Inputs = func(int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for _, in := range []int{1, 2, 50} { // 50 is always refused
				yield(in)
			}
		}
	}
	if r, err := explore.Run(m, explore.Limits{}); err == nil {
		t.Errorf("eleven is reached, and yet: %s", r)
	}
}

func TestInvalid(t *testing.T) {
	type model = explore.Model[int, int, int]
	nothing := func(int) error { return nil }
	for name, c := range map[string]struct {
		edit   func(*model)
		limits explore.Limits
		want   string
	}{
		"name":      {func(m *model) { m.Name = "" }, explore.Limits{}, "Name is empty"},
		"start":     {func(m *model) { m.Start = nil }, explore.Limits{}, "Start is empty"},
		"inputs":    {func(m *model) { m.Inputs = nil }, explore.Limits{}, "Inputs is nil"},
		"step":      {func(m *model) { m.Step = nil }, explore.Limits{}, "Step is nil"},
		"key":       {func(m *model) { m.Key = nil }, explore.Limits{}, "Key is nil"},
		"held":      {func(m *model) { m.Held = -1 }, explore.Limits{}, "Held is negative"},
		"nameless":  {func(m *model) { m.Invariants[0].Name = "" }, explore.Limits{}, `the name "" is empty`},
		"reserved":  {func(m *model) { m.Invariants[0].Name = explore.Settles }, explore.Limits{}, "reserved"},
		"twice":     {func(m *model) { m.Invariants = append(m.Invariants, m.Invariants[0]) }, explore.Limits{}, "invariant 1"},
		"asks not":  {func(m *model) { m.Invariants[0].State = nil }, explore.Limits{}, "asks nothing"},
		"states":    {func(m *model) { m.Invariants[0].State = nothing }, explore.Limits{MaxStates: 1 << 32}, "limits"},
		"no states": {func(m *model) {}, explore.Limits{MaxStates: -1}, "limits"},
		"bytes":     {func(m *model) {}, explore.Limits{MaxBytes: -1}, "limits"},
	} {
		t.Run(name, func(t *testing.T) {
			m := counter(10)
			c.edit(&m)
			r, err := explore.Run(m, c.limits)
			if _, ok := errors.AsType[*explore.Invalid](err); !ok || !strings.Contains(err.Error(), c.want) || r.States != 0 {
				t.Errorf("got %s, %v; want %q", r, err, c.want)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	for want, errs := range map[string][]interface{ Code() string }{
		"INVALID_CONFIG": {&explore.Invalid{}, &explore.Drift{}},
		"INVALID_STATE":  {&explore.Refused{}, &explore.Panicked{}, &explore.Counterexample[int, int]{}},
		"UNAVAILABLE":    {&explore.Cut{}},
	} {
		for _, err := range errs {
			if err.Code() != want {
				t.Errorf("%T: got %s, want %s", err, err.Code(), want)
			}
		}
	}
}
