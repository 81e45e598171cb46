package provision

import (
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// Event is what happens on the axis, with what it brings. Which fields matter
// depends on On.
type Event struct {
	sm.Event[Kind]
	Facts sm.Guard // guards that others compute: all but Proof, NoWipe, Booting, Returning and From*; see Guards for Agents

	By      string // who asked: the approver of a chain that writes disks
	Wipe    Wipe   // undeploy; empty is quick
	Profile Profile
	Proof   Hash // wiped: digest of evidence that counts by PROV-19
	Why     string
}

// own are the guards that the record answers by itself. What a caller claims of
// them is dropped, so that no edge can talk a machine past its wipe.
const own = Proof | NoWipe | Booting | Returning | FromGroup

// Guards computes the guards for e on r. Agents is the caller's to say, but where
// the record shows that a wipe was begun it holds in any case. Lifecycle uses it too, to say what
// would be legal without stepping.
func Guards(r *Record, e *Event) sm.Guard {
	g := e.Facts&^own | fromGuard(r.FailedFrom)
	// A wipe that was begun must be proved, whatever the pool runs by now (EDGE-10).
	wipes := r.Wipe != "" && (r.State == Commissioning || r.State == Retiring)
	return g.With(Agents, wipes).With(Proof, r.Proof != Hash{}).
		With(NoWipe, r.Wipe == WipeNone).
		With(Booting, r.Activity == RescueBoot).
		With(Returning, r.Activity == Return)
}

// fromGuard is the guard of the state that a machine failed from; none for a
// record that did not fail, whose cells do not ask.
func fromGuard(from State) sm.Guard {
	switch from {
	case Adopting:
		return FromAdopting
	case Enrolling:
		return FromEnrolling
	case Inspecting, Commissioning:
		return FromBuilding
	case Deploying, Releasing:
		return FromDisks
	case Rescue:
		return FromRescue
	case Retiring:
		return FromRetiring
	}
	return 0
}

// Step decides e on r and returns the record after it; on error that is r. A
// record that came to Absent is the zero axis. Its errors are *sm.Refused.
func Step(r Record, e Event, now time.Time) (Record, error) {
	was := r
	was.State = r.state()
	if Table.Repeats(was.At, e.Event) {
		return r, nil // the next attempt may be open, and its fields are not the repeat's
	}
	at, err := Table.Step(was.At, e.Event, Guards(&r, &e), now)
	if err != nil {
		return r, err
	}
	if at.State == Absent {
		return New(), nil
	}
	r.At = at
	if at.State != was.State || at.Epoch != was.Epoch {
		r.enter(&was, &e)
	}
	r.write(&e)
	r.drop(Table.Drops(r.State))
	return r, nil
}

// enter writes what a new state, or a new attempt, begins with. Evidence and
// activity never outlive the attempt they belong to. An approver is kept where
// the event names none: a chain that goes on by itself (enrolling, inspecting,
// commissioning) writes its disks on the word of whoever began it.
func (r *Record) enter(was *Record, e *Event) {
	r.Proof, r.Activity, r.Queued = Hash{}, "", false
	if e.By != "" {
		r.Approver = e.By
	}
	switch r.State {
	case Adopting:
		r.adopting()
	case Commissioning:
		r.Wipe = e.erases(WipeQuick)
	case Deploying:
		r.Profile = e.Profile
	case Deployed:
		r.Role = r.Profile.Role
	case Releasing:
		r.Wipe = e.wipe(was)
	case Rescue:
		r.Activity = RescueBoot
		if e.On == Unrescue {
			r.Activity = Return
		}
	case Retiring:
		r.retiring(was, e)
	case Failed:
		r.fail(was, e)
	}
}

// retiring waits for confirmed off when it took the machine from a holder, and
// so does its recovery until off was seen (EDGE-5).
func (r *Record) retiring(was *Record, e *Event) {
	r.Wipe = e.erases(CryptoErase)
	r.AwaitOff = was.AwaitOff || e.Facts&Held != 0 || Table.Open(was.At)
}

// erases is mode where the pool's machines run agents. Without them nothing is
// wiped, and a mode would claim that something was (EDGE-10).
func (e *Event) erases(mode Wipe) Wipe {
	if e.Facts&Agents == 0 {
		return ""
	}
	return mode
}

// adopting queues the acceptance run until it has the slot (EDGE-21).
func (r *Record) adopting() {
	if r.Deadline.IsZero() {
		r.Queued = true
	} else {
		r.Activity = Acceptance
	}
}

// wipe is the mode of a release: recover keeps the recorded one after
// releasing, and is quick after deploying (EDGE-21).
func (e *Event) wipe(was *Record) Wipe {
	switch {
	case e.On == Recover && was.FailedFrom == Releasing && was.Wipe != "":
		return was.Wipe
	case e.On == Undeploy && e.Wipe != "":
		return e.Wipe
	}
	return WipeQuick
}

// fail records where and why. Only releasing's wipe mode is worth keeping: the
// others' modes are fixed (PROV-5). A success that leads here had no evidence.
func (r *Record) fail(was *Record, e *Event) {
	r.FailedFrom = was.State
	if was.State != Releasing {
		r.Wipe = ""
	}
	switch e.On {
	case Abort:
		r.LastError = Trouble{Aborted, e.Why}
	case Expired:
		r.LastError = Trouble{Overdue, "the attempt did not end before its deadline"}
	case Succeeded:
		r.LastError = Trouble{UnverifiedWipe, "success was reported without wipe evidence that counts"}
	default:
		r.LastError = Trouble{WorkflowFailed, e.Why}
	}
}

// write puts into the record what an event brings that opens nothing. The end of
// a stable state's attempt also ends its activity.
func (r *Record) write(e *Event) {
	switch e.On {
	case Wiped:
		r.Proof = e.Proof
	case Succeeded, Fail:
		if !Table.Open(r.At) {
			r.Activity = ""
		}
	case SeenOff:
		r.AwaitOff = false
	}
}
