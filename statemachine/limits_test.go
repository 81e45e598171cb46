package statemachine_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
)

// largest is a ring of as many states and events as a spec may have.
func largest() plain {
	s := plain{Name: "largest", Start: []string{"s0"}}
	states, events := many("s", statemachine.MaxStates), many("e", statemachine.MaxEvents)
	for i, name := range states {
		s.States = append(s.States, statemachine.State[string, string]{Name: name, Kind: statemachine.Stable})
		s.Rules = append(s.Rules,
			plainRule{On: events[i], From: []string{name}, To: states[(i+1)%len(states)]},
			plainRule{On: events[i], Refuse: statemachine.InvalidState, Why: "not from here"})
	}
	return s
}

// A table at its limits decides like any other.
func TestLargestTable(t *testing.T) {
	s := largest()
	table, err := statemachine.New(s)
	if err != nil {
		t.Fatal(err)
	}
	at := "s0"
	for i := range statemachine.MaxStates {
		want := s.Rules[2*i].To
		next, err := table.Next(at, s.Rules[2*i].On, 0)
		if err != nil || next != want {
			t.Fatalf("from %s: %s, %v; want %s", at, next, err, want)
		}
		if _, err := table.Next(next, s.Rules[2*i].On, 0); codeOf(err) != "INVALID_STATE" {
			t.Fatalf("%s twice: %v", s.Rules[2*i].On, err)
		}
		at = next
	}
	if at != "s0" {
		t.Errorf("the ring ends in %s", at)
	}
}

// As many guards as a cell may use are all tried.
func TestWidestCell(t *testing.T) {
	build := func(gap bool) error {
		s := plain{Name: "wide", Start: []string{"a"}, Guards: many("g", statemachine.MaxCellGuards)}
		s.States = []statemachine.State[string, string]{{Name: "a", Kind: statemachine.Stable}, {Name: "b", Kind: statemachine.Terminal}}
		s.Rules = []plainRule{{On: "go", From: []string{"b"}, Stay: true}}
		all := statemachine.Guard(1<<statemachine.MaxCellGuards - 1)
		for k := range statemachine.MaxCellGuards { // the first guard that does not hold decides
			below := statemachine.Guard(1<<k - 1)
			s.Rules = append(s.Rules, plainRule{On: "go", From: []string{"a"}, When: when{If: below, Not: 1 << k}, Stay: true})
		}
		last := plainRule{On: "go", From: []string{"a"}, When: when{If: all}, To: "b"}
		if !gap {
			s.Rules = append(s.Rules, last)
		}
		_, err := statemachine.New(s)
		return err
	}
	if err := build(false); err != nil {
		t.Error(err)
	}
	if err := build(true); err == nil {
		t.Error("one valuation of 4,096 is undecided and went unnoticed")
	}
}

func BenchmarkNew(b *testing.B) {
	s := largest()
	for b.Loop() {
		if _, err := statemachine.New(s); err != nil {
			b.Fatal(err)
		}
	}
}
