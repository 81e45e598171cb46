package lifecycle

import (
	"slices"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// Due is when n must be looked at, and the input that does it: the earliest
// end of an attempt, of a poll token that guards an untaken key, or of a
// queued command. The zero time is at once: an attempt that lost its deadline
// counts as overdue (MACH-4). False means that time alone changes nothing.
//
// One sweeper serves all: it keeps nodes by this time, and gives each the
// input when the time has come. A sweep that comes late, or twice, does no
// harm.
//
// Rows has the time as a key of each node. Who steps the input decides what time it
// is: a clock that runs ahead ends attempts that still had time.
func Due(n *Node) (time.Time, Input, bool) {
	var first time.Time
	found := false
	for t := range dues(n) {
		if !found || t.Before(first) {
			first, found = t, true
		}
	}
	return first, Expire{}, found
}

// dues yields every deadline of n. It has no boot records: enrolling has no
// deadline, and entries go with the attempt that set them (MACH-5, BOOT-14).
func dues(n *Node) func(func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		if t, _, ok := registration.Table.Due(n.Reg.At); ok && !yield(t) {
			return
		}
		if t, _, ok := provision.Table.Due(n.Prov.At); ok && !yield(t) {
			return
		}
		if t, _, ok := run.Table.Due(n.Run.At); ok && !yield(t) {
			return
		}
		if t, _, ok := run.Retirement.Due(n.Run.Retire); ok && !yield(t) {
			return
		}
		// A sealed key that nobody fetched ends with the token that guards it (REG-6).
		if n.Reg.Waiting != "" && !yield(n.Reg.Poll.Until) {
			return
		}
		// One that is done is kept for its request ID alone, and needs no sweep to go
		// (PROV-7).
		for _, c := range n.Commands {
			if !c.Done && !yield(c.ends()) {
				return
			}
		}
	}
}

// Expire ends everything of a node that is due (SET-12, MACH-5), in one commit:
// a setup goes back to awaiting_setup, a workflow to failed, a run to failed, a
// retirement's step on or back, an untaken key is revoked (REG-6), an old
// command dropped (PROV-7). Where nothing is due, it is a CONFLICT.
type Expire struct{}

// Name is expire.
func (Expire) Name() string { return "expire" }

func (Expire) apply(w *work) error {
	at, _, ok := Due(&w.Node)
	// The usual answer to the slower of two sweepers, and no reason to alarm: the next
	// look at the rows shows the new time.
	if !ok || w.now.Before(at) {
		return refuse(w.name, "MACH-4", sm.Conflict, "nothing of the node is due", "")
	}
	if err := w.expireAttempts(); err != nil {
		return err
	}
	if w.Node.Reg.Waiting != "" && !w.now.Before(w.Node.Reg.Poll.Until) {
		if err := w.reg(registration.Event{Event: on(registration.Lapse)}); err != nil {
			return err
		}
	}
	w.expireCommands()
	// A workflow that ran out of time fails its node as one that reported failure
	// (JOINT-7).
	return w.failed()
}

// expireAttempts raises the expiry of each axis that is due.
func (w *work) expireAttempts() error {
	n := &w.Node
	// Each axis names the event by which its state expires. At most one attempt is open
	// (MACH-3), and to ask every axis is simpler than to know which.
	overdue := func(t time.Time, ok bool) bool { return ok && !w.now.Before(t) }
	if t, on, ok := registration.Table.Due(n.Reg.At); overdue(t, ok) {
		if err := w.reg(registration.Event{Event: sm.Event[registration.Kind]{On: on}}); err != nil {
			return err
		}
	}
	if t, on, ok := provision.Table.Due(n.Prov.At); overdue(t, ok) {
		if err := w.prov(provision.Event{Event: sm.Event[provision.Kind]{On: on}}); err != nil {
			return err
		}
	}
	if t, on, ok := run.Table.Due(n.Run.At); overdue(t, ok) {
		if err := w.run(run.Event{Event: sm.Event[run.Kind]{On: on}}); err != nil {
			return err
		}
		// What waited for the run waits no longer; time is an end like any other (RUN-1).
		if err := w.pending(); err != nil {
			return err
		}
	}
	if t, on, ok := run.Retirement.Due(n.Run.Retire); overdue(t, ok) {
		return w.retire(run.RetireEvent{Event: sm.Event[run.RetireKind]{On: on}})
	}
	return nil
}

// expireCommands drops the queued commands that waited too long (PROV-7).
func (w *work) expireCommands() {
	old := func(c Command) bool { return !w.now.Before(c.ends()) }
	w.endCommands("its end is not known", func(c Command) bool { return c.Begun && old(c) })
	w.endCommands("expired", old)
	// Now those that were done go too, silently: their end was told when it came.
	if slices.ContainsFunc(w.Node.Commands, old) {
		w.Node.Commands = slices.DeleteFunc(slices.Clone(w.Node.Commands), old)
	}
}
