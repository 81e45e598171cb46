package statemachinetest

import (
	"reflect"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
)

// Subject is a Step under test, and the record R that it steps.
type Subject[R any, S, E ~string] struct {
	Table *statemachine.Table[S, E]
	Start func() R // a fresh record in a start state
	At    func(R) statemachine.At[S, E]

	// Step decides one event. The guards are what Machine wants to hold: Step
	// either takes them, or brings its inputs to it (see Holds).
	Step func(rec R, ev statemachine.Event[E], holds statemachine.Guard, now time.Time) (R, error)

	// Holds, if set, tells which guards hold when rec and the wanted ones
	// decide it together. Without it the wanted ones hold.
	Holds func(rec R, ev statemachine.Event[E], wanted statemachine.Guard) statemachine.Guard
	// Fields, if set, tells which of the table's fields rec has.
	Fields func(rec R) statemachine.Fields
	// Fill, if set, sets every field that rec's state may hold. Machine does
	// so before each step, so that there is something to clear.
	Fill func(rec R) R
	// In, if set, makes a record in a state, known or not.
	In func(S) R
	// Picky says that Step may refuse what the table accepts.
	Picky bool
	// Equal compares records; reflect.DeepEqual if it is not set.
	Equal func(a, b R) bool
}

// Bare is the subject of a table that has no record of its own.
func Bare[S, E ~string](table *statemachine.Table[S, E]) Subject[statemachine.At[S, E], S, E] {
	type at = statemachine.At[S, E]
	return Subject[at, S, E]{
		Table: table, Step: table.Step,
		At: func(rec at) at { return rec },
		In: func(s S) at { return at{State: s} },
		Start: func() at {
			rec := at{State: table.Spec().Start[0]}
			if table.Open(rec) { // in flight from the start
				rec.Epoch, rec.Deadline = 1, epochZero.Add(time.Hour)
			}
			return rec
		},
	}
}

// epochZero is when every drive begins. It is no zero time, which would mean that
// there is no deadline.
var epochZero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// equal compares whole records.
func (s *Subject[R, S, E]) equal(a, b R) bool {
	if s.Equal != nil {
		return s.Equal(a, b)
	}
	return reflect.DeepEqual(a, b)
}

// take makes one step, twice, and tells what came of it. Both calls get the same
// record; what the first one changed through a pointer shows in the second.
func (s *Subject[R, S, E]) take(rec R, ev statemachine.Event[E], holds statemachine.Guard, now time.Time) Taken[R, S, E] {
	if s.Fill != nil && s.Table.Knows(s.At(rec).State) {
		rec = s.Fill(rec)
	}
	if s.Holds != nil {
		holds = s.Holds(rec, ev, holds)
	}
	k := Taken[R, S, E]{Subject: s, Before: rec, Was: s.At(rec), Event: ev, Holds: holds, Now: now}
	k.After, k.Err = s.Step(rec, ev, holds, now)
	k.Again, k.ErrAgain = s.Step(rec, ev, holds, now)
	k.Is = s.At(k.After)
	k.Cell, k.Known = s.Table.Cell(k.Was.State, ev.On, holds)
	return k
}
