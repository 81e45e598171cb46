package run

import (
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// At is where a run stands.
type At = sm.At[State, Kind]

// Action is the owner's desired_action.
type Action string

// The actions (RUN-10).
const (
	Provision Action = "provision" // attest, wipe the system disk, install
	Attest    Action = "attest"    // writes no disk
	Wipe      Action = "wipe"      // wipe the system disk
)

// Valid reports whether a is one of the three actions.
func (a Action) Valid() bool { return a == Provision || a == Attest || a == Wipe }

// Writes reports whether the action writes a disk, and so needs the serial of
// RUN-4 and a grant.
func (a Action) Writes() bool { return a != Attest }

// Deadline is MACH-5's default for a run of this action. An unknown action gets
// the longest: too early an end would leave a machine half written.
func (a Action) Deadline() time.Duration {
	switch a {
	case Provision:
		return ProvisionDeadline
	case Attest:
		return AttestDeadline
	}
	return WipeDeadline
}

// Record is the run axis of one node: its one run and its retirement. It is
// comparable.
type Record struct {
	At
	// Action is the last one that was accepted; it stays when the run has ended.
	Action Action
	Next   Action // another action that waits for this run's end
	Reason string // why it waits, or how it failed
	// Serial is install_disk_serial as the inventory had it when the run or
	// the retirement began (RUN-4).
	Serial string
	// Retire is where the retirement stands. It has attempts of its own, and
	// outlasts whatever run it interrupted.
	Retire sm.At[RetireStep, RetireKind]
}

// New is a device of which nothing was asked. Unlike the other axes this one has
// no absence: a device is in the inventory, or has no record at all.
func New() Record {
	return Record{At: At{State: Idle}, Retire: sm.At[RetireStep, RetireKind]{State: None}}
}

// Unfinished reports whether a run or a retirement is under way: while one is,
// the node is not deletable (EDGE-23).
func (r *Record) Unfinished() bool {
	return r.State == Waiting || r.State == Running || r.Retiring()
}

// Retiring reports whether the retirement is under way. It holds the machine
// from its first step on, waiting ones included: no run may slip in between.
func (r *Record) Retiring() bool { return r.step() != None && r.step() != Offline }

// step is where the retirement stands. None may be left out of a record, as in
// the zero one.
func (r *Record) step() RetireStep {
	if r.Retire.State == "" {
		return None
	}
	return r.Retire.State
}

// Disk is the one disk that the run or the retirement may write, for its grant
// (MACH-7); nil is none.
func (r *Record) Disk() []string {
	if r.Serial == "" {
		return nil
	}
	return []string{r.Serial}
}

// Fields are the fields that r has, in the order of their bits. Serial and Retire
// are none: no state of the run owns them.
func (r *Record) Fields() sm.Fields {
	return sm.FieldsOf(r.Action != "", r.Next != "", r.Reason != "")
}

// drop clears the fields in f.
func (r *Record) drop(f sm.Fields) {
	if f&FieldAction != 0 {
		r.Action = ""
	}
	if f&FieldNext != 0 {
		r.Next = ""
	}
	if f&FieldReason != 0 {
		r.Reason = ""
	}
}
