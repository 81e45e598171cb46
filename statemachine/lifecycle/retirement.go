package lifecycle

import (
	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// RetireDevice is the owner that sets the status decommissioning (RUN-6,
// RUN-9). A setup or run that holds the machine is dead at once; a provision
// workflow is a conflict, and so is an open allocation (PROV-13). On a node
// that is retired already, nothing is left to do.
//
// It may be sent at every pass while the status stands. The serial is needed as for
// a run that writes: a retirement that could name no disk would end as if it had
// erased one (RUN-4).
type RetireDevice struct {
	Serial string
	World  World
}

// Name is retire-device.
func (RetireDevice) Name() string { return "retire-device" }

func (in RetireDevice) apply(w *work) error {
	if err := w.device(); err != nil {
		return err
	}
	if err := w.names(in.Serial); err != nil {
		return err
	}
	if w.Node.Run.Retiring() || w.Node.retired() {
		in.correct(w)
		return nil
	}
	if err := in.free(w); err != nil {
		return err
	}
	e := run.RetireEvent{Event: onRetire(run.Decommission), Serial: in.Serial}
	// Whatever ran may drive the machine on though its epoch is dead, so the first step
	// is off and not the wipe (RUN-6).
	if heldBy(&w.was.Node).Holder != Free {
		e.Facts = run.SlotHeld
	}
	if err := w.retire(e); err != nil {
		return err
	}
	if err := w.takeOver(); err != nil {
		return err
	}
	// A run that only waits held nothing, so takeOver did not end it.
	return w.run(run.Event{Event: onRun(run.Interrupt)})
}

// correct takes the serial that the owner has put right since, as long as
// nothing has been written: the wipe, and each that follows a failed one, goes by
// the newest (RUN-4).
func (in *RetireDevice) correct(w *work) {
	r := &w.Node.Run
	if r.Retire.State == run.Interrupting && in.Serial != "" && in.Serial != r.Serial {
		r.Serial = in.Serial
		w.factWhy(SerialCorrected, in.Serial)
	}
}

// free refuses what a retirement may not take over. A provision workflow is not
// taken over, as a setup or run is: it may be half way through an erase that
// somebody approved, and its own axis has abort and retire.
func (in *RetireDevice) free(w *work) error {
	if err := w.answers(&in.World); err != nil {
		return err
	}
	switch {
	case w.slot.Holder == Workflow:
		return &Refused{Input: w.name, Req: "MACH-3", code: sm.Conflict, Why: "a workflow holds the machine", Holder: w.slot, Next: "abort it, or let it end"}
	case in.World.Open > 0:
		return occupied(w.name, "PROV-13", in.World.Open)
	}
	return nil
}

func onRetire(k run.RetireKind) sm.Event[run.RetireKind] {
	return sm.Event[run.RetireKind]{On: k}
}

// RetireReport is a step of the retirement that ended: wiped, wipe-failed,
// evicted or cleaned. The last of them is JOINT-6: identity, boot records and
// registration row go in its commit.
//
// Why is told and decides nothing: an eviction that left workloads behind goes on
// all the same (RUN-5).
type RetireReport struct {
	On    run.RetireKind
	Epoch uint64 // of wiped, wipe-failed and evicted
	Why   string // what was left, or went wrong
}

// Name is retirement- and the kind.
func (in RetireReport) Name() string { return "retirement-" + string(in.On) }

func (in RetireReport) apply(w *work) error {
	if err := w.device(); err != nil {
		return err
	}
	// The retirement's other events have inputs that ask more: the owner, the sweeper,
	// and a machine that is off.
	switch in.On {
	case run.Wiped, run.WipeFailed, run.Evicted, run.Cleaned:
	default:
		return invalid(w.name, "RUN-9", "want wiped, wipe-failed, evicted or cleaned")
	}
	e := run.RetireEvent{Event: sm.Event[run.RetireKind]{On: in.On, Epoch: in.Epoch}}
	if err := w.retire(e); err != nil {
		return err
	}
	if w.Node.Run != w.was.Node.Run && in.Why != "" {
		w.factWhy(RetirementTold, cutReason(in.Why))
	}
	return w.retiredJoint()
}

// OffConfirmed says that the machine is off. Two reads by BMC-2, begun after
// the attempt took the machine, are proof; the agent's word counts only where
// there is no BMC, with the retirement's own epoch and one-time token (RUN-5).
// Of a machine that was taken from another holder it says nothing: that waits
// (RUN-6). For another attempt, or where nothing waits for off, it is a CONFLICT.
//
// The caller begins its two reads after it has seen the need, at least 3 s apart
// (BMC-2). A read from before the attempt proves nothing: Epoch is how it says for
// which attempt it looked.
type OffConfirmed struct {
	Epoch uint64 // of the attempt that asked; 0 where its step has none
	Word  bool   // the agent's word, token checked
}

// Name is off-confirmed.
func (OffConfirmed) Name() string { return "off-confirmed" }

func (in OffConfirmed) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	// A word is weaker than a read: where a BMC exists, it is asked. The token is the
	// caller's to check, since only the epoch stands in the record.
	if in.Word && (w.Node.Claims.BMC != "" || in.Epoch == 0 || !w.Node.Run.Retiring()) {
		return refuse(w.name, "RUN-5", sm.Conflict, "an agent's word proves off only where there is no BMC, to the retirement that it ran", "read the machine's power state")
	}
	asked, waits := w.Node.asksOff()
	switch {
	case !waits:
		return refuse(w.name, "RUN-5", sm.Conflict, "nothing waits for the machine to be off", "")
	case in.Epoch != asked:
		return &Refused{Input: w.name, Req: "MACH-4", code: sm.Conflict, Why: "another attempt asked for that", Holder: heldBy(&w.Node), Next: void}
	}
	if w.Node.Run.Retiring() {
		if err := w.retire(run.RetireEvent{Event: onRetire(run.OffConfirmed)}); err != nil {
			return err
		}
	}
	// Off is off for both: a retirement of the provision axis that failed while it
	// waited lets the machine go as well (EDGE-5).
	if !w.Node.Prov.AwaitOff {
		return nil
	}
	w.fact(NodeOffConfirmed)
	return w.prov(provision.Event{Event: onProv(provision.SeenOff)})
}

// asksOff is the attempt for which n must be confirmed off, if there is one. An
// owner's retirement asks for all: a machine is off for every axis at once.
func (n *Node) asksOff() (epoch uint64, waits bool) {
	if step := n.Run.Retire.State; n.Run.Retiring() {
		return n.Run.Retire.Epoch, step == run.Interrupting || step == run.AwaitingOff
	}
	return n.Prov.Epoch, n.Prov.AwaitOff
}
