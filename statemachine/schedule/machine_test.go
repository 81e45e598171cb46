package schedule_test

import (
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/render"
	"github.com/ingotmetal/ingot/statemachine/schedule"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// forced is an ask for forced release.
var forced = schedule.Force{By: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}

func subject() statemachinetest.Subject[schedule.Record, schedule.State, schedule.Kind] {
	return statemachinetest.Subject[schedule.Record, schedule.State, schedule.Kind]{
		Table: schedule.Table, Start: schedule.New,
		At: func(rec schedule.Record) sm.At[schedule.State, schedule.Kind] {
			return sm.At[schedule.State, schedule.Kind]{State: rec.State}
		},
		Fields: func(rec schedule.Record) sm.Fields { return rec.Fields() },
		Fill: func(rec schedule.Record) schedule.Record {
			if schedule.Table.Drops(rec.State)&schedule.FieldForce == 0 {
				rec.Force = forced
			}
			return rec
		},
		In: func(s schedule.State) schedule.Record { return schedule.Record{State: s} },
		Step: func(rec schedule.Record, ev sm.Event[schedule.Kind], g sm.Guard, _ time.Time) (schedule.Record, error) {
			next, _, err := schedule.Step(rec, schedule.Event{On: ev.On, Live: g&schedule.Live != 0, Force: forced})
			return next, err
		},
	}
}

func service() statemachinetest.Subject[schedule.Record, schedule.Service, schedule.ServiceKind] {
	type at = sm.At[schedule.Service, schedule.ServiceKind]
	return statemachinetest.Subject[schedule.Record, schedule.Service, schedule.ServiceKind]{
		Table: schedule.ServiceTable, Start: schedule.New,
		At: func(rec schedule.Record) at { return at{State: rec.Service} },
		In: func(s schedule.Service) schedule.Record { return schedule.Record{Service: s} },
		Step: func(rec schedule.Record, ev sm.Event[schedule.ServiceKind], _ sm.Guard, _ time.Time) (schedule.Record, error) {
			next, _, err := schedule.StepService(rec, ev.On, "a fan died")
			return next, err
		},
	}
}

// Every row is taken by Step, and every law of tables holds.
func TestEveryRowIsTaken(t *testing.T) {
	statemachinetest.Machine(t, subject()).Require(t)
}

func TestEveryRowOfServiceIsTaken(t *testing.T) {
	statemachinetest.Machine(t, service()).Require(t)
}

// The pages of the tables, with the cells that were decided by default.
func TestPage(t *testing.T) {
	statemachinetest.Golden(t, "../../docs/lifecycle/schedule.md", render.Page(schedule.Table))
	statemachinetest.Golden(t, "../../docs/lifecycle/maintenance.md", render.Page(schedule.ServiceTable))
}
