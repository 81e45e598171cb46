package schedule_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/schedule"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// expected is written by hand from the requirements, cell by cell, and never
// from the table. A row reads: states, events, guards, outcome, requirement.
var expected = []statemachinetest.Row{
	{"open", "cordon", "", "cordoned", "SCHED-1"},
	{"cordoned draining", "cordon", "", "stay", "SCHED-1"},
	{"cordoned draining", "uncordon", "", "open", "SCHED-1"},
	{"open", "uncordon", "", "stay", "SCHED-1"},

	{"open cordoned", "drain", "", "draining", "SCHED-2"},
	{"draining", "drain", "", "stay", "SCHED-2"},
	{"draining", "drained", "live", "CONFLICT", "SCHED-2"},
	{"draining", "drained", "not live", "cordoned", "SCHED-2"},
	{"open cordoned", "drained", "", "INVALID_STATE", "SCHED-2"},

	{"draining", "reset", "", "cordoned", "EDGE-3"},
	{"open cordoned", "reset", "", "stay", "EDGE-3"},
}

// expectedService is the same for maintenance.
var expectedService = []statemachinetest.Row{
	{"in-service", "set-maintenance", "", "maintenance", "SCHED-4"},
	{"maintenance", "set-maintenance", "", "stay", "EDGE-25"},
	{"maintenance", "clear-maintenance", "", "in-service", "SCHED-4"},
	{"in-service", "clear-maintenance", "", "stay", "SCHED-4"},
	{"in-service", "fail", "", "maintenance", "PROV-2"},
	{"maintenance", "fail", "", "stay", "PROV-2"},
	{"in-service", "escalate", "", "maintenance", "SCHED-3"},
	{"maintenance", "escalate", "", "stay", "SCHED-3"},
}

func TestTableIsAsExpected(t *testing.T) {
	statemachinetest.Matrix(t, schedule.Table, expected)
}

func TestServiceTableIsAsExpected(t *testing.T) {
	statemachinetest.Matrix(t, schedule.ServiceTable, expectedService)
}
