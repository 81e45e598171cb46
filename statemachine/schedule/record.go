package schedule

import (
	"fmt"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// Force is an ask for forced release with its deadline (SCHED-2). The zero
// Force asks for none.
type Force struct{ By time.Time }

// Record is the scheduling axis of one node. Taints in a record are sorted and
// never changed in place.
type Record struct {
	State   State
	Force   Force
	Service Service
	Why     string   // the reason of maintenance
	Taints  []string // keys of operator taints
}

// New is a node that takes work. The zero Record is none: its states are unknown
// to both tables, which refuse every event.
func New() Record { return Record{State: Open, Service: InService} }

// Cordoned reports the flag cordoned, as the API has it: draining is both.
func (r *Record) Cordoned() bool { return r.State != Open }

// Fields are the fields that r has.
func (r *Record) Fields() sm.Fields {
	if r.Force != (Force{}) {
		return FieldForce
	}
	return 0
}

// Event is a cordon, drain or its end. Live is asked of placement in the commit.
type Event struct {
	On    Kind
	Live  bool  // a live allocation remains
	Force Force // drain: the ask
}

// Step decides e on r. changed is false where nothing did, so that nothing is
// published (SCHED-1); a second drain that adds a forced release changes the
// ask (EDGE-25). Its errors are *sm.Refused.
func Step(r Record, e Event) (next Record, changed bool, err error) {
	var g sm.Guard
	if e.Live {
		g = Live
	}
	to, err := Table.Next(r.State, e.On, g)
	if err != nil {
		return r, false, err
	}
	next = r
	next.State = to
	if e.On == Drain && r.Force == (Force{}) {
		next.Force = e.Force
	}
	if Table.Drops(to)&FieldForce != 0 {
		next.Force = Force{}
	}
	return next, next.State != r.State || next.Force != r.Force, nil
}

// NoReason reports an operator's maintenance verb without a reason.
type NoReason struct{ On ServiceKind }

// Error says what is wanted.
func (e *NoReason) Error() string { return fmt.Sprintf("%s needs a reason", e.On) }

// Code is INVALID_INPUT.
func (*NoReason) Code() string { return string(sm.InvalidInput) }

// StepService decides an event of maintenance. changed is false where nothing
// did; an unchanged record keeps its reason. An operator must give one
// (SCHED-4, EDGE-25); a failure without one is still a failure. Its errors are
// *sm.Refused and *NoReason.
func StepService(r Record, on ServiceKind, why string) (next Record, changed bool, err error) {
	to, err := ServiceTable.Next(r.Service, on, 0)
	if err != nil {
		return r, false, err
	}
	if why == "" && (on == SetMaintenance || on == ClearMaintenance) {
		return r, false, &NoReason{on}
	}
	if to == r.Service {
		return r, false, nil
	}
	r.Service, r.Why = to, why
	if to == InService {
		r.Why = ""
	}
	return r, true, nil
}
