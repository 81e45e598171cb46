package registration_test

import (
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/render"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// start is when the tests of this package begin.
var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// The secrets and facts that events bring.
var (
	code     = registration.Hash{1}
	poll     = registration.Hash{2}
	agentKey = registration.Hash{3}
	otherKey = registration.Hash{4}
	bound    = registration.Key{ID: "key-1", Hash: registration.Hash{5}, Scope: "agent"}
	tickets  = [3]registration.Key{{ID: "t1"}, {ID: "t2"}, {ID: "t3"}}
	plan     = registration.Plan{Digest: registration.Hash{6}, Hostname: "rack1-7", Approver: "ada", Serials: []string{"S1"}}
	sysinfo  = registration.Inventory{Digest: registration.Hash{7}, Serials: []string{"S1"}}
	server   = registration.ServerID{8, 15: 8}
)

// bring is an event of kind on with everything that any event brings.
func bring(on registration.Kind, next uint64) registration.Event {
	return registration.Event{
		Event:  sm.Event[registration.Kind]{On: on, Next: next},
		Server: server, Inventory: sysinfo,
		Code: registration.Expiring{Hash: code, Until: start.Add(registration.CodeLife)},
		Poll: registration.Expiring{Hash: poll, Until: start.Add(time.Hour)},
		By:   "ada", Bound: bound, Waiting: "waiting", Tickets: tickets, Sealed: "bundle", AgentKey: agentKey,
		Plan: plan, Image: "pi1", Why: "no disk",
		Settings: registration.Settings{Labels: map[string]string{"rack": "1"}, Reservoir: 1 << 30, RootHash: "$y$"},
	}
}

// fill gives rec a value in every field that its state may hold, but for the
// marks of a re-armed row and of a drained bundle, which decide.
func fill(rec registration.Record) registration.Record {
	far, holds := start.Add(1000*time.Hour), ^registration.Table.Drops(rec.State)
	for _, f := range []struct {
		field sm.Fields
		set   func()
	}{
		{registration.FieldCode, func() { rec.Code = registration.Expiring{Hash: code, Until: far} }},
		{registration.FieldPoll, func() { rec.Poll = registration.Expiring{Hash: poll, Until: far} }},
		{registration.FieldWaiting, func() { rec.Waiting = "waiting" }},
		{registration.FieldSpent, func() {
			rec.Spent = registration.Spent{Expiring: registration.Expiring{Hash: code, Until: far}, By: "ada"}
		}},
		{registration.FieldBound, func() { rec.Bound = bound }},
		{registration.FieldTickets, func() { rec.Tickets = tickets }},
		{registration.FieldBundle, func() { rec.Bundle.Sealed = "bundle" }},
		{registration.FieldAgentKey, func() { rec.AgentKey = agentKey }},
		{registration.FieldPlan, func() { rec.Plan = plan }},
		{registration.FieldImage, func() { rec.Image = "pi1" }},
		{registration.FieldApproved, func() { rec.ApprovedAt = start }},
		{registration.FieldLastError, func() { rec.LastError = "no disk" }},
	} {
		if holds&f.field != 0 {
			f.set()
		}
	}
	return rec
}

// align brings row, event and clock to the guards that the kit wants to hold.
func align(rec registration.Record, ev sm.Event[registration.Kind], g sm.Guard, now time.Time) (registration.Record, registration.Event, time.Time) {
	e := bring(ev.On, ev.Next)
	e.Event, e.Facts = ev, g
	switch {
	case rec.State == registration.Pending && ev.On == registration.Register:
		rec.Rearmed = g&registration.Rearmed != 0
	case rec.Before == sm.Decided[registration.Kind]{Epoch: ev.Epoch, By: ev.On}: // a repeat finds what it left
	case rec.State == registration.SettingUp:
		rec.Bundle.Consumed = g&registration.Consumed != 0
	}
	right := map[registration.State]sm.Guard{registration.Pending: registration.CodeOK, registration.Approved: registration.Repeat}
	if ev.On == registration.Approve && g&right[rec.State] == 0 {
		e.Code.Hash = registration.Hash{99}
	}
	if e.AgentKey = rec.AgentKey; g&registration.OtherKey != 0 {
		e.AgentKey = otherKey
	}
	if ev.On == registration.Drain {
		if now = rec.Deadline; g&registration.Overdue == 0 {
			now = rec.Deadline.Add(-1)
		}
	}
	return rec, e, now
}

func subject() statemachinetest.Subject[registration.Record, registration.State, registration.Kind] {
	return statemachinetest.Subject[registration.Record, registration.State, registration.Kind]{
		Table: registration.Table, Start: registration.New, Fill: fill,
		At:     func(rec registration.Record) registration.At { return rec.At },
		Fields: func(rec registration.Record) sm.Fields { return rec.Fields() },
		In: func(s registration.State) registration.Record {
			return registration.Record{At: registration.At{State: s}}
		},
		Step: func(rec registration.Record, ev sm.Event[registration.Kind], g sm.Guard, now time.Time) (registration.Record, error) {
			aligned, e, at := align(rec, ev, g, now)
			next, err := registration.Step(aligned, e, at)
			if err != nil {
				return rec, err
			}
			if ev.Within > 0 && next.Epoch != rec.Epoch && next.State == registration.SettingUp {
				next.Deadline = now.Add(ev.Within) // the kit expects it; TestSetupDeadlineIsFixed does not
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
	statemachinetest.Golden(t, "../../docs/lifecycle/registration.md", render.Page(registration.Table))
}
