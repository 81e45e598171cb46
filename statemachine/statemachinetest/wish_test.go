package statemachinetest

import (
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
	"pgregory.net/rapid"
)

// Whatever was drawn, settled guards satisfy the condition and every group.
func TestSettleKeepsConditionAndGroups(t *testing.T) {
	groups := []statemachine.Guard{0b0111, 0b11000}
	rapid.Check(t, func(t *rapid.T) {
		w := statemachine.When{If: possibleIf(t, groups)}
		w.Not = statemachine.Guard(rapid.Uint32Range(0, 255).Draw(t, "not")) &^ w.If
		for _, group := range groups {
			if w.If&group == 0 && group&^w.Not == 0 {
				return // no valuation satisfies it
			}
		}
		g := settle(groups, statemachine.Guard(rapid.Uint32Range(0, 255).Draw(t, "drawn")), w)
		if !w.Holds(g) {
			t.Fatalf("%b does not satisfy %+v", g, w)
		}
		for _, group := range groups {
			if n := bits.OnesCount32(uint32(g & group)); n != 1 {
				t.Fatalf("%b has %d of the group %b", g, n, group)
			}
		}
	})
}

// possibleIf draws guards of which no two share a group.
func possibleIf(t *rapid.T, groups []statemachine.Guard) statemachine.Guard {
	g := statemachine.Guard(rapid.Uint32Range(0, 255).Draw(t, "if"))
	for _, group := range groups {
		in := g & group
		g = g&^group | in&-in
	}
	return g
}

// The tour finds a way to each row that can be taken at all.
func TestTourTakesEveryRow(t *testing.T) {
	s := pumpSubject(right)
	cover := NewCover(pumps)
	if err := tour(&s, Laws[wet, pump.State, pump.On](), cover); err != nil {
		t.Fatal(err)
	}
	if missing := cover.Missing(); len(missing) > 0 {
		t.Errorf("not taken: %q", missing)
	}
}

// A tour begins where the subject begins: from broken there is no way to the
// rest but through removal.
func TestTourBeginsAtTheStart(t *testing.T) {
	s := pumpSubject(right)
	s.Start = func() wet { return wet{pumpAt: pumpAt{State: pump.Broken}} }
	ways := routes(&s)
	way := ways[place[pump.State]{pump.Serving, true}]
	var names []pump.On
	for _, c := range way {
		names = append(names, c.On)
	}
	want := []pump.On{pump.Remove, pump.Install, pump.Fill, pump.Filled, pump.Drained, pump.Flush}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// What cannot be taken is left out, and Cover tells of it.
func TestRowBehindADeafStepIsMissing(t *testing.T) {
	s := pumpSubject(refusing(func(_ wet, ev pumpEvent, _ time.Time) bool { return ev.On == pump.Flush })())
	s.Picky = true
	set(t, "rapid.checks", "20")
	quiet := &recorder{TB: t}
	var cover *Cover[pump.State, pump.On]
	quiet.run(func() { cover = Machine(quiet, s) })
	if quiet.failed {
		t.Fatalf("a picky step broke a law: %q", quiet.errors)
	}
	missing := cover.Missing()
	for _, want := range []string{"serving --flush--> serving, always", "serving --flushed--> serving, always"} {
		if !slices.Contains(missing, want) {
			t.Errorf("%q is not missing: %q", want, missing)
		}
	}
}

// A subject may work out its guards itself; the laws then judge by those.
func TestHoldsOverridesTheWish(t *testing.T) {
	s := pumpSubject(func(rec wet, ev pumpEvent, _ statemachine.Guard, now time.Time) (wet, error) {
		return right(rec, ev, pump.Dry|pump.Primed, now)
	})
	quiet := &recorder{TB: t}
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", "0s")
	quiet.run(func() { Machine(quiet, s) })
	if !quiet.failed {
		t.Error("a step that ignores the guards went unnoticed")
	}
	s.Holds = func(wet, pumpEvent, statemachine.Guard) statemachine.Guard { return pump.Dry | pump.Primed }
	if missing := Machine(t, s).Missing(); !slices.Equal(missing, []string{"idle --fill--> filling, wet, not primed"}) {
		t.Errorf("missing %q", missing)
	}
}

// A table that begins in flight begins with an attempt.
func TestBareBeginsWithAnAttempt(t *testing.T) {
	spec := pump.Spec()
	spec.Start = []pump.State{pump.Filling}
	table := statemachine.Must(spec)
	s := Bare(table)
	if rec := s.Start(); rec.Epoch == 0 || rec.Deadline.IsZero() {
		t.Errorf("got %+v", rec)
	}
	Machine(t, s).Require(t)
}
