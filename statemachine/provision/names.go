// Package provision is the axis of a machine's use: from enrolled metal or an
// adopted host, through deployment and release, to retirement (PROV).
//
// [Table] decides which verb or report is legal where; [Step] computes the
// guards that the record itself answers, writes what the event brings, and
// clears what the new state must not hold. Facts from elsewhere (allocations,
// power observations, pool) come in with the event.
package provision

import sm "github.com/ingotmetal/ingot/statemachine"

// State is a provision state; its text is the wire name.
type State string

// The states. Absent is no provision axis, and never stored.
const (
	Absent        State = "absent"
	Adopting      State = "adopting"
	Adopted       State = "adopted"
	Enrolling     State = "enrolling"
	Inspecting    State = "inspecting"
	Commissioning State = "commissioning"
	Ready         State = "ready"
	Deploying     State = "deploying"
	Deployed      State = "deployed"
	Releasing     State = "releasing"
	Rescue        State = "rescue"
	Failed        State = "failed"
	Retiring      State = "retiring"
	Retired       State = "retired"
)

// Kind names an event of this axis.
type Kind string

// The events: verbs, then reports, then what comes from other axes.
const (
	Enroll    Kind = "enroll"
	Manage    Kind = "manage"
	Inspect   Kind = "inspect"
	Provide   Kind = "provide"
	Deploy    Kind = "deploy"
	Undeploy  Kind = "undeploy"
	ToRescue  Kind = "rescue"
	Unrescue  Kind = "unrescue"
	Abort     Kind = "abort"
	Recover   Kind = "recover"
	Retire    Kind = "retire"
	Adopt     Kind = "adopt"
	PowerVerb Kind = "power" // on, off, graceful-off, reset, graceful-restart, cycle or nmi
	Delete    Kind = "delete"

	Succeeded Kind = "succeeded" // the attempt's workflow; a report
	Fail      Kind = "failed"    // the attempt's workflow; a report
	Wiped     Kind = "wiped"     // wipe evidence; a report that ends nothing
	Expired   Kind = "expired"   // the attempt's deadline

	Join    Kind = "join"          // the first agent session
	Begin   Kind = "begin"         // a queued acceptance run starts
	SeenOff Kind = "off-confirmed" // the BMC confirmed off (BMC-2)
	End     Kind = "end"           // the registration is factory-reset
)

// The guards. Those from Proof to the end, but for Off, the record answers by
// itself; the others are facts of other axes, the pool and the world.
const (
	Held      sm.Guard = 1 << iota // some attempt holds the machine
	OtherHeld                      // an attempt of another axis holds it
	Tenant                         // a tenant other than the caller has a started, unreleased allocation
	Open                           // an allocation is open
	Capable                        // the pool's machines can do what is asked
	Engine                         // a workflow engine is configured
	Serviced                       // BMC credentials and a serving site agent
	Cordoned                       // the node is cordoned
	Agents                         // the pool's machines run agents
	Proof                          // wipe evidence stands for this epoch
	NoWipe                         // the wipe mode is none
	Off                            // confirmed off (BMC-2)
	Booting                        // the rescue ramdisk still boots
	Returning                      // the unrescue workflow runs

	FromAdopting  // failed from adopting
	FromEnrolling // failed from enrolling
	FromBuilding  // failed from inspecting or commissioning
	FromDisks     // failed from deploying or releasing
	FromRescue    // failed from rescue
	FromRetiring  // failed from retiring
)

// The fields that states own. The rest of a record is At.
const (
	FieldFailedFrom sm.Fields = 1 << iota
	FieldLastError
	FieldWipe     // wipe mode
	FieldProof    // wipe evidence
	FieldProfile  // profileId and profileVersion
	FieldRole     // the role that the profile gives
	FieldApprover // who asked for the chain that writes disks
	FieldActivity // what the open attempt of a stable state does
	FieldQueued   // an acceptance run waits for the slot
	FieldAwaitOff // no disk action before confirmed off
)
