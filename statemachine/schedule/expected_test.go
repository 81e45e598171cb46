package schedule_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
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

func TestEveryRuleIsTaken(t *testing.T) {
	everyRule(t, schedule.Table)
	everyRule(t, schedule.ServiceTable)
}

// everyRule walks every state, event and valuation of the guards.
func everyRule[S, E ~string](t *testing.T, table *statemachine.Table[S, E]) {
	t.Helper()
	taken, walked := make([]int, table.Size().Rules), 0
	for from, on := range statemachinetest.Pairs(table) {
		for g := range table.Valuations(from, on) {
			cell, ok := table.Cell(from, on, g)
			if !ok {
				t.Fatalf("%s, %s, {%s} has no cell", from, on, table.GuardNames(g))
			}
			taken[cell.Rule]++
			walked++
		}
	}
	t.Logf("%s: %d rules decide %d valuations", table.Name(), len(taken), walked)
	for n, rule := range table.Spec().Rules {
		if taken[n] == 0 {
			t.Errorf("%s: rule %d (%s from %v) is never taken", table.Name(), n, rule.On, rule.From)
		}
	}
}
