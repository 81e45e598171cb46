package statemachinetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
)

// Taken is one step that was taken, for a law to judge.
type Taken[R any, S, E ~string] struct {
	Subject       *Subject[R, S, E]
	Before, After R
	Was, Is       statemachine.At[S, E] // of Before and After
	Event         statemachine.Event[E]
	Holds         statemachine.Guard
	Now           time.Time
	Err           error
	Again         R // of the same call, made once more
	ErrAgain      error
	Cell          statemachine.Cell[S, E]
	Known         bool // Cell exists: state and event are known
}

// Law is one promise that every Step of a table keeps. Check returns nil for a
// step that the law does not speak of.
type Law[R any, S, E ~string] struct {
	Name  string
	Check func(Taken[R, S, E]) error
}

// Laws are the promises of MACH-4, EDGE-6, EDGE-7 and EDGE-18, and of a table
// as the only authority. Their order is that of a report: the first that is
// broken is told, and the plainest comes first.
func Laws[R any, S, E ~string]() []Law[R, S, E] {
	type k = Taken[R, S, E]
	return []Law[R, S, E]{
		// How a Step answers, whatever its table.
		{"a refusal changes nothing", k.refusal},
		{"a refusal has a code", k.coded},
		{"the same call decides the same", k.pure},
		{"an unknown state or event is refused", k.unknown},

		// The table is the only authority on states.
		{"what the table refuses is refused", k.refuses},
		{"what the table accepts is accepted", k.accepts},
		{"a step lands where the table says", k.lands},

		// Attempts begin and end with states.
		{"epochs only grow, to the one that came", k.epoch},
		{"entering in flight opens an attempt", k.opens},
		{"an attempt in flight has a deadline", k.deadline},
		{"an attempt ends with its state", k.ends},

		// Reports are late, doubled and lost.
		{"a stale report has no effect", k.stale},
		{"a repeated report succeeds without effect", k.repeats},
		{"a decided attempt knows its report", k.remembers},
		{"the decided attempt before is remembered", k.before},
		{"expiry waits for the deadline", k.early},

		// The rest of the record follows the state.
		{"a state has only the fields that it may hold", k.clears},
	}
}

// repeat reports whether the event is the report that decided its epoch, the
// newest or the one before. It does not ask the table's Repeats: a law that
// asked the engine would share its mistakes.
func (k Taken[R, S, E]) repeat() bool {
	newest := k.Event.Epoch == k.Was.Epoch && k.Event.On == k.Was.Ended
	before := k.Event.Epoch == k.Was.Before.Epoch && k.Event.On == k.Was.Before.By
	return k.report() && k.Event.Epoch != 0 && (newest || before)
}

// report reports whether the event names an epoch.
func (k Taken[R, S, E]) report() bool { return k.Subject.Table.Reports(k.Event.On) }

// open reports whether an attempt was open before the step.
func (k Taken[R, S, E]) open() bool { return k.Subject.Table.Open(k.Was) }

// same reports whether the whole record is as it was, fields and attempt alike.
func (k Taken[R, S, E]) same() bool { return k.Subject.equal(k.Before, k.After) }

// isStale reports whether the event is a report of no open attempt.
func (k Taken[R, S, E]) isStale() bool {
	return k.report() && !k.repeat() && (k.Event.Epoch == 0 || k.Event.Epoch != k.Was.Epoch || !k.open())
}

// isEarly reports whether the event is an expiry before its time, or of nothing.
func (k Taken[R, S, E]) isEarly() bool {
	return k.Known && !k.repeat() && k.state(k.Was.State).Expire == k.Event.On && (!k.open() || k.Now.Before(k.Was.Deadline))
}

// state describes a state; the zero State where it is unknown.
func (k Taken[R, S, E]) state(name S) statemachine.State[S, E] {
	for st := range k.Subject.Table.States() {
		if st.Name == name {
			return st
		}
	}
	return statemachine.State[S, E]{}
}

