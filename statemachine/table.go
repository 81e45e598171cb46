package statemachine

import "time"

// Table is a compiled spec. It is immutable and safe for concurrent use. Do
// not copy a Table; share the pointer.
type Table[S, E ~string] struct {
	spec   Spec[S, E]
	states index
	events index
	names  []string     // events in table order
	width  int          // events a state
	cells  []cell[S, E] // by state, then by event
	info   []info[E]    // by state
	all    Fields       // every declared field
	report []bool       // by event
}

// cell holds the choices of one state and event. Most have one, which lies in
// the cell itself, so that deciding touches no other memory.
type cell[S, E ~string] struct {
	first   choice[S, E]
	more    []choice[S, E]
	stale   *Refused // set for reports
	expires bool     // the event is the state's expiry
}

// choice is one rule in one cell.
type choice[S, E ~string] struct {
	when     When
	to       S        // its own state where it stays or refuses
	refused  *Refused // made once, shared by all who are refused
	ends     E        // as Rule.Ends, with the default of reports filled in
	opens    time.Duration
	rule     int32 // position in Spec.Rules
	state    int32 // position of to in info
	forget   bool
	fallback bool // decided by the default of its event
}

// info is what Step needs to know of a state.
type info[E ~string] struct {
	deadline time.Duration
	expire   E
	early    *Refused // answers expire before its time
	drives   Actuators
	drops    Fields // all fields but those that it holds
	inFlight bool
	timed    bool // stable, and may hold an attempt
	absent   bool
}

// Must is New for package variables: it panics where New fails.
func Must[S, E ~string](s Spec[S, E]) *Table[S, E] {
	t, err := New(s)
	if err != nil {
		panic(err)
	}
	return t
}

// Next decides one step of a bare state: the state after it, or from and a
// *Refused. A state or event that the table does not know is refused, never
// changed (EDGE-18). It does not allocate unless a name is unknown.
func (t *Table[S, E]) Next(from S, on E, holds Guard) (S, error) {
	i, j := t.states.of(string(from)), t.events.of(string(on))
	if i|j < 0 {
		return from, t.unknown(from, on)
	}
	c := &t.cells[i*t.width+j]
	ch := &c.first
	if !ch.when.Holds(holds) {
		if ch = c.pick(holds); ch == nil {
			return from, t.badGuards(from, on)
		}
	}
	if ch.refused != nil {
		return from, ch.refused
	}
	return ch.to, nil
}

// pick finds the choice that holds, or nil when the caller's guards break a
// OneOf group; New has proved every other valuation.
//
//go:noinline
func (c *cell[S, E]) pick(g Guard) *choice[S, E] {
	for i := range c.more {
		if c.more[i].when.Holds(g) {
			return &c.more[i]
		}
	}
	return nil
}

// unknown refuses a name that the table does not know. It is kept out of the
// callers, which stay small.
//
//go:noinline
func (t *Table[S, E]) unknown(from S, on E) error {
	r := &Refused{Machine: t.spec.Name, From: string(from), On: string(on), code: InvalidState,
		Why: "this version does not know the state, and leaves it alone", Req: "EDGE-18"}
	if t.states.of(string(from)) >= 0 {
		r.code, r.Why, r.Req = InvalidInput, "there is no such event", ""
		r.Legal = t.Legal(from)
	}
	return r
}

// badGuards refuses guards that break a OneOf group.
//
//go:noinline
func (t *Table[S, E]) badGuards(from S, on E) error {
	return &Refused{Machine: t.spec.Name, From: string(from), On: string(on), code: InvalidInput,
		Why: "the guards contradict each other: exactly one of a group must hold"}
}

// Name is the machine's name.
func (t *Table[S, E]) Name() string { return t.spec.Name }

// Knows reports whether s is a state of this table.
func (t *Table[S, E]) Knows(s S) bool { return t.states.of(string(s)) >= 0 }

// Drives are the actuators that may be driven in s: none where s is unknown.
func (t *Table[S, E]) Drives(s S) Actuators {
	if i := t.states.of(string(s)); i >= 0 {
		return t.info[i].drives
	}
	return 0
}

// Drops are the fields that a record in s must not have. A record's owner
// clears them after each Step; of an unknown state nothing is dropped.
func (t *Table[S, E]) Drops(s S) Fields {
	if i := t.states.of(string(s)); i >= 0 {
		return t.info[i].drops
	}
	return 0
}
