package netboot_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// expected is written by hand from the requirements, cell by cell, and never
// from the table. A row reads: states, events, guards, outcome, requirement.
// Within a cell the checks stand in the order in which they decide.
var expected = []statemachinetest.Row{
	// Sightings.
	{"absent", "sight", "", "discovered", "BOOT-1"},
	{"* -absent", "sight", "", "stay", "BOOT-1"},
	{"absent enrolling enrolled decommissioned", "evict", "", "INVALID_STATE", "BOOT-16"},
	{"discovered", "evict", "kept", "CONFLICT", "BOOT-16"},
	{"discovered", "evict", "not kept, claimed", "CONFLICT", "BOOT-16"}, // sightings never undo what a person or a holder bound
	{"discovered", "evict", "not kept, not claimed", "absent", "BOOT-16"},

	// Admission, by policy and by hand.
	{"discovered", "admit", "claimed", "stay", "BOOT-15"},
	{"discovered", "admit", "not claimed, not admitted", "stay", "BOOT-19"},
	{"discovered", "admit", "not claimed, admitted, not address", "UNAVAILABLE", "BOOT-7"},
	{"discovered", "admit", "not claimed, admitted, address", "enrolling", "BOOT-7"},
	{"* -discovered", "admit", "", "stay", "BOOT-7"},

	{"absent discovered", "enroll", "claimed", "CONFLICT", "EDGE-17"},
	{"absent discovered", "enroll", "not claimed, not address", "UNAVAILABLE", "EDGE-17"},
	{"absent discovered", "enroll", "not claimed, address", "enrolling", "BOOT-12"},
	{"enrolling", "enroll", "", "stay", "EDGE-19"},
	{"enrolled decommissioned", "enroll", "", "INVALID_STATE", "BOOT-12"},

	// What the machine's registration brings.
	{"enrolling", "complete", "foreign", "stay", "SET-10"},
	{"enrolling", "complete", "not foreign, image", "enrolled", "SET-10"},
	{"enrolling", "complete", "not foreign, not image", "stay", "SET-10"},
	{"* -enrolling", "complete", "", "stay", "SET-10"},
	{"enrolled", "reset", "not foreign", "enrolling", "REG-12"},
	{"enrolled", "reset", "foreign", "stay", "REG-12"},
	{"* -enrolled", "reset", "", "stay", "REG-12"},

	// Out and back.
	{"absent", "decommission", "", "NOT_FOUND", "BOOT-4"},
	{"discovered enrolling enrolled", "decommission", "bound", "CONFLICT", "EDGE-17"},
	{"discovered enrolling enrolled", "decommission", "not bound", "decommissioned", "BOOT-4"},
	{"decommissioned", "decommission", "", "stay", "EDGE-17"},

	{"absent decommissioned", "withdraw", "", "stay", "BOOT-4"},
	{"discovered enrolling enrolled", "withdraw", "foreign", "stay", "REG-13"}, // neither its own nor unbound
	{"discovered enrolling enrolled", "withdraw", "not foreign", "decommissioned", "BOOT-4"},

	{"absent", "reactivate", "", "NOT_FOUND", "BOOT-4"},
	{"decommissioned", "reactivate", "", "discovered", "BOOT-4"},
	{"discovered enrolling enrolled", "reactivate", "", "INVALID_STATE", "BOOT-4"},

	{"absent", "purge", "", "NOT_FOUND", "EDGE-17"},
	{"decommissioned", "purge", "", "absent", "BOOT-12"},
	{"discovered enrolling enrolled", "purge", "", "INVALID_STATE", "EDGE-17"},

	{"absent", "set-mode", "", "NOT_FOUND", "EDGE-17"},
	{"* -absent", "set-mode", "", "stay", "BOOT-5"},

	// Boot entries of the slot's holder.
	{"absent", "set-entry", "not address", "UNAVAILABLE", "EDGE-17"},
	{"absent", "set-entry", "address", "discovered", "EDGE-19"},
	{"discovered enrolling enrolled", "set-entry", "foreign", "CONFLICT", "BOOT-14"},
	{"discovered", "set-entry", "not foreign, unconfirmed", "CONFLICT", "BOOT-15"}, // a candidate that nobody confirmed
	{"discovered", "set-entry", "not foreign, not unconfirmed, not address", "UNAVAILABLE", "EDGE-17"},
	{"discovered", "set-entry", "not foreign, not unconfirmed, address", "stay", "BOOT-14"},
	{"enrolling enrolled", "set-entry", "not foreign, not address", "UNAVAILABLE", "EDGE-17"},
	{"enrolling enrolled", "set-entry", "not foreign, address", "stay", "BOOT-14"},
	{"decommissioned", "set-entry", "", "INVALID_STATE", "EDGE-17"},
	{"*", "end-entry", "", "stay", "BOOT-14"},

	// Which machine a MAC belongs to.
	{"absent", "propose", "", "NOT_FOUND", "BOOT-11"},
	{"discovered", "propose", "bound", "CONFLICT", "BOOT-11"},
	{"discovered", "propose", "not bound, claimed", "CONFLICT", "BOOT-11"},
	{"discovered", "propose", "not bound, not claimed", "stay", "BOOT-11"},
	{"enrolling enrolled decommissioned", "propose", "", "CONFLICT", "BOOT-11"},

	{"*", "dismiss", "", "stay", "BOOT-11"}, // the candidate's machine has a MAC, or is gone

	{"absent", "bind", "", "discovered", "BOOT-17"}, // any MAC that the operator knows
	{"discovered", "bind", "foreign", "CONFLICT", "BOOT-17"},
	{"discovered", "bind", "not foreign", "stay", "BOOT-17"},
	{"enrolling enrolled", "bind", "foreign", "CONFLICT", "BOOT-17"},
	{"enrolling enrolled", "bind", "not foreign, not bound", "CONFLICT", "EDGE-20"},
	{"enrolling enrolled", "bind", "not foreign, bound", "stay", "BOOT-17"},
	{"decommissioned", "bind", "", "INVALID_STATE", "EDGE-20"},
}

func TestTableIsAsExpected(t *testing.T) {
	statemachinetest.Matrix(t, netboot.Table, expected)
}
