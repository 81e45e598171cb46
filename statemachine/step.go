package statemachine

import (
	"fmt"
	"time"
)

// At is where a machine stands: its state and its attempt. A record embeds it.
// The zero Deadline means no attempt in a stable state, and overdue in an
// in-flight one (MACH-4).
type At[S, E ~string] struct {
	State    S
	Epoch    uint64    // the newest attempt; zero before the first
	Deadline time.Time // of the open attempt
	Ended    E         // the report that decided Epoch, empty while it is open
	// Before is the newest attempt before Epoch that a report decided. The
	// answer to that report may have been lost, and the report comes again when
	// the next attempt is open already. One is kept, so that a record does not
	// grow: an attempt outlasts the retries of the report before it.
	Before Decided[E]
}

// Decided is an attempt with the report that decided it; zero for none.
type Decided[E ~string] struct {
	Epoch uint64
	By    E
}

// decided reports whether report on of this epoch has been decided already.
// Epoch zero never is: it names no attempt, and would match a fresh record.
func (at *At[S, E]) decided(on E, epoch uint64) bool {
	return epoch != 0 && (epoch == at.Epoch && at.Ended == on || epoch == at.Before.Epoch && at.Before.By == on)
}

// Event is what happens. Only reports name an Epoch.
type Event[E ~string] struct {
	On    E
	Epoch uint64 // the attempt that a report speaks of; zero names none
	// Next is the epoch for the attempt that this event may open. It must be
	// above every epoch before it (EDGE-7); the caller counts it up when the
	// step took it.
	Next   uint64
	Within time.Duration // deadline of that attempt; zero takes the table's
}

// Step decides one event of a machine with its attempt, and returns where it
// stands then; on error that is at, unchanged.
//
// The order of checks: unknown names, a repeat, the table's refusal, a stale
// report, an early expiry, the new attempt.
//
// A report of another epoch, or of none, is refused with CONFLICT; the same
// report of an epoch that it decided, the newest or the one before, succeeds
// without effect, whatever event decided it (MACH-4, EDGE-7; see Repeats). An
// expiry before its deadline is refused; a report after the deadline is
// accepted as long as nothing has expired the attempt (EDGE-6). Entering an
// in-flight state takes ev.Next and sets the deadline.
func (t *Table[S, E]) Step(at At[S, E], ev Event[E], holds Guard, now time.Time) (At[S, E], error) {
	i, j := t.states.of(string(at.State)), t.events.of(string(ev.On))
	if i|j < 0 {
		return at, t.unknown(at.State, ev.On)
	}
	c := &t.cells[i*t.width+j]
	if c.stale != nil && at.decided(ev.On, ev.Epoch) {
		return at, nil // a repeat
	}
	ch := &c.first
	if !ch.when.Holds(holds) {
		if ch = c.pick(holds); ch == nil {
			return at, t.badGuards(at.State, ev.On)
		}
	}
	if ch.refused != nil {
		return at, ch.refused
	}
	from := &t.info[i]
	open := from.open(at.Deadline)
	if c.stale != nil && (ev.Epoch != at.Epoch || ev.Epoch == 0 || !open) {
		return at, c.stale
	}
	if c.expires && (!open || now.Before(at.Deadline)) {
		return at, from.early
	}
	return t.enter(at, ch, ev, open, now)
}

// Repeats reports whether ev is a report that has decided its attempt already,
// so that Step succeeds and at stays as it is. A record with fields of its own
// asks before it steps, and then writes nothing: what the repeat brings may
// differ from what was decided, and speaks of an attempt that is over.
func (t *Table[S, E]) Repeats(at At[S, E], ev Event[E]) bool {
	return t.Knows(at.State) && t.Reports(ev.On) && at.decided(ev.On, ev.Epoch)
}

// enter applies an accepted choice; open says whether at has an open attempt.
// The old attempt ends before the new one opens, so that Before has its end; a
// Forget comes between the two, and wins.
func (t *Table[S, E]) enter(at At[S, E], ch *choice[S, E], ev Event[E], open bool, now time.Time) (At[S, E], error) {
	next, to := at, &t.info[ch.state]
	moved := ch.to != at.State
	next.State = ch.to
	if open && ch.ends != "" {
		next.Ended, next.Deadline = ch.ends, time.Time{}
	}
	within := ch.opens
	if moved {
		next.Deadline = time.Time{}
		within = max(within, to.deadline)
	}
	if ch.forget || to.absent {
		next.Ended, next.Deadline, next.Before = "", time.Time{}, Decided[E]{}
	}
	if to.absent {
		next.Epoch = 0
	}
	if within == 0 {
		return next, nil
	}
	if ev.Next <= at.Epoch || ev.Within < 0 || ev.Within > MaxDeadline {
		return at, t.badAttempt(at, ev)
	}
	if ev.Within > 0 {
		within = ev.Within
	}
	if next.Ended != "" {
		next.Before = Decided[E]{at.Epoch, next.Ended}
	}
	next.Epoch, next.Ended, next.Deadline = ev.Next, "", now.Add(within)
	return next, nil
}

// open reports whether an attempt with this deadline is open. In flight one
// always is, deadline or not: a record that lost its deadline must still expire
// (MACH-4).
func (s *info[E]) open(deadline time.Time) bool {
	return s.inFlight || s.timed && !deadline.IsZero()
}

// badAttempt refuses an event that opens an attempt with a used epoch or an
// impossible deadline.
//
//go:noinline
func (t *Table[S, E]) badAttempt(at At[S, E], ev Event[E]) error {
	return &Refused{Machine: t.spec.Name, From: string(at.State), On: string(ev.On), code: InvalidInput,
		Why: fmt.Sprintf("an attempt needs an epoch above %d and a deadline of at most %s; this brings %d and %s",
			at.Epoch, MaxDeadline, ev.Next, ev.Within), Req: "EDGE-7"}
}

// Open reports whether an attempt is open at at.
func (t *Table[S, E]) Open(at At[S, E]) bool {
	i := t.states.of(string(at.State))
	return i >= 0 && t.info[i].open(at.Deadline)
}

// Due returns when the open attempt expires and the event to raise then. An
// in-flight state without a deadline is due at the zero time: at once. There
// is none where no attempt is open.
func (t *Table[S, E]) Due(at At[S, E]) (time.Time, E, bool) {
	i := t.states.of(string(at.State))
	if i < 0 || !t.info[i].open(at.Deadline) {
		return time.Time{}, "", false
	}
	return at.Deadline, t.info[i].expire, true
}
