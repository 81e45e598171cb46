package provision_test

import (
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/render"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// start is when the tests of this package begin.
var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// What events of these tests bring.
var (
	proof   = provision.Hash{1}
	profile = provision.Profile{ID: "kvm", Version: 3, Role: "hypervisor"}
)

// bring is an event of kind on with everything that any event brings.
func bring(on provision.Kind, next uint64) provision.Event {
	return provision.Event{Event: sm.Event[provision.Kind]{On: on, Next: next},
		By: "ada", Wipe: provision.CryptoErase, Profile: profile, Proof: proof, Why: "no boot"}
}

// failedFrom are the states that stand for each guard of the group.
var failedFrom = map[sm.Guard]provision.State{
	provision.FromAdopting: provision.Adopting, provision.FromEnrolling: provision.Enrolling, provision.FromBuilding: provision.Inspecting,
	provision.FromDisks: provision.Releasing, provision.FromRescue: provision.Rescue, provision.FromRetiring: provision.Retiring,
}

// fill gives rec a value in every field that its state may hold, but for
// those that decide.
func fill(rec provision.Record) provision.Record {
	holds := ^provision.Table.Drops(rec.State)
	for _, f := range []struct {
		field sm.Fields
		set   func()
	}{
		{provision.FieldLastError, func() { rec.LastError = provision.Trouble{Code: provision.WorkflowFailed} }},
		{provision.FieldProfile, func() { rec.Profile = profile }},
		{provision.FieldRole, func() { rec.Role = profile.Role }},
		{provision.FieldApprover, func() { rec.Approver = "ada" }},
		{provision.FieldWipe, func() { rec.Wipe = provision.SecureErase }},
		{provision.FieldAwaitOff, func() { rec.AwaitOff = true }},
		{provision.FieldQueued, func() { rec.Queued = true }},
	} {
		if holds&f.field != 0 {
			f.set()
		}
	}
	return rec
}

// align brings the record to the guards that the kit wants to hold, in the
// states whose cells use them. A repeated report finds what it left.
func align(rec provision.Record, ev sm.Event[provision.Kind], g sm.Guard) (provision.Record, provision.Event) {
	e := bring(ev.On, ev.Next)
	e.Event, e.Facts = ev, g
	if rec.Ended == ev.On || rec.Before == (sm.Decided[provision.Kind]{Epoch: ev.Epoch, By: ev.On}) {
		return rec, e
	}
	switch rec.State {
	case provision.Failed:
		rec.FailedFrom = failedFrom[g&provision.FromGroup]
	case provision.Rescue:
		switch rec.Activity = ""; {
		case g&provision.Booting != 0:
			rec.Activity = provision.RescueBoot
		case g&provision.Returning != 0:
			rec.Activity = provision.Return
		}
	case provision.Commissioning, provision.Releasing, provision.Retiring:
		if rec.Proof = (provision.Hash{}); g&provision.Proof != 0 {
			rec.Proof = proof
		}
		switch {
		case rec.State == provision.Releasing && g&provision.NoWipe != 0:
			rec.Wipe = provision.WipeNone
		case rec.State != provision.Releasing && g&provision.Agents == 0:
			rec.Wipe = ""
		}
	}
	return rec, e
}

func subject() statemachinetest.Subject[provision.Record, provision.State, provision.Kind] {
	return statemachinetest.Subject[provision.Record, provision.State, provision.Kind]{
		Table: provision.Table, Start: provision.New, Fill: fill,
		At:     func(rec provision.Record) provision.At { return rec.At },
		Fields: func(rec provision.Record) sm.Fields { return rec.Fields() },
		In:     func(s provision.State) provision.Record { return provision.Record{At: provision.At{State: s}} },
		Holds: func(rec provision.Record, ev sm.Event[provision.Kind], wanted sm.Guard) sm.Guard {
			aligned, e := align(rec, ev, wanted)
			return provision.Guards(&aligned, &e)
		},
		Step: func(rec provision.Record, ev sm.Event[provision.Kind], g sm.Guard, now time.Time) (provision.Record, error) {
			aligned, e := align(rec, ev, g)
			next, err := provision.Step(aligned, e, now)
			if err != nil {
				return rec, err
			}
			return next, nil
		},
	}
}

// Every row is taken by Step, and every law of tables holds.
func TestEveryRowIsTaken(t *testing.T) {
	statemachinetest.Machine(t, subject()).Require(t)
}

// The page of the table, with the cells that were decided by default.
func TestPage(t *testing.T) {
	statemachinetest.Golden(t, "../../docs/lifecycle/provision.md", render.Page(provision.Table))
}
