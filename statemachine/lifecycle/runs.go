package lifecycle

import (
	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// Listed is a device that the inventory newly has (MACH-1, MACH-2). A state with
// a registration row and no node is INVALID_INPUT: it is loaded without the row
// (PROV-20).
//
// Found comes from the index row of the device, and of whatever else the inventory
// says that the machine is known by. A device that is listed again changes
// nothing, so an adapter may send its whole list at each pass.
type Listed struct {
	NewID  NodeID
	Found  []NodeID
	Device string
}

// Name is listed.
func (Listed) Name() string { return "listed" }

func (in Listed) apply(w *work) error {
	// An empty claim is no claim: the node would be one that nothing names.
	if in.Device == "" {
		return invalid(w.name, "MACH-1", "a device has a name of at most %d bytes", MaxName)
	}
	if err := w.names(in.Device); err != nil {
		return err
	}
	if err := w.same(in.Found); err != nil {
		return err
	}
	if err := w.rowless(); err != nil {
		return err
	}
	if err := w.assign(in.NewID); err != nil {
		return err
	}
	switch w.Node.Claims.Device {
	case in.Device:
		return nil
	case "":
		w.Node.Claims.Device = in.Device
		w.factWhy(DeviceListed, in.Device)
		return nil
	}
	return refuse(w.name, "MACH-1", sm.Conflict, "the node is device "+w.Node.Claims.Device, "")
}

// device refuses what only a device of the inventory has. It is NOT_FOUND and no
// conflict: to a node without the axis its inputs do not exist, as metal verbs do
// not to one without a BMC (PROV-14).
func (w *work) device() error {
	if err := w.live(); err != nil {
		return err
	}
	if w.Node.Claims.Device == "" {
		return refuse(w.name, "MACH-2", sm.NotFound, "the node is no device of the inventory", "list the device first")
	}
	return nil
}

// runs refuses a run on what is no device, or is out of service for good.
// What ends a run asks device alone: a late report must reach a retired node too,
// and be told that it repeats or is stale.
func (w *work) runs() error {
	if err := w.device(); err != nil {
		return err
	}
	return w.serves()
}

// RunRequest is the owner's desired_action (RUN-1). The current action asked
// again is consumed; another waits for the run's end, and the newest wins.
//
// An adapter may send it at every pass while the field is set: only what is new
// makes a fact. It never begins a run by itself (see RunBegin), so it is accepted
// while the machine is held, and refused where the device is to go (RUN-6).
type RunRequest struct{ Action run.Action }

// Name is run-request.
func (RunRequest) Name() string { return "run-request" }

func (in RunRequest) apply(w *work) error {
	if err := w.runs(); err != nil {
		return err
	}
	if !in.Action.Valid() {
		return invalid(w.name, "RUN-1", "%q is no action; legal: provision, attest, wipe", in.Action)
	}
	was := w.Node.Run
	if err := w.run(run.Event{Event: onRun(run.Request), Action: in.Action}); err != nil {
		return err
	}
	// To go back to the current action drops the one that waited, which the journal
	// shows as a request.
	switch {
	case w.Node.Run.Next != was.Next && w.Node.Run.Next != "":
		w.factWhy(RunPending, string(in.Action))
	case w.Node.Run != was:
		w.factWhy(RunRequested, string(in.Action))
	}
	return nil
}

func onRun(k run.Kind) sm.Event[run.Kind] { return sm.Event[run.Kind]{On: k} }

// RunBegin is the reconciler that gives a waiting run the machine. What is
// missing (the slot, the serial, the pin, a free machine) is a CONFLICT that
// says which, and the run goes on waiting.
//
// Serial is read again here, since the disk may have been changed while the run
// waited: what is given now goes into the grant, and the machine must show the
// same before the first write (RUN-4, DISK-3).
type RunBegin struct {
	World  World
	Serial string // install_disk_serial, as the inventory has it now
	Pin    bool   // the class has a complete pin (RUN-3)
}

// Name is run-begin.
func (RunBegin) Name() string { return "run-begin" }

func (in RunBegin) apply(w *work) error {
	if err := w.runs(); err != nil {
		return err
	}
	// Ahead of the table: its refusal is shown to the owner as the reason of the wait,
	// and must not rest on a count that nobody could read.
	if err := w.answers(&in.World); err != nil {
		return err
	}
	if err := w.names(in.Serial); err != nil {
		return err
	}
	err := w.run(run.Event{Event: onRun(run.Begin), Serial: in.Serial, Facts: w.runFacts(&in.World, in.Pin)})
	// attest writes nothing, and so may run on a machine that is deployed (RUN-10).
	if err != nil || !w.Node.Run.Action.Writes() {
		return countOf(err, in.World.Open)
	}
	return w.disks()
}

// RunWaits records why a waiting run does not begin, as RunBegin's refusal
// said, so that the owner reads it (RUN-3, RUN-4). The same reason again
// changes nothing, and so is journaled once.
type RunWaits struct{ Why string }

// Name is run-waits.
func (RunWaits) Name() string { return "run-waits" }

func (in RunWaits) apply(w *work) error {
	if err := w.runs(); err != nil {
		return err
	}
	if w.Node.Run.State != run.Waiting {
		return refuse(w.name, "RUN-4", sm.InvalidState, "no run waits", "")
	}
	if why := cutReason(in.Why); why != w.Node.Run.Reason {
		w.Node.Run.Reason = why
		w.factWhy(RunHeld, why)
	}
	return nil
}

// RunCancel is the owner that cleared desired_action: the request that waits,
// and another that waits behind it, are gone. A run that has begun is not
// stopped by this; there, and where nothing waits, it is INVALID_STATE.
type RunCancel struct{}

// Name is run-cancel.
func (RunCancel) Name() string { return "run-cancel" }

func (RunCancel) apply(w *work) error {
	if err := w.device(); err != nil {
		return err
	}
	if r := &w.Node.Run; r.State == run.Running && r.Next != "" {
		w.factWhy(RunCancelled, string(r.Next))
		r.Next = "" // what waits behind a run is no request any more (MACH-7)
		return nil
	}
	if w.Node.Run.State != run.Waiting {
		return refuse(w.name, "RUN-1", sm.InvalidState, "no run waits", "a run that has begun ends by itself, or by its deadline")
	}
	return w.run(run.Event{Event: onRun(run.Interrupt)})
}

// runFacts are the guards of a run that would begin. Held is by any attempt, and by
// one that failed before the machine was confirmed off (EDGE-5).
func (w *work) runFacts(world *World, pin bool) sm.Guard {
	return sm.Guard(0).With(run.Held, heldBy(&w.was.Node).Holder != Free).
		With(run.Pin, pin).
		With(run.Allocated, world.Open > 0)
}

// RunReport is how a run ended. Another epoch is a CONFLICT, a repeat succeeds
// without effect. A failed run is not repeated by itself (RUN-9).
type RunReport struct {
	Epoch uint64
	OK    bool
	Why   string
}

// Name is run-report.
func (RunReport) Name() string { return "run-report" }

func (in RunReport) apply(w *work) error {
	if err := w.device(); err != nil {
		return err
	}
	e := run.Event{Event: sm.Event[run.Kind]{On: run.Fail, Epoch: in.Epoch}, Why: cutReason(in.Why)}
	if in.OK {
		e.On = run.Succeed
	}
	if err := w.run(e); err != nil || w.Node.Run == w.was.Node.Run {
		return err // a repeat asks for nothing
	}
	return w.pending()
}

// pending asks for the action that waited for this run's end (RUN-1).
func (w *work) pending() error {
	// A retirement has the last word: what waited behind the run is dropped (RUN-6).
	r := &w.Node.Run
	if r.Next == "" || r.State == run.Waiting || r.State == run.Running || r.Retiring() {
		return nil
	}
	w.factWhy("run."+string(r.State), r.Reason) // the next request hides it
	return w.run(run.Event{Event: onRun(run.Request), Action: r.Next})
}

// RunFound is a run that the workflow engine has and no record names (RUN-2),
// because the write was lost. It is adopted once, running or ended, and only
// by the request for its action that still waits.
//
// Found running it needs all that RunBegin needs, and gets its grant like any
// other run. Where no such request waits, that is a CONFLICT and the engine must
// stop the run; one that ended changes nothing there.
//
// Action is what the engine's run does, as the engine says, and never what the
// owner asked for: that would make any stray run the one that was wanted.
type RunFound struct {
	On     run.Kind // found-running, found-succeeded or found-failed
	Action run.Action
	World  World  // found-running
	Serial string // found-running: install_disk_serial, as the inventory has it now
	Pin    bool   // found-running: the class has a complete pin (RUN-3)
	Why    string
}

// Name is the kind.
func (in RunFound) Name() string { return string(in.On) }

func (in RunFound) apply(w *work) error {
	if err := w.runs(); err != nil {
		return err
	}
	if in.On != run.FoundRunning && in.On != run.FoundSucceeded && in.On != run.FoundFailed || !in.Action.Valid() {
		return invalid("run-found", "RUN-2", "want found-running, found-succeeded or found-failed, and an action")
	}
	if err := w.names(in.Serial); err != nil {
		return err
	}
	was := w.Node.Run
	err := w.run(run.Event{Event: onRun(in.On), Action: in.Action, Serial: in.Serial, Why: cutReason(in.Why), Facts: w.runFacts(&in.World, in.Pin)})
	if err != nil || w.Node.Run == was {
		return countOf(err, in.World.Open)
	}
	// Only a run that goes on to write needs the world. One that ended is recorded also
	// while allocations cannot be read.
	if in.On == run.FoundRunning {
		if err := w.answers(&in.World); err != nil {
			return err
		}
	}
	if in.On == run.FoundRunning && in.Action.Writes() {
		if err := w.disks(); err != nil {
			return err
		}
	}
	w.factWhy(RunAdopted, "its record came late")
	return w.pending()
}
