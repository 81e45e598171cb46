package statemachine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"pgregory.net/rapid"
)

// The twin decides from the spec by searching its rules one by one. It is slow
// and plain, and the table must agree with it on every spec.
type twin struct{ spec plain }

type (
	plain     = statemachine.Spec[string, string]
	plainRule = statemachine.Rule[string, string]
	plainAt   = statemachine.At[string, string]
)

// rule finds what decides a cell: a rule that names the state, else a default.
func (w twin) rule(from, on string, holds statemachine.Guard) (found plainRule) {
	named := func(r plainRule) bool { return r.On == on && slices.Contains(r.From, from) }
	byName := slices.ContainsFunc(w.spec.Rules, named)
	for _, r := range w.spec.Rules {
		if r.On == on && r.When.Holds(holds) && (byName && named(r) || !byName && r.From == nil) {
			return r
		}
	}
	panic("undecided: " + from + " " + on)
}

func (w twin) state(name string) statemachine.State[string, string] {
	return w.spec.States[slices.IndexFunc(w.spec.States, func(s statemachine.State[string, string]) bool { return s.Name == name })]
}

func (w twin) open(at plainAt) bool {
	st := w.state(at.State)
	return st.Kind == statemachine.InFlight || st.Expire != "" && !at.Deadline.IsZero()
}

// next decides a bare state.
func (w twin) next(from, on string, holds statemachine.Guard) (string, string) {
	r := w.rule(from, on, holds)
	switch {
	case r.Refuse != "":
		return from, string(r.Refuse)
	case r.Stay:
		return from, ""
	}
	return r.To, ""
}

// repeats looks for the report among all that the record remembers.
func (w twin) repeats(at plainAt, ev statemachine.Event[string]) bool {
	memory := []statemachine.Decided[string]{{Epoch: at.Epoch, By: at.Ended}, at.Before}
	return ev.Epoch > 0 && slices.Contains(w.spec.Reports, ev.On) &&
		slices.Contains(memory, statemachine.Decided[string]{Epoch: ev.Epoch, By: ev.On})
}

// step decides a state with its attempt. The code is empty on success.
func (w twin) step(at plainAt, ev statemachine.Event[string], holds statemachine.Guard, now time.Time) (plainAt, string) {
	report := slices.Contains(w.spec.Reports, ev.On)
	if w.repeats(at, ev) {
		return at, ""
	}
	to, code := w.next(at.State, ev.On, holds)
	switch {
	case code != "":
		return at, code
	case report && (ev.Epoch == 0 || ev.Epoch != at.Epoch || !w.open(at)):
		return at, "CONFLICT"
	case ev.On == w.state(at.State).Expire && (!w.open(at) || now.Before(at.Deadline)):
		return at, "CONFLICT"
	}
	return w.land(at, to, w.rule(at.State, ev.On, holds), ev, now)
}

// land applies a rule that accepts.
func (w twin) land(at plainAt, to string, r plainRule, ev statemachine.Event[string], now time.Time) (plainAt, string) {
	after := plainAt{State: to, Epoch: at.Epoch, Deadline: at.Deadline, Ended: at.Ended, Before: at.Before}
	ends := r.Ends
	if ends == "" && r.To != "" && slices.Contains(w.spec.Reports, ev.On) {
		ends = ev.On
	}
	if ends != "" && w.open(at) {
		after.Ended, after.Deadline = ends, time.Time{}
	}
	if to != at.State {
		after.Deadline = time.Time{}
	}
	if r.Forget {
		after.Ended, after.Deadline, after.Before = "", time.Time{}, statemachine.Decided[string]{}
	}
	within := r.Opens
	if to != at.State && w.state(to).Kind == statemachine.InFlight {
		within = w.state(to).Deadline
	}
	switch {
	case w.state(to).Kind == statemachine.Absent:
		return plainAt{State: to}, ""
	case within == 0:
		return after, ""
	case ev.Next <= at.Epoch:
		return at, "INVALID_INPUT"
	case ev.Within != 0:
		within = ev.Within
	}
	before := after.Before
	if after.Ended != "" {
		before = statemachine.Decided[string]{Epoch: at.Epoch, By: after.Ended}
	}
	return plainAt{State: to, Epoch: ev.Next, Deadline: now.Add(within), Before: before}, ""
}

// maker draws valid specs of up to six states, five guards and six events.
type maker struct {
	t      *rapid.T
	spec   plain
	states []string
}

