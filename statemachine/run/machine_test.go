package run_test

import (
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/render"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// start is when the tests of this package begin.
var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// fill gives rec a value in every field that its state may hold.
func fill(rec run.Record) run.Record {
	holds := ^run.Table.Drops(rec.State)
	if holds&run.FieldAction != 0 {
		rec.Action = run.Provision
	}
	if holds&run.FieldNext != 0 {
		rec.Next = run.Wipe
	}
	if holds&run.FieldReason != 0 {
		rec.Reason = "no disk"
	}
	return rec
}

// align brings record and event to the guards that the kit wants to hold.
func align(rec run.Record, ev sm.Event[run.Kind], g sm.Guard) (run.Record, run.Event) {
	e := run.Event{Event: ev, Facts: g, Action: run.Provision, Why: "no boot"}
	if g&run.Same == 0 {
		e.Action = run.Attest
	}
	if g&run.Serial != 0 {
		e.Serial = "S1"
	}
	if rec.Retire.State = run.None; g&run.Retiring != 0 {
		rec.Retire.State = run.Wiping
	}
	if e.Within == 0 {
		e.Within = run.WipeDeadline // the table's; an action's own is TestDeadlines' business
	}
	return rec, e
}

func subject() statemachinetest.Subject[run.Record, run.State, run.Kind] {
	return statemachinetest.Subject[run.Record, run.State, run.Kind]{
		Table: run.Table, Start: run.New, Fill: fill,
		At:     func(rec run.Record) run.At { return rec.At },
		Fields: func(rec run.Record) sm.Fields { return rec.Fields() },
		In:     func(s run.State) run.Record { return run.Record{At: run.At{State: s}} },
		Holds: func(rec run.Record, ev sm.Event[run.Kind], wanted sm.Guard) sm.Guard {
			aligned, e := align(rec, ev, wanted)
			return run.Guards(&aligned, &e)
		},
		Step: func(rec run.Record, ev sm.Event[run.Kind], g sm.Guard, now time.Time) (run.Record, error) {
			aligned, e := align(rec, ev, g)
			next, err := run.Step(aligned, e, now)
			if err != nil {
				return rec, err
			}
			if next.Retire = rec.Retire; next.State == run.Idle {
				next.Serial = "" // no retirement is there to keep it
			}
			return next, nil
		},
	}
}

// retirement is the subject of the other table.
func retirement() statemachinetest.Subject[run.Record, run.RetireStep, run.RetireKind] {
	return statemachinetest.Subject[run.Record, run.RetireStep, run.RetireKind]{
		Table: run.Retirement, Start: run.New,
		At: func(rec run.Record) sm.At[run.RetireStep, run.RetireKind] { return rec.Retire },
		In: func(s run.RetireStep) run.Record {
			return run.Record{At: run.At{State: run.Idle}, Retire: sm.At[run.RetireStep, run.RetireKind]{State: s}}
		},
		Step: func(rec run.Record, ev sm.Event[run.RetireKind], g sm.Guard, now time.Time) (run.Record, error) {
			e := run.RetireEvent{Event: ev, Facts: g}
			if g&run.HasSerial != 0 {
				e.Serial = "S1"
			}
			next, err := run.StepRetire(rec, e, now)
			if err == nil && ev.Within > 0 && next.Retire.State == run.Evicting && rec.Retire.State == run.AwaitingOff {
				next.Retire.Deadline = now.Add(ev.Within) // the kit expects it; TestEvictingIsFixed does not
			}
			return next, err
		},
	}
}

// Every row is taken by Step, and every law of tables holds.
func TestEveryRowIsTaken(t *testing.T) {
	statemachinetest.Machine(t, subject()).Require(t)
}

func TestEveryRowOfRetirementIsTaken(t *testing.T) {
	statemachinetest.Machine(t, retirement()).Require(t)
}

// The pages of the tables, with the cells that were decided by default.
func TestPage(t *testing.T) {
	statemachinetest.Golden(t, "../../docs/lifecycle/run.md", render.Page(run.Table))
	statemachinetest.Golden(t, "../../docs/lifecycle/retirement.md", render.Page(run.Retirement))
}
