// Package netboot is the axis of what a booting MAC is to the site: seen,
// enrolling, enrolled or shut out (BOOT). One boot record per admin NIC; mode
// rescue stands beside the state and moves nothing.
//
// [Table] decides which event is legal where; [Step] computes the guards that
// the record itself answers, writes what the event brings, and clears what
// the new state must not hold. [AllowList] is the match that auto-enroll
// makes; lifecycle decides the whole admission with it.
package netboot

import sm "github.com/ingotmetal/ingot/statemachine"

// State is a netboot state; its text is the wire name.
type State string

// The states. Absent is no record, and never stored: a booter that is asked of a
// MAC it does not know is silent all the same (BOOT-21).
const (
	Absent         State = "absent"
	Discovered     State = "discovered"
	Enrolling      State = "enrolling"
	Enrolled       State = "enrolled"
	Decommissioned State = "decommissioned"
)

// Kind names an event of this axis.
type Kind string

// The events. Some come from the segment, some by hand, some from joints that
// move several records of one machine; the table judges each kind by its own rule.
const (
	Sight        Kind = "sight"        // a PXE sighting
	Admit        Kind = "admit"        // auto-enroll judges a sighting
	Enroll       Kind = "enroll"       // by hand
	Complete     Kind = "complete"     // its machine's setup completed
	Reset        Kind = "reset"        // its machine is factory-reset
	Decommission Kind = "decommission" // by hand
	Withdraw     Kind = "withdraw"     // its machine is deleted or retired
	Reactivate   Kind = "reactivate"
	Purge        Kind = "purge"
	SetMode      Kind = "set-mode"
	SetEntry     Kind = "set-entry" // the slot's holder gives the MAC a boot entry
	EndEntry     Kind = "end-entry" // the holder's attempt ended
	Propose      Kind = "propose"   // the MAC becomes a machine's candidate
	Dismiss      Kind = "dismiss"   // the machine takes no candidate any more
	Bind         Kind = "bind"      // confirm-mac or metal enroll
	Evict        Kind = "evict"     // the oldest makes room for a new sighting
)

// The guards.
const (
	Admitted    sm.Guard = 1 << iota // auto-enroll is on and the allow-list matches
	Address                          // an address is reserved, or one is free
	Claimed                          // a candidate, a metal node's MAC, or one with a boot entry
	Image                            // the setup assigned an image
	Bound                            // the record belongs to a machine
	Foreign                          // it belongs to another machine than the one that acts
	Kept                             // it holds an address
	Unconfirmed                      // a candidate that nobody has confirmed
)

// The fields that states own. A state that may not hold one has it cleared, so a
// silent record serves nothing by an oversight.
const (
	FieldAddress    sm.Fields = 1 << iota
	FieldNetworking           // the networking spec written with the address
	FieldOwner                // the node and server it is bound to
	FieldImage                // the assigned image
	FieldEntry                // boot entry of the slot's holder
	FieldCandidate            // the machine it is a candidate of
)
