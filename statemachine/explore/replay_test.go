package explore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine/explore"
)

func TestReplayPassesStates(t *testing.T) {
	m := counter(10)
	m.Start = []int{0, 4}
	states, err := explore.Replay(m, explore.History[int]{Start: 1, Inputs: []int{1, 2, 2}})
	if want := []int{4, 5, 7, 9}; err != nil || !slices.Equal(states, want) {
		t.Errorf("got %v, %v; want %v", states, err, want)
	}
}

func TestReplayAsksTheNamedLaw(t *testing.T) {
	m := counter(20)
	m.Invariants = append(m.Invariants, explore.Invariant[int, int]{
		Name: "no twos", Req: "CNT-2",
		Check: func(_, in, _ int) error {
			if in == 2 {
				return errors.New("a two")
			}
			return nil
		},
	})
	inputs := []int{2, 2, 2, 2, 2, 2}
	for law, want := range map[string]int{"": 1, "no twos": 1, "at most 10": 6} {
		_, err := explore.Replay(m, explore.History[int]{Law: law, Inputs: inputs})
		c, ok := errors.AsType[*explore.Counterexample[int, int]](err)
		if !ok || len(c.Inputs) != want || len(c.States) != want+1 {
			t.Errorf("law %q: got %v, want it broken after %d inputs", law, err, want)
		}
	}
	if _, err := explore.Replay(m, explore.History[int]{Start: 0, Law: "at most 10", Inputs: inputs[:5]}); err != nil {
		t.Errorf("ten is allowed: %v", err)
	}
}

func TestReplayChecksTheStart(t *testing.T) {
	m := counter(20)
	m.Start = []int{11}
	_, err := explore.Replay(m, explore.History[int]{Inputs: []int{1}})
	if c, ok := errors.AsType[*explore.Counterexample[int, int]](err); !ok || len(c.Inputs) != 0 {
		t.Errorf("got %v, want the start told", err)
	}
}

func TestRetellTellsMendedFromForgotten(t *testing.T) {
	c := broken(t, peterson(keepTurn), "one inside", 6)
	if err := explore.Retell(peterson(keepTurn), c.History); err == nil {
		t.Error("the fault is still there, and passes")
	}
	// Mended: the last input is the one that the sound lock refuses.
	_, err := explore.Replay(peterson(sound), c.History)
	if r, ok := errors.AsType[*explore.Refused](err); !ok || r.At != 6 || r.Of != 6 || !errors.Is(err, errNotNow) {
		t.Errorf("got %v, want input 6 of 6 refused", err)
	}
	if err := explore.Retell(peterson(sound), c.History); err != nil {
		t.Errorf("mended, and yet: %v", err)
	}
	// Forgotten: an earlier input is refused, so the history shows nothing.
	h := c.History
	h.Inputs = slices.Insert(slices.Clone(h.Inputs), 2, act{0, "leave"})
	if _, ok := errors.AsType[*explore.Refused](explore.Retell(peterson(sound), h)); !ok {
		t.Error("an early refusal passes")
	}
}

func TestReplaySettles(t *testing.T) {
	h := explore.History[string]{Law: explore.Settles, Inputs: []string{"start", "write", "lose"}}
	if err := explore.Retell(installer(true), h); err != nil {
		t.Errorf("with a deadline it settles: %v", err)
	}
	err := explore.Retell(installer(false), h)
	c, ok := errors.AsType[*explore.Counterexample[install, string]](err)
	if !ok || len(c.Inputs) != 3 || c.Law != explore.Settles {
		t.Errorf("got %v, want the wedge told", err)
	}
	h.Inputs = h.Inputs[:1]
	if _, err := explore.Replay(installer(false), h); err != nil {
		t.Errorf("a report could still be lost, but then faults have stopped: %v", err)
	}
	m := installer(true)
	m.Stable = nil
	if err := explore.Retell(m, h); err == nil || !strings.Contains(err.Error(), "without Stable") {
		t.Errorf("got %v", err)
	}
}

func TestReplayRefusesAHistoryOfAnotherModel(t *testing.T) {
	nameless := counter(10)
	nameless.Name = ""
	for name, c := range map[string]struct {
		m explore.Model[int, int, int]
		h explore.History[int]
	}{
		"no such law":    {counter(10), explore.History[int]{Law: "at most 11"}},
		"no such start":  {counter(10), explore.History[int]{Start: 1}},
		"start below":    {counter(10), explore.History[int]{Start: -1}},
		"invalid itself": {nameless, explore.History[int]{}},
	} {
		states, err := explore.Replay(c.m, c.h)
		if _, ok := errors.AsType[*explore.Invalid](err); !ok || states != nil {
			t.Errorf("%s: got %v, %v", name, states, err)
		}
	}
}
