package lifecycle

import (
	"fmt"
	"slices"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// Outcome is what a step made of a state: the whole next value, and the facts
// to publish. Without facts nothing changed, and nothing is to be written.
//
// An outcome is written whole or not at all, rows and facts in one commit
// (EVENT-1), and only if the rows that Next was made from are still the ones in the
// store. A clash is no error: read again, step again.
type Outcome struct {
	Next  State
	Facts []Fact
}

// Input is something that happens to a node or a site. The inputs of this
// package are all there are.
//
// Inputs are values. One may be stepped many times, by retries and by explorers,
// and decides anew each time; nothing in it remembers.
type Input interface {
	// Name is the input's name in refusals and logs.
	Name() string
	apply(*work) error
}

// Step decides in. On error, which always has a Code (API-3), Next is s.
//
// Order of checks, as far as they are this package's: existence, state, slot,
// version, inputs, plan (EDGE-15); permission is the caller's, but for what
// only an operator session may ever do (SET-2).
//
// now is the clock of the process that commits. Deadlines compare to it alone, so
// processes on one store keep their clocks together.
func Step(s State, in Input, now time.Time) (Outcome, error) {
	if in == nil {
		return Outcome{Next: s}, invalid("step", "", "there is no input")
	}
	w := work{State: s, was: s, now: keep(now), slot: SlotOf(&s.Node), name: cutReason(in.Name())}
	if y := w.now.Year(); y < minYear || y > maxYear {
		return Outcome{Next: s}, invalid(w.name, "", "the time is not set, or out of range")
	}
	// Ahead of every input: a joint that must write one such record is refused whole.
	if err := w.writable(); err != nil {
		if _, relayed := in.(Announce); relayed {
			return Outcome{Next: s}, nil // EDGE-18: a booter is told nothing
		}
		return Outcome{Next: s}, err
	}
	if err := w.decide(in); err != nil {
		return Outcome{Next: s}, err
	}
	// After the decision, since what follows from a step depends on all of its moves.
	if err := w.settle(); err != nil {
		return Outcome{Next: s}, err
	}
	return Outcome{w.State, w.facts}, nil
}

// work is a step in progress: the state being made, beside the one before.
type work struct {
	State
	was    State
	now    time.Time
	slot   Slot // who held the machine before
	name   string
	facts  []Fact
	reason string // that the caller gave
	cloned bool   // Node.NICs is ours to change
}

// The years in which a step may be. Due keys order by nanoseconds since 1970,
// which end in 2262; every deadline of a step lies far closer than that.
const minYear, maxYear = 1970, 2200

// keep is t as rows keep it: without the process's own clock reading or zone, so
// that a value read back equals the one written.
func keep(t time.Time) time.Time { return t.UTC().Round(0) }

// writable refuses what this version must not write (MACH-8).
func (w *work) writable() error {
	if w.Node.Schema > Schema {
		return refuse(w.name, "MACH-8", sm.InvalidState, "the record was written by a newer version", "upgrade this one; until then it is shown, not written")
	}
	if raw, unknown := w.Node.unknown(); unknown {
		return refuse(w.name, "EDGE-18", sm.InvalidState, fmt.Sprintf("this version does not know the state %q that the node is in", raw), "upgrade this one; until then it is shown, not written")
	}
	return nil
}

func (w *work) fact(name string) { w.facts = append(w.facts, Fact{Name: name}) }

func (w *work) factWhy(name, why string) { w.facts = append(w.facts, Fact{Name: name, Why: why}) }

// nics is Node.NICs, safe to change. The first change of a step clones them all,
// since the state before must stay as it is; most steps change none.
func (w *work) nics() []netboot.Record {
	if !w.cloned {
		w.Node.NICs, w.cloned = slices.Clone(w.Node.NICs), true
	}
	return w.Node.NICs
}

// next is the epoch for an attempt that this step may open. One counter serves
// all axes (EDGE-7), so that an epoch names its attempt without saying of which.
func (w *work) next() uint64 { return w.Site.Epoch + 1 }

// took counts the epoch up if an axis used it.
func (w *work) took(epoch uint64) {
	if epoch == w.next() {
		w.Site.Epoch = epoch
	}
}

// reg moves the registration axis.
//
// Like prov, run and retire it takes the axis's answer whole or returns its refusal,
// with the holder added. The tables are the authority, and no input decides for
// them.
func (w *work) reg(e registration.Event) error {
	e.Next = w.next()
	r, err := registration.Step(w.Node.Reg, e, w.now)
	if err != nil {
		return w.detail(worded(err, rowVerbs()))
	}
	w.Node.Reg = r
	w.took(r.Epoch)
	return nil
}

// prov moves the provision axis.
func (w *work) prov(e provision.Event) error {
	e.Next = w.next()
	// An event without a deadline of its own takes the site's (MACH-5).
	if e.Within == 0 {
		e.Within = w.within(&e)
	}
	r, err := provision.Step(w.Node.Prov, e, w.now)
	if err != nil {
		return w.detail(worded(err, nodeVerbs()))
	}
	w.Node.Prov = r
	w.took(r.Epoch)
	return nil
}

// within is the deadline of the attempt that e may open: the site's, but a
// day for an enrolling that waits for confirm-mac (MACH-5).
func (w *work) within(e *provision.Event) time.Duration {
	n := &w.Node
	// The table is asked where e leads, since only entering enrolling waits so long.
	if len(n.Metal.MACs) == 0 && !n.Metal.ReportsMACs && len(n.MACs()) == 0 {
		if to, _ := provision.Table.Next(n.Prov.State, e.On, provision.Guards(&n.Prov, e)); to == provision.Enrolling {
			return provision.AwaitingMACDeadline
		}
	}
	return w.Site.Policy.Deadlines.Within(&n.Prov, e)
}

// run moves the run axis.
func (w *work) run(e run.Event) error {
	e.Next = w.next()
	if e.Within == 0 {
		e.Within = w.Site.Policy.Runs.Within(&w.Node.Run)
	}
	r, err := run.Step(w.Node.Run, e, w.now)
	if err != nil {
		return w.detail(err)
	}
	w.Node.Run = r
	w.took(r.Epoch)
	return nil
}

// retire moves the retirement run.
func (w *work) retire(e run.RetireEvent) error {
	e.Next = w.next()
	e.Within = w.Site.Policy.Runs.Wipe
	r, err := run.StepRetire(w.Node.Run, e, w.now)
	if err != nil {
		return w.detail(err)
	}
	w.Node.Run = r
	w.took(r.Retire.Epoch)
	return nil
}

// boot moves boot record i.
func (w *work) boot(i int, e netboot.Event) error {
	if m := w.Node.NICs[i].MAC; !m.Valid() {
		return invalid(w.name, "BOOT-12", "%s is no NIC's address", m)
	}
	r, err := netboot.Step(w.Node.NICs[i], e)
	if err != nil {
		return err
	}
	// Only a change clones: settle takes cloned to mean that some record moved.
	if r != w.Node.NICs[i] {
		w.nics()[i] = r
	}
	return nil
}

// detail adds to an axis's conflict who holds the machine: the holder before the
// step, which never was, and the one to wait for (MACH-3). An anonymous caller
// is not told (REG-4).
func (w *work) detail(err error) error {
	r, ok := err.(*sm.Refused)
	holder := heldBy(&w.was.Node)
	anonymous := w.name == string(registration.Register)
	if !ok || anonymous || holder.Holder == Free || r.Code() != string(sm.Conflict) {
		return err
	}
	return &Detailed{Refused: r, Holder: holder}
}
