// Package schedule is the axis of whether new work may come to a node:
// cordon and drain, maintenance, and the operator's taints (SCHED, TAINT-1).
// It says nothing of work that is already there.
package schedule

import sm "github.com/ingotmetal/ingot/statemachine"

// State is a scheduling state. The flag cordoned is every state but Open; the
// reason draining is Draining alone, so that draining without cordoned cannot
// be written (EDGE-25).
type State string

// The scheduling states.
const (
	Open     State = "open"
	Cordoned State = "cordoned"
	Draining State = "draining"
)

// Kind names an event of scheduling.
type Kind string

// The scheduling events.
const (
	Cordon   Kind = "cordon"
	Uncordon Kind = "uncordon"
	Drain    Kind = "drain"
	Drained  Kind = "drained" // the controller found no live allocation
	Reset    Kind = "reset"   // the machine is factory-reset
)

// Live is the guard "a live allocation remains" (PLACE-4, EDGE-11).
const Live sm.Guard = 1

// FieldForce is the one field that a state owns: the ask for forced release.
const FieldForce sm.Fields = 1

// Service is a maintenance state.
type Service string

// The maintenance states.
const (
	InService   Service = "in-service"
	Maintenance Service = "maintenance"
)

// ServiceKind names an event of maintenance.
type ServiceKind string

// The maintenance events.
const (
	SetMaintenance   ServiceKind = "set-maintenance"   // an operator, with a reason
	ClearMaintenance ServiceKind = "clear-maintenance" // an operator, with a reason
	FailNode         ServiceKind = "fail"              // the provision axis failed or was aborted
	Escalate         ServiceKind = "escalate"          // a remediation came to nothing
)