// moved reports whether the step succeeded and changed the state.
func (k Taken[R, S, E]) moved() bool { return k.Err == nil && k.Is.State != k.Was.State }

// began reports whether the table opens an attempt with this step. It asks the
// cell, not the result: a Step that opens none must not excuse itself.
func (k Taken[R, S, E]) began() bool {
	into := k.Cell.To != k.Was.State && k.state(k.Cell.To).Kind == statemachine.InFlight
	return k.Known && (into || k.Cell.Opens > 0) && k.Cell.Refused == nil && !k.repeat()
}

// forgets reports whether the table drops the memory of attempts here: by a rule,
// or because no record is left to remember.
func (k Taken[R, S, E]) forgets() bool {
	return k.Cell.Forgets || k.state(k.Cell.To).Kind == statemachine.Absent
}

// refusal compares the whole record, not only where it stands.
func (k Taken[R, S, E]) refusal() error {
	if k.Err != nil && !k.same() {
		return fmt.Errorf("refused with %w, and now %+v", k.Err, k.After)
	}
	return nil
}

// coded holds API-3: whoever calls needs a code, not a sentence.
func (k Taken[R, S, E]) coded() error {
	_, ok := errors.AsType[interface {
		error
		Code() string
	}](k.Err)
	if k.Err != nil && !ok {
		return fmt.Errorf("%w has no Code", k.Err)
	}
	return nil
}

// pure compares two calls with the same arguments: a Step that reads a clock,
// counts, or changes its argument through a pointer decides them apart.
func (k Taken[R, S, E]) pure() error {
	if !k.Subject.equal(k.After, k.Again) || (k.Err == nil) != (k.ErrAgain == nil) {
		return fmt.Errorf("first %+v, %v; then %+v, %v", k.After, k.Err, k.Again, k.ErrAgain)
	}
	return nil
}

// unknown holds EDGE-18: what this version does not know it leaves alone.
func (k Taken[R, S, E]) unknown() error {
	if !k.Known && k.Err == nil {
		return errors.New("it succeeded")
	}
	return nil
}

// refuses does not compare codes: a Step may refuse earlier, for a reason that
// comes before the state in the order of checks (EDGE-15).
func (k Taken[R, S, E]) refuses() error {
	if k.Known && k.Cell.Refused != nil && !k.repeat() && k.Err == nil {
		return fmt.Errorf("the table says %w", k.Cell.Refused)
	}
	return nil
}

// accepts also proves EDGE-6: an overdue report is accepted until the attempt
// is expired, and an expiry at the deadline is.
func (k Taken[R, S, E]) accepts() error {
	spoilt := k.began() && k.Event.Next <= k.Was.Epoch
	if !k.Known || k.Cell.Refused != nil || k.isStale() || k.isEarly() || spoilt || k.Subject.Picky {
		return nil
	}
	return k.Err
}

// lands finds moves that the table does not have.
func (k Taken[R, S, E]) lands() error {
	if k.Known && k.Err == nil && !k.repeat() && k.Is.State != k.Cell.To {
		return fmt.Errorf("it is in %s; the table says %s", k.Is.State, k.Cell.To)
	}
	return nil
}

// epoch holds EDGE-7. An absent record has no epoch, so it may begin again.
func (k Taken[R, S, E]) epoch() error {
	switch {
	case k.Err != nil || k.Is.Epoch == k.Was.Epoch || k.state(k.Is.State).Kind == statemachine.Absent:
		return nil
	case k.Is.Epoch < k.Was.Epoch || k.Is.Epoch != k.Event.Next:
		return fmt.Errorf("from %d to %d with %d", k.Was.Epoch, k.Is.Epoch, k.Event.Next)
	}
	return nil
}

