package run_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// expected is written by hand from the requirements, cell by cell, and never
// from the table. A row reads: states, events, guards, outcome, requirement.
// Within a cell the checks stand in the order in which they decide.
var expected = []statemachinetest.Row{
	{"*", "request", "retiring", "CONFLICT", "RUN-6"},
	{"idle succeeded failed", "request", "not retiring", "waiting", "RUN-1"},
	{"waiting running", "request", "not retiring", "stay", "RUN-1"}, // the same is consumed, another waits

	{"waiting", "begin", "retiring", "CONFLICT", "RUN-6"},
	{"waiting", "begin", "not retiring, held", "CONFLICT", "MACH-3"},
	{"waiting", "begin", "not retiring, not held, allocated", "CONFLICT", "PROV-13"},
	{"waiting", "begin", "not retiring, not held, not allocated, not serial", "CONFLICT", "RUN-4"},
	{"waiting", "begin", "not retiring, not held, not allocated, serial, not pin", "CONFLICT", "RUN-3"},
	{"waiting", "begin", "not retiring, not held, not allocated, serial, pin", "running", "RUN-1"},
	{"* -waiting", "begin", "", "INVALID_STATE", "RUN-1"},

	{"running", "succeeded", "", "succeeded", "RUN-1"},
	{"running", "failed", "", "failed", "RUN-9"},
	{"* -running", "succeeded failed", "", "CONFLICT", "MACH-4"},
	{"running", "expired", "", "failed", "MACH-5"},
	{"* -running", "expired", "", "INVALID_STATE", "MACH-5"},

	// The engine knows of a run whose record was never written.
	{"running", "found-running found-succeeded found-failed", "", "stay", "RUN-2"},
	// RUN-2 with MACH-7, RUN-3, RUN-4, RUN-9 and PROV-13: only the begin of a
	// request that stands can have been lost, and it needs what begin needs.
	{"idle succeeded failed", "found-running", "", "CONFLICT", "RUN-2"},
	{"waiting", "found-running", "retiring", "CONFLICT", "RUN-6"},
	{"waiting", "found-running", "not retiring, not same", "CONFLICT", "RUN-2"},
	{"waiting", "found-running", "not retiring, same, held", "CONFLICT", "MACH-3"},
	{"waiting", "found-running", "not retiring, same, not held, allocated", "CONFLICT", "PROV-13"},
	{"waiting", "found-running", "not retiring, same, not held, not allocated, not serial", "CONFLICT", "RUN-4"},
	{"waiting", "found-running", "not retiring, same, not held, not allocated, serial, not pin", "CONFLICT", "RUN-3"},
	{"waiting", "found-running", "not retiring, same, not held, not allocated, serial, pin", "running", "RUN-2"},
	{"waiting", "found-succeeded", "same", "succeeded", "RUN-2"},
	{"waiting", "found-failed", "same", "failed", "RUN-2"},
	{"waiting", "found-succeeded found-failed", "not same", "stay", "RUN-2"},
	{"idle succeeded failed", "found-succeeded found-failed", "", "stay", "RUN-2"},

	{"running", "interrupt", "", "failed", "RUN-6"},
	{"waiting", "interrupt", "", "idle", "RUN-6"},
	{"idle succeeded failed", "interrupt", "", "stay", "RUN-6"},

	{"running", "end", "", "CONFLICT", "EDGE-9"},
	{"* -running", "end", "", "idle", "PROV-8"},
}

// expectedRetirement is the same for the steps of the retirement run.
var expectedRetirement = []statemachinetest.Row{
	{"none", "decommission", "not has-serial", "CONFLICT", "RUN-4"},
	{"none", "decommission", "has-serial, slot-held", "interrupting", "RUN-6"},
	{"none", "decommission", "has-serial, not slot-held", "wiping", "RUN-9"},
	{"* -none", "decommission", "", "stay", "RUN-9"},

	{"interrupting", "off-confirmed", "", "wiping", "RUN-6"},
	{"awaiting-off", "off-confirmed", "", "evicting", "RUN-5"},
	{"* -interrupting -awaiting-off", "off-confirmed", "", "INVALID_STATE", "RUN-5"},

	{"wiping", "wiped", "", "awaiting-off", "RUN-9"},
	{"wiping", "wipe-failed", "", "interrupting", "RUN-9"}, // retirement is repeated by itself
	{"* -wiping", "wiped wipe-failed", "", "CONFLICT", "MACH-4"},
	{"evicting", "evicted", "", "cleaning", "RUN-5"},
	{"* -evicting", "evicted", "", "CONFLICT", "MACH-4"},

	{"wiping", "expired", "", "interrupting", "MACH-5"},
	{"evicting", "expired", "", "cleaning", "RUN-5"},
	{"* -wiping -evicting", "expired", "", "INVALID_STATE", "MACH-5"},

	{"cleaning", "cleaned", "", "offline", "RUN-9"},
	{"offline", "cleaned", "", "stay", "RUN-9"}, // it names no epoch, so that a repeat can only be known by where it led
	{"* -cleaning -offline", "cleaned", "", "INVALID_STATE", "RUN-9"},

	{"none", "end", "", "stay", "EDGE-23"},
	{"offline", "end", "", "none", "EDGE-23"},
	{"interrupting wiping awaiting-off evicting cleaning", "end", "", "CONFLICT", "EDGE-23"},
}

func TestTableIsAsExpected(t *testing.T) {
	statemachinetest.Matrix(t, run.Table, expected)
}

func TestRetirementIsAsExpected(t *testing.T) {
	statemachinetest.Matrix(t, run.Retirement, expectedRetirement)
}
