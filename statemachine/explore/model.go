package explore

import (
	"errors"
	"fmt"
	"iter"
)

// Model is a machine and what is promised of it. S is its whole state and an
// immutable value: Step returns a new S and leaves the old one, with all it
// refers to, as it was.
type Model[S, I any, K comparable] struct {
	// Name names the model in errors. Required.
	Name string
	// Start holds the states the walk begins in, at least one.
	Start []S
	// Inputs yields what may come in at a state, in a fixed order: verbs,
	// reports, acts of the environment, faults. An input that Step refuses
	// costs a step and shows that it is refused. Required.
	Inputs func(s S) iter.Seq[I]
	// Step answers one input. An error is a refusal: nothing has changed, and
	// the S beside it is ignored. Required.
	Step func(s S, in I) (S, error)
	// Key projects a state to what decides its future: epochs as current or
	// stale, times as none, due or later. States with equal keys count as one,
	// the first reached standing for all. [KeyInvariant] tests the choice.
	// Required.
	Key func(s S) K

	// Invariants are asked in order; the first broken one ends the run.
	Invariants []Invariant[S, I]

	// Stable says whether the machine may stay in s for good. Nil leaves
	// liveness unchecked.
	Stable func(s S) bool
	// Class says who causes an input. Nil counts every input as System.
	Class func(in I) Class

	// Event names an input for Result.Events. Nil counts none.
	Event func(in I) string
	// Row names what decided an input, such as a row of a table, for
	// Result.Rows; err is the refusal or nil, and to is from when refused. ""
	// counts nothing. It is called for every input tried, so a name should be
	// a constant rather than put together.
	Row func(from S, in I, to S, err error) string

	// Held is what one S keeps alive beyond its own size, in bytes: its
	// slices, maps and strings. MaxBytes counts it.
	Held int
}

// Invariant is one promise, asked through the hooks it sets, at least one. A
// hook returns an error that says what is broken.
type Invariant[S, I any] struct {
	Name string // unique in its model
	Req  string // the requirement it stands for, such as "REG-5"; may be empty

	// State holds in each state. It is asked once for each key.
	State func(s S) error
	// Check holds over each accepted step.
	Check func(from S, in I, to S) error
	// Refusal holds over each refused input: some must be refused with a
	// reason, and some must never be.
	Refusal func(s S, in I, refused error) error
}

// Class says who causes an input; see [Settles].
type Class uint8

const (
	// System inputs happen by themselves while nothing is broken: reports,
	// deadlines, sweeps, acts of a healthy environment.
	System Class = iota
	// Operator inputs come only if somebody wants them.
	Operator
	// Fault inputs are what must not be counted on, and what in the end stops:
	// losses, duplicates, crashes.
	Fault
)

// Two names that a broken promise can bear beside those of a model's own
// invariants.
const (
	// Settles is the liveness promise: from every reachable state, System
	// inputs alone lead to stable states and then never leave them for good.
	// Put in terms of the graph of accepted System steps: each bottom
	// component (strongly connected, and left by no step) holds stable states
	// only. It assumes strong fairness: a System input accepted again and
	// again is not put off for ever.
	Settles = "settles"
	// NoPanic is broken when one of the model's functions panics.
	NoPanic = "does not panic"
)

// validate reports everything that keeps m from being run, as one Invalid.
func (m *Model[S, I, K]) validate() error {
	var errs []error
	want := func(ok bool, what string) {
		if !ok {
			errs = append(errs, errors.New(what))
		}
	}
	want(m.Name != "", "Name is empty")
	want(len(m.Start) > 0, "Start is empty")
	want(m.Inputs != nil, "Inputs is nil")
	want(m.Step != nil, "Step is nil")
	want(m.Key != nil, "Key is nil")
	want(m.Held >= 0, "Held is negative")
	seen := map[string]bool{"": true, Settles: true, NoPanic: true}
	for i, v := range m.Invariants {
		want(!seen[v.Name], fmt.Sprintf("invariant %d: the name %q is empty, reserved or used before", i, v.Name))
		want(v.State != nil || v.Check != nil || v.Refusal != nil, fmt.Sprintf("invariant %d, %q, asks nothing", i, v.Name))
		seen[v.Name] = true
	}
	if len(errs) == 0 {
		return nil
	}
	return &Invalid{Model: m.Name, Why: errors.Join(errs...)}
}

// class is m.Class with its default.
func (m *Model[S, I, K]) class(in I) Class {
	if m.Class == nil {
		return System
	}
	return m.Class(in)
}

// checkState returns the first invariant that s breaks, and why.
func (m *Model[S, I, K]) checkState(s S) (*Invariant[S, I], error) {
	for i := range m.Invariants {
		if v := &m.Invariants[i]; v.State != nil {
			if why := v.State(s); why != nil {
				return v, why
			}
		}
	}
	return nil, nil
}

// checkStep returns the first invariant that an accepted step breaks, and why.
func (m *Model[S, I, K]) checkStep(from S, in I, to S) (*Invariant[S, I], error) {
	for i := range m.Invariants {
		if v := &m.Invariants[i]; v.Check != nil {
			if why := v.Check(from, in, to); why != nil {
				return v, why
			}
		}
	}
	return nil, nil
}

// checkRefusal returns the first invariant that a refusal breaks, and why.
func (m *Model[S, I, K]) checkRefusal(s S, in I, refused error) (*Invariant[S, I], error) {
	for i := range m.Invariants {
		if v := &m.Invariants[i]; v.Refusal != nil {
			if why := v.Refusal(s, in, refused); why != nil {
				return v, why
			}
		}
	}
	return nil, nil
}

// only narrows m to the invariant of that name; the names this package gives,
// and "", leave all of them.
func (m *Model[S, I, K]) only(name string) error {
	if name == "" || name == Settles || name == NoPanic {
		return nil
	}
	for _, v := range m.Invariants {
		if v.Name == name {
			m.Invariants = []Invariant[S, I]{v}
			return nil
		}
	}
	return &Invalid{Model: m.Name, Why: fmt.Errorf("no invariant is named %q", name)}
}