// groups of the maker's guards: one of the first three, and two free ones.
var oneOf = statemachine.Guard(7)

func draw(t *rapid.T) plain {
	m := &maker{t: t, spec: plain{Name: "drawn", Start: []string{"s0"}, OneOf: []statemachine.Guard{oneOf},
		Guards: []string{"a", "b", "c", "free", "loose"}, Reports: []string{"e0", "e1"}}}
	m.drawStates(rapid.IntRange(2, 6).Draw(t, "states"))
	m.turn()
	m.expire()
	for k := range rapid.IntRange(2, 5).Draw(t, "events") {
		m.event(fmt.Sprint("e", k))
	}
	return m.spec
}

func (m *maker) drawStates(n int) {
	kinds := []statemachine.Kind{statemachine.Stable, statemachine.InFlight, statemachine.Absent}
	for k := range n {
		st := statemachine.State[string, string]{Name: fmt.Sprint("s", k), Kind: statemachine.Stable}
		if k > 0 {
			st.Kind = rapid.SampledFrom(kinds).Draw(m.t, "kind")
		}
		switch st.Kind {
		case statemachine.InFlight:
			st.Deadline, st.Expire = time.Duration(k)*time.Minute, "expire"
		case statemachine.Absent:
			kinds = kinds[:2] // at most one
		}
		m.spec.States, m.states = append(m.spec.States, st), append(m.states, st.Name)
	}
}

// turn leads through all states and back, so that every spec is connected.
func (m *maker) turn() {
	for k, from := range m.states {
		m.spec.Rules = append(m.spec.Rules, plainRule{On: "turn", From: []string{from}, To: m.states[(k+1)%len(m.states)]})
	}
}

// expire leads out of in-flight states, and out of s0, which may hold
// attempts too.
func (m *maker) expire() {
	m.spec.States[0].Expire = "expire"
	m.spec.Rules = append(m.spec.Rules,
		plainRule{On: "open", From: []string{"s0"}, Stay: true, Opens: time.Second},
		plainRule{On: "open", Refuse: statemachine.Denied, Why: "elsewhere"},
		plainRule{On: "expire", From: []string{"s0"}, Stay: true, Ends: rapid.SampledFrom([]string{"e0", "e1"}).Draw(m.t, "ends")})
	for k, st := range m.spec.States[1:] {
		r := plainRule{On: "expire", From: []string{st.Name}, Refuse: statemachine.Conflict, Why: "nothing is open"}
		if st.Kind == statemachine.InFlight {
			r.Refuse, r.To, r.Ends = "", m.states[k], rapid.SampledFrom([]string{"", "e0", "e1"}).Draw(m.t, "ends")
		}
		m.spec.Rules = append(m.spec.Rules, r)
	}
}

// event cuts the states in two, decides each part apart, and makes the second
// the default.
func (m *maker) event(on string) {
	if slices.Contains(m.spec.Reports, on) {
		m.report(on)
		return
	}
	cut := rapid.IntRange(0, len(m.states)-1).Draw(m.t, "cut")
	if cut > 0 {
		m.split(plainRule{On: on, From: m.states[:cut]}, m.states[:cut], []statemachine.Guard{oneOf, 8, 16})
	}
	m.split(plainRule{On: on}, m.states[cut:], []statemachine.Guard{oneOf, 8, 16})
}

// report decides a report where attempts are, and refuses it elsewhere.
func (m *maker) report(on string) {
	var holders []string
	for _, st := range m.spec.States {
		if st.Expire != "" {
			holders = append(holders, st.Name)
		}
	}
	m.split(plainRule{On: on, From: holders}, holders, []statemachine.Guard{oneOf, 8, 16})
	if len(holders) < len(m.states) {
		m.spec.Rules = append(m.spec.Rules, plainRule{On: on, Refuse: statemachine.InvalidState, Why: "no attempt"})
	}
}

// split refines a rule by the guards that are left, or decides it.
func (m *maker) split(r plainRule, from []string, left []statemachine.Guard) {
	if len(left) == 0 || rapid.IntRange(0, 2).Draw(m.t, "split") == 0 {
		m.decide(r, from)
		return
	}
	g := left[0]
	if g == oneOf && rapid.Bool().Draw(m.t, "by group") {
		for one := statemachine.Guard(1); one <= 4; one <<= 1 {
			part := r
			part.When.If |= one
			m.split(part, from, left[1:])
		}
		return
	}
	if g == oneOf {
		g = 2
	}
	yes, no := r, r
	yes.When.If |= g
	no.When.Not |= g
	m.split(yes, from, left[1:])
	m.split(no, from, left[1:])
}

