package explore_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

// chain goes from 0 to length-1, one System step at a time.
func chain(length int, isStable func(int) bool) explore.Model[int, string, int] {
	return explore.Model[int, string, int]{
		Name: "chain", Start: []int{0}, Inputs: seq[int]("on"), Key: same[int], Stable: isStable,
		Step: func(s int, _ string) (int, error) {
			if s+1 == length {
				return s, errNotNow
			}
			return s + 1, nil
		},
	}
}

// The search for components goes as deep as the graph is long.
func TestLongChainSettles(t *testing.T) {
	const length = 50_000
	last := func(s int) bool { return s == length-1 }
	if r := holds(t, chain(length, last)); r.Depth != length-1 || r.Widest != 1 {
		t.Errorf("got %s", r)
	}
	c := broken(t, chain(length, func(s int) bool { return false }), explore.Settles, 0)
	if !strings.Contains(c.Why.Error(), "50000 states like it") {
		t.Errorf("got %v", c.Why)
	}
	// A stable state passed on the way is no rest.
	c = broken(t, chain(1000, func(s int) bool { return s == 600 }), explore.Settles, 601)
	if !strings.Contains(c.Why.Error(), "399 states like it") {
		t.Errorf("got %v", c.Why)
	}
}

// A machine that flaps between rest and work never rests, however often it
// passes a stable state.
func TestFlappingIsRestless(t *testing.T) {
	next := map[string]string{"new": "up", "up": "down", "down": "probing", "probing": "up"}
	m := explore.Model[string, string, string]{
		Name: "flap", Start: []string{"new"}, Inputs: seq[string]("tick"), Key: same[string],
		Step:   func(s, _ string) (string, error) { return next[s], nil },
		Stable: func(s string) bool { return s == "up" || s == "down" },
	}
	c := broken(t, m, explore.Settles, 3)
	if c.States[3] != "probing" || !strings.Contains(c.Why.Error(), "always back; 1 state like it") {
		t.Errorf("got %v", c)
	}
	r, _ := explore.Run(m, explore.Limits{})
	if !r.Closed {
		t.Errorf("every state was seen, yet: %s", r)
	}
	m.Stable = func(s string) bool { return s != "new" }
	holds(t, m) // coming and going among stable states is rest
	m.Stable = nil
	holds(t, m) // not asked
}

// Flapping with a way out ends in rest, by fairness.
func TestWayOutIsTakenInTheEnd(t *testing.T) {
	next := map[string][2]string{"up": {"down", "gone"}, "down": {"up", "up"}, "gone": {"gone", "gone"}}
	m := explore.Model[string, int, string]{
		Name: "flap", Start: []string{"down"}, Inputs: seq[string](0, 1), Key: same[string],
		Step:   func(s string, in int) (string, error) { return next[s][in], nil },
		Stable: func(s string) bool { return s != "up" },
	}
	holds(t, m)
	m.Stable = func(s string) bool { return s != "gone" }
	broken(t, m, explore.Settles, 2)
}

// A state nobody can leave is worse than one that flaps, and told first, even
// if it is farther.
func TestHopelessComesBeforeRestless(t *testing.T) {
	next := map[string][2]string{"a": {"b", "c"}, "b": {"a2", "a2"}, "a2": {"b", "b"}, "c": {"d", "d"}, "d": {"stuck", "stuck"}, "stuck": {"stuck", "stuck"}}
	m := explore.Model[string, int, string]{
		Name: "fork", Start: []string{"a"}, Inputs: seq[string](0, 1), Key: same[string],
		Step:   func(s string, in int) (string, error) { return next[s][in], nil },
		Stable: func(s string) bool { return s == "b" || s == "d" },
	}
	c := broken(t, m, explore.Settles, 3)
	if c.States[3] != "stuck" {
		t.Errorf("got %v", c)
	}
	next["stuck"] = [2]string{"d", "d"}
	c = broken(t, m, explore.Settles, 2)
	if c.States[2] != "a2" || !strings.Contains(c.Why.Error(), "2 states like it") {
		t.Errorf("got %v", c)
	}
}

func TestInvariantsAreAskedInOrder(t *testing.T) {
	m := counter(20)
	never := func(name string, at int) explore.Invariant[int, int] {
		return explore.Invariant[int, int]{Name: name, State: func(s int) error {
			if s >= at {
				return fmt.Errorf("%s: %d", name, s)
			}
			return nil
		}}
	}
	m.Invariants = []explore.Invariant[int, int]{never("ten", 10), never("nine", 9), never("nine too", 9)}
	c := broken(t, m, "nine", 5) // nearer than ten, and before its like
	if c.Why.Error() != "nine: 9" || !errors.Is(c, c.Why) {
		t.Errorf("got %v", c)
	}
}

// MaxBytes is only worth something if the estimate is near the truth.
func TestBytesAreNearTheHeap(t *testing.T) {
	const length = 200_000
	type key [8]int
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, after := heap(), int64(0)
	r, err := explore.Run(explore.Model[int, int, key]{
		Name: "heap", Start: []int{0}, Inputs: seq[int](1, 2), Key: func(s int) key { return key{s, 7: s} },
		Step: func(s, in int) (int, error) {
			if s == length-1 && in == 1 {
				after = heap()
			}
			if s+in >= length {
				return 0, errNotNow
			}
			return s + in, nil
		},
	}, explore.Limits{})
	if err != nil || r.States != length {
		t.Fatalf("got %s, %v", r, err)
	}
	if real := after - before; r.Bytes < real*2/3 || r.Bytes > real*3/2 {
		t.Errorf("the estimate is %d bytes, the heap grew by %d", r.Bytes, real)
	}
}

// Liveness adds its part to the estimate.
func TestBytesOfLiveness(t *testing.T) {
	m := chain(1000, nil)
	without := holds(t, m)
	m.Stable = func(s int) bool { return s == 999 }
	with := holds(t, m)
	if added := with.Bytes - without.Bytes; added < 37*999 || added > 40*1000 {
		t.Errorf("liveness adds %d bytes to %d states and %d steps", added, with.States, with.Accepted)
	}
}

// Held counts for each state in the two layers kept.
func TestHeldCounts(t *testing.T) {
	m := counter(1000)
	m.Invariants = nil
	limits := explore.Limits{MaxBytes: 100_000}
	if _, err := explore.Run(m, limits); err != nil {
		t.Fatal(err)
	}
	m.Held = 50_000
	_, err := explore.Run(m, limits)
	if cut, ok := errors.AsType[*explore.Cut](err); !ok || cut.Limit != "MaxBytes" || cut.Max != 100_000 {
		t.Errorf("got %v, want a cut", err)
	}
}