// opens holds MACH-4: state, epoch and deadline change in one step.
func (k Taken[R, S, E]) opens() error {
	if k.Err != nil || !k.began() {
		return nil
	}
	within := max(k.Cell.Opens, k.state(k.Cell.To).Deadline)
	if k.Event.Within > 0 {
		within = k.Event.Within
	}
	due := k.Now.Add(within)
	if k.Is.Epoch <= k.Was.Epoch || !k.Is.Deadline.Equal(due) || k.Is.Ended != "" {
		return fmt.Errorf("attempt %+v after %+v; want a new epoch, due %s", k.Is, k.Was, due)
	}
	return nil
}

// deadline holds MACH-4: without one, a machine in flight would be overdue.
func (k Taken[R, S, E]) deadline() error {
	if k.Err == nil && k.state(k.Is.State).Kind == statemachine.InFlight && (k.Is.Deadline.IsZero() || k.Is.Ended != "") {
		return fmt.Errorf("in flight with %+v", k.Is)
	}
	return nil
}

// ends finds a deadline that outlived its attempt and would expire the next.
func (k Taken[R, S, E]) ends() error {
	if k.moved() && !k.began() && !k.Is.Deadline.IsZero() {
		return fmt.Errorf("%s left the deadline %s behind", k.Was.State, k.Is.Deadline)
	}
	return nil
}

// stale holds MACH-4. The error's code is Step's own: a table may refuse the
// report before its epoch counts.
func (k Taken[R, S, E]) stale() error {
	if k.isStale() && (k.Err == nil || !k.same()) {
		return fmt.Errorf("report of epoch %d at %+v: %v, now %+v", k.Event.Epoch, k.Was, k.Err, k.Is)
	}
	return nil
}

// repeats holds MACH-4 and EDGE-7 in whatever state the machine is by now.
func (k Taken[R, S, E]) repeats() error {
	if k.Known && k.repeat() && (k.Err != nil || !k.same()) {
		return fmt.Errorf("%v, now %+v", k.Err, k.Is)
	}
	return nil
}

// remembers holds EDGE-7: by whatever path an attempt was decided, the report
// it was decided as is kept, and nothing else changes what is kept.
func (k Taken[R, S, E]) remembers() error {
	if !k.Known || k.Err != nil || k.repeat() || k.began() {
		return nil
	}
	if want := k.ended(); k.Is.Ended != want {
		return fmt.Errorf("it says %q; want %q", k.Is.Ended, want)
	}
	return nil
}

// ended is the report as which the epoch before the step stands decided after
// it; empty where that is unknown, or must be.
func (k Taken[R, S, E]) ended() E {
	switch {
	case k.forgets():
		return ""
	case k.Cell.Ends != "" && k.open():
		return k.Cell.Ends
	}
	return k.Was.Ended
}

// before holds EDGE-7 over the next attempt: what decided the last one moves
// over when another begins, and is dropped where all is forgotten. An attempt
// that another replaces undecided leaves no trace.
func (k Taken[R, S, E]) before() error {
	if !k.Known || k.Err != nil {
		return nil
	}
	want := k.Was.Before
	switch {
	case k.repeat(): // whatever the table would say of it
	case k.forgets():
		want = statemachine.Decided[E]{}
	case k.began() && k.ended() != "":
		want = statemachine.Decided[E]{Epoch: k.Was.Epoch, By: k.ended()}
	}
	if k.Is.Before != want {
		return fmt.Errorf("it says %+v; want %+v", k.Is.Before, want)
	}
	return nil
}

// early finds a Step that trusts whoever says that time is up.
func (k Taken[R, S, E]) early() error {
	if k.isEarly() && k.Err == nil {
		return fmt.Errorf("expired at %s; due %s", k.Now, k.Was.Deadline)
	}
	return nil
}

// clears finds what a state must not have, such as a secret of an attempt that
// has ended. Subject.Fill makes sure that there was something to clear.
func (k Taken[R, S, E]) clears() error {
	if k.Err != nil || k.Subject.Fields == nil {
		return nil
	}
	table := k.Subject.Table
	if left := k.Subject.Fields(k.After) & table.Drops(k.Is.State); left != 0 {
		return fmt.Errorf("%s has %s", k.Is.State, table.FieldNames(left))
	}
	return nil
}
