// Package run is the axis of an inventory device's owner: requests to
// provision, attest or wipe it ([Table]), and its retirement ([Retirement]).
// A run waits without holding the machine, and holds it from running on.
package run

import sm "github.com/ingotmetal/ingot/statemachine"

// State is a state of the device's one run (RUN-1).
type State string

// The states of a run.
const (
	Idle      State = "idle"
	Waiting   State = "waiting"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
)

// Kind names an event of a run.
type Kind string

// The events of a run: the owner's, the reports, what the engine knows, and what
// ends the run from outside.
const (
	Request        Kind = "request"         // the owner's desired_action
	Begin          Kind = "begin"           // the run takes the machine
	Succeed        Kind = "succeeded"       // a report
	Fail           Kind = "failed"          // a report
	Expired        Kind = "expired"         // the run's deadline
	FoundRunning   Kind = "found-running"   // the engine runs one that was never recorded
	FoundSucceeded Kind = "found-succeeded" // the engine ended one that was never recorded
	FoundFailed    Kind = "found-failed"    // the engine ended one that was never recorded
	Interrupt      Kind = "interrupt"       // retirement removes it, after confirmed off
	End            Kind = "end"             // the node is deleted or factory-reset
)

// The guards of a run. Same, Serial and Retiring the record and event answer by
// themselves.
const (
	Same      sm.Guard = 1 << iota // the request is for the current action
	Held                           // another attempt holds the machine
	Serial                         // install_disk_serial is set, or the action writes no disk
	Pin                            // the class has a complete pin, or the action installs nothing
	Retiring                       // the owner decommissions the device
	Allocated                      // an allocation is open, and the action writes a disk
)

// The fields that states own.
const (
	FieldAction sm.Fields = 1 << iota // the current action
	FieldNext                         // another action that waits for the run's end
	FieldReason                       // why it waits, or how it failed
)

// RetireStep is a step of the retirement run (RUN-9).
type RetireStep string

// The steps. None is no retirement, and never stored.
const (
	None         RetireStep = "none"
	Interrupting RetireStep = "interrupting"
	Wiping       RetireStep = "wiping"
	AwaitingOff  RetireStep = "awaiting-off"
	Evicting     RetireStep = "evicting"
	Cleaning     RetireStep = "cleaning"
	Offline      RetireStep = "offline"
)

// RetireKind names an event of the retirement run.
type RetireKind string

// The events of the retirement run.
const (
	Decommission RetireKind = "decommission"  // the owner sets the status decommissioning
	OffConfirmed RetireKind = "off-confirmed" // off by BMC-2, or the agent's word where there is no BMC
	Wiped        RetireKind = "wiped"         // a report
	WipeFailed   RetireKind = "wipe-failed"   // a report
	Evicted      RetireKind = "evicted"       // a report
	StepExpired  RetireKind = "expired"       // the step's deadline
	Cleaned      RetireKind = "cleaned"       // the orchestrator forgot the node
	EndSteps     RetireKind = "end"           // the node is deleted or factory-reset
)

// The guards of the retirement run.
const (
	SlotHeld  sm.Guard = 1 << iota // another attempt holds the machine
	HasSerial                      // install_disk_serial is set
)
