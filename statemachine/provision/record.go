package provision

import (
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// At is where the axis stands.
type At = sm.At[State, Kind]

// Hash is a SHA-256.
type Hash [32]byte

// Wipe is a wipe mode (PROV-5), from none to the most thorough. A mode is never
// downgraded: what a machine cannot do fails, and does not become quick.
type Wipe string

// The wipe modes.
const (
	WipeNone    Wipe = "none"
	WipeQuick   Wipe = "quick" // the default of undeploy
	SecureErase Wipe = "secure-erase"
	CryptoErase Wipe = "crypto-erase"
)

// Valid reports whether w is one of the four modes.
func (w Wipe) Valid() bool {
	return w == WipeNone || w == WipeQuick || w == SecureErase || w == CryptoErase
}

// Activity is what the open attempt of a stable state does. In-flight states
// need none.
type Activity string

// The activities.
const (
	Acceptance Activity = "acceptance"  // in adopting
	RescueBoot Activity = "rescue-boot" // in rescue
	Return     Activity = "unrescue"    // in rescue
)

// Profile is what a deploy installs: exactly this version (PROV-18).
type Profile struct {
	ID      string
	Version uint64
	Role    string
}

// Trouble is a machine's last error. The code is for programs, the reason for
// people: it may quote a workflow and is shown as it came.
type Trouble struct {
	Code string // UNVERIFIED_WIPE, ABORTED, UNSUPPORTED, DEADLINE or FAILED (API-3)
	Why  string
}

// The codes of Trouble.
const (
	UnverifiedWipe = "UNVERIFIED_WIPE"
	Aborted        = "ABORTED"
	Overdue        = "DEADLINE"
	WorkflowFailed = "FAILED"
)

// Record is the provision axis of one node. The zero Record is none. It is
// comparable.
type Record struct {
	At
	// FailedFrom decides where recover leads (PROV-3); only Failed has it.
	FailedFrom State
	LastError  Trouble
	// Wipe is what releasing, commissioning or retiring does; commissioning and
	// retiring have none in a pool without agents (EDGE-10). A failed release
	// keeps it, so that recover cannot ask for less (EDGE-21).
	Wipe  Wipe
	Proof Hash // digest of the wipe evidence that was accepted
	// Profile is what is being deployed, or runs. Role is taken from it only by
	// success: a machine that failed to deploy plays no role.
	Profile Profile
	Role    string
	// Approver asked for the chain that writes disks; its grant names them (MACH-7).
	Approver string
	// Activity tells the attempts of one stable state apart.
	Activity Activity
	// Queued is an acceptance run that waits for the slot (EDGE-21).
	Queued bool
	// AwaitOff forbids disk actions until the BMC confirmed off (EDGE-5, BMC-2).
	AwaitOff bool
}

// New is no axis, at the start of the table.
func New() Record { return Record{At: At{State: Absent}} }

// state is r's state; the zero Record has no axis.
func (r *Record) state() State {
	if r.State == "" {
		return Absent
	}
	return r.State
}

// Fields are the fields that r has, in the order of their bits.
func (r *Record) Fields() sm.Fields {
	return sm.FieldsOf(r.FailedFrom != "", r.LastError != Trouble{}, r.Wipe != "", r.Proof != Hash{},
		r.Profile != Profile{}, r.Role != "", r.Approver != "", r.Activity != "", r.Queued, r.AwaitOff)
}

// drop clears the fields in f, one bit at a time. A new field needs a line here
// and in Fields.
func (r *Record) drop(f sm.Fields) {
	for ; f != 0; f &= f - 1 {
		switch f & -f {
		case FieldFailedFrom:
			r.FailedFrom = ""
		case FieldLastError:
			r.LastError = Trouble{}
		case FieldWipe:
			r.Wipe = ""
		case FieldProof:
			r.Proof = Hash{}
		case FieldProfile:
			r.Profile = Profile{}
		case FieldRole:
			r.Role = ""
		case FieldApprover:
			r.Approver = ""
		case FieldActivity:
			r.Activity = ""
		case FieldQueued:
			r.Queued = false
		case FieldAwaitOff:
			r.AwaitOff = false
		}
	}
}

// Deadlines are a site's own deadlines. A zero field takes MACH-5's default;
// Check says what a field may be. The wait for a MAC is not among them: whoever
// enrolls a machine by UUID alone brings AwaitingMACDeadline with the event.
type Deadlines struct {
	Enrolling, Acceptance, Inspecting, Commissioning, Deploying, Releasing, SecureErase, Rescue, Unrescue, Retiring time.Duration
}

// Within is the site's deadline for the attempt that e may open from r; zero
// leaves the table's. It asks the table where e leads and does not care whether
// that is refused: then nothing is opened.
func (d Deadlines) Within(r *Record, e *Event) time.Duration {
	to, _ := Table.Next(r.state(), e.On, Guards(r, e))
	switch to {
	case Adopting:
		return d.Acceptance
	case Enrolling:
		return d.Enrolling
	case Inspecting:
		return d.Inspecting
	case Commissioning:
		return d.Commissioning
	case Deploying:
		return d.Deploying
	case Releasing:
		return d.releasing(e.wipe(r))
	case Rescue:
		if e.On == Unrescue {
			return d.Unrescue
		}
		return d.Rescue
	case Retiring:
		return d.Retiring
	}
	return 0
}

// releasing is its deadline by mode: secure-erase overwrites whole disks at
// their own pace, and so has a default of its own where the site sets none.
func (d Deadlines) releasing(w Wipe) time.Duration {
	switch {
	case w != SecureErase:
		return d.Releasing
	case d.SecureErase == 0:
		return SecureEraseDeadline
	}
	return d.SecureErase
}
