// Package registration is the axis of who a server is to the site: unknown,
// waiting for a person, being set up, or a member (REG, SET). One row per
// server UUID.
//
// [Table] decides which event is legal where; [Step] also computes the guards
// that the row itself answers, writes what the event brings, and clears what
// the new state must not hold. Facts from elsewhere come in with the event.
package registration

import sm "github.com/ingotmetal/ingot/statemachine"

// State is a registration state; its text is the wire name (REG-1).
type State string

// The states. Absent is no row, and never stored.
const (
	Absent        State = "absent"
	Pending       State = "pending"
	Approved      State = "approved"
	Disabled      State = "disabled"
	AwaitingSetup State = "awaiting_setup"
	SettingUp     State = "setting_up"
)

// Kind names an event of this axis.
type Kind string

// The events.
const (
	Register      Kind = "register"         // the agent of a hand-installed machine, anonymous
	Announce      Kind = "announce"         // an agent in the enrollment ramdisk, through its booter
	Approve       Kind = "approve"          // an operator with the claim code
	ApproveSetup  Kind = "approve-setup"    // an operator lets the machine's disks be written
	Drain         Kind = "drain"            // the booter takes the sealed bundle; a report
	SetupComplete Kind = "setup-complete"   // a report
	SetupFailed   Kind = "setup-failed"     // a report
	SetupExpired  Kind = "setup-expired"    // the deadline of setting_up
	Refresh       Kind = "refresh"          // the agent, with its bound key
	Acknowledge   Kind = "key-acknowledged" // the agent has, or used, the key it polled for
	Lapse         Kind = "key-lapsed"       // the poll token ended
	Configure     Kind = "configure"        // labels, reservoir, root password hash
	Disable       Kind = "disable"
	FactoryReset  Kind = "factory-reset"
	Delete        Kind = "delete"
	Withdraw      Kind = "withdraw" // its node is deleted or retired
	Preempt       Kind = "preempt"  // retirement takes the machine from a setup
)

// The guards. CodeOK, Repeat, OtherKey, Consumed, Overdue and Rearmed are
// answered by row and event; the others are facts of other axes and the site.
const (
	Window    sm.Guard = 1 << iota // an auto-approve window is open and has a slot
	Rearmed                        // the row was disabled once and registered again
	Admitted                       // policy lets a new UUID announce itself
	Retired                        // the UUID leads to a retired node
	CodeOK                         // the claim code is right and in time
	Repeat                         // the same operator repeats the code that just approved
	OtherKey                       // the session's agent key is not the announced one
	Consumed                       // the bundle was drained
	Overdue                        // setup_deadline has passed
	Held                           // another attempt holds the machine
	Occupied                       // instances, reservations, migrations or open allocations
	Image                          // the site has a valid, staged enrollment image
	Anchored                       // once approved, and its node's provision state forbids a delete
	Allocated                      // an allocation is open
)

// The fields that states own.
const (
	FieldCode      sm.Fields = 1 << iota // claim code
	FieldPoll                            // poll token
	FieldWaiting                         // key that waits for its poll
	FieldSpent                           // code that just approved
	FieldRearmed                         // the mark of a re-armed row
	FieldBound                           // bound key
	FieldTickets                         // ticket keys
	FieldBundle                          // sealed bundle
	FieldAgentKey                        // hash of the agent's announced key
	FieldPlan                            // realized layout, digest and MACs
	FieldImage                           // assigned image
	FieldApproved                        // approved_at
	FieldLastError                       // last_setup_error
)