// decide draws an outcome that is legal in all of from: no in-flight state
// moves to itself or loses its attempt.
func (m *maker) decide(r plainRule, from []string) {
	inFlight := slices.ContainsFunc(from, func(s string) bool { return twin{m.spec}.state(s).Kind == statemachine.InFlight })
	switch rapid.IntRange(0, 3).Draw(m.t, "outcome") {
	case 0:
		r.Refuse, r.Why, r.Req = statemachine.NotFound, "drawn", "R-1"
	case 1:
		r.Stay = true
		r.Forget = !inFlight && rapid.Bool().Draw(m.t, "forget")
	default:
		r.To = rapid.SampledFrom(m.states).Draw(m.t, "to")
		r.Forget = !slices.Contains(from, r.To) && rapid.Bool().Draw(m.t, "forget")
		if slices.Contains(from, r.To) && inFlight {
			r.To, r.Stay, r.Forget = "", true, false
		}
	}
	m.spec.Rules = append(m.spec.Rules, r)
}

// every valuation of the maker's guards: one of three, and any of two.
func everyValuation() (out []statemachine.Guard) {
	for g := range statemachine.Guard(4) {
		for _, one := range []statemachine.Guard{1, 2, 4} {
			out = append(out, one|g<<3)
		}
	}
	return out
}

func TestTableAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := twin{draw(t)}
		table, err := statemachine.New(w.spec)
		if err != nil {
			t.Fatalf("a valid spec is refused: %v", err)
		}
		for st := range table.States() {
			for on := range table.Events() {
				for _, holds := range everyValuation() {
					agree(t, w, table, st.Name, on, holds)
				}
			}
		}
	})
}

func agree(t *rapid.T, w twin, table *statemachine.Table[string, string], from, on string, holds statemachine.Guard) {
	to, err := table.Next(from, on, holds)
	if want, code := w.next(from, on, holds); to != want || codeOf(err) != code {
		t.Fatalf("%s, %s, %b: table %s, %v; twin %s, %s", from, on, holds, to, err, want, code)
	}
	cell, ok := table.Cell(from, on, holds)
	if r := w.rule(from, on, holds); !ok || w.spec.Rules[cell.Rule].When != r.When || cell.Default != (r.From == nil) {
		t.Fatalf("%s, %s, %b: cell %+v; twin %+v", from, on, holds, cell, r)
	}
}

func TestStepAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := twin{draw(t)}
		table := statemachine.Must(w.spec)
		names := slices.Collect(table.Events())
		for range 50 {
			at := plainAt{
				State: rapid.SampledFrom(w.spec.States).Draw(t, "state").Name,
				Epoch: rapid.Uint64Range(0, 2).Draw(t, "epoch"),
				Ended: rapid.SampledFrom(append(names, "", "")).Draw(t, "ended"),
			}
			if rapid.Bool().Draw(t, "has before") {
				at.Before = statemachine.Decided[string]{Epoch: rapid.Uint64Range(0, 2).Draw(t, "before"), By: rapid.SampledFrom(names).Draw(t, "by")}
			}
			if rapid.Bool().Draw(t, "has deadline") {
				at.Deadline = start
			}
			ev := statemachine.Event[string]{On: rapid.SampledFrom(names).Draw(t, "on"), Epoch: rapid.Uint64Range(0, 2).Draw(t, "reported"),
				Next: rapid.Uint64Range(0, 3).Draw(t, "next"), Within: time.Duration(rapid.IntRange(0, 1).Draw(t, "within")) * time.Hour}
			holds := rapid.SampledFrom(everyValuation()).Draw(t, "holds")
			now := start.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "now")))
			if got, want := table.Repeats(at, ev), w.repeats(at, ev); got != want {
				t.Fatalf("%+v, %+v: a repeat is %v; twin %v", at, ev, got, want)
			}
			got, err := table.Step(at, ev, holds, now)
			if want, code := w.step(at, ev, holds, now); got != want || codeOf(err) != code {
				t.Fatalf("%+v, %+v, %b: table %+v, %v; twin %+v, %s", at, ev, holds, got, err, want, code)
			}
		}
	})
}
