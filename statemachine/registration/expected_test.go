package registration_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// expected is written by hand from the requirements, cell by cell, and never
// from the table. A row reads: states, events, guards, outcome, requirement.
// Within a cell the checks stand in the order in which they decide.
var expected = []statemachinetest.Row{
	// Anonymous first contact.
	{"absent", "register", "retired", "CONFLICT", "EDGE-4"},
	{"absent", "register", "not retired, window", "approved", "REG-7"},
	{"absent", "register", "not retired, not window", "pending", "REG-2"},
	{"pending", "register", "window, not rearmed", "approved", "REG-7"},
	{"pending", "register", "window, rearmed", "stay", "REG-3"},
	{"pending", "register", "not window", "stay", "REG-4"},
	{"disabled", "register", "retired", "CONFLICT", "EDGE-4"},
	{"disabled", "register", "not retired", "pending", "REG-3"},
	{"approved awaiting_setup setting_up", "register", "", "CONFLICT", "REG-4"},

	{"absent", "announce", "retired", "stay", "EDGE-4"},
	{"absent", "announce", "not retired, not admitted", "ACCESS_DENIED", "REG-10"},
	{"absent", "announce", "not retired, admitted", "awaiting_setup", "REG-8"},
	{"pending approved disabled awaiting_setup", "announce", "", "stay", "REG-8"},
	{"setting_up", "announce", "not other-key", "stay", "REG-8"},
	{"setting_up", "announce", "other-key, consumed", "stay", "SET-17"},
	{"setting_up", "announce", "other-key, not consumed", "awaiting_setup", "SET-17"},

	// A person approves.
	{"absent", "approve", "", "NOT_FOUND", "REG-14"},
	{"pending", "approve", "code-ok", "approved", "REG-14"},
	{"pending", "approve", "not code-ok", "INVALID_INPUT", "REG-14"},
	{"approved", "approve", "repeat", "stay", "EDGE-16"},
	{"approved", "approve", "not repeat", "INVALID_STATE", "REG-14"},
	{"disabled awaiting_setup setting_up", "approve", "", "INVALID_STATE", "REG-14"},

	{"absent", "approve-setup", "", "NOT_FOUND", "SET-3"},
	{"awaiting_setup", "approve-setup", "held", "CONFLICT", "MACH-3"},
	{"awaiting_setup", "approve-setup", "not held, allocated", "CONFLICT", "PROV-13"}, // no verb erases what someone still holds
	{"awaiting_setup", "approve-setup", "not held, not allocated", "setting_up", "SET-1"},
	{"pending approved disabled setting_up", "approve-setup", "", "CONFLICT", "SET-3"},

	// The setup and its end.
	{"absent", "drain", "", "NOT_FOUND", "SET-6"},
	{"setting_up", "drain", "consumed", "CONFLICT", "SET-6"},
	{"setting_up", "drain", "not consumed, overdue", "CONFLICT", "EDGE-6"},
	{"setting_up", "drain", "not consumed, not overdue, other-key", "CONFLICT", "SET-17"},
	{"setting_up", "drain", "not consumed, not overdue, not other-key", "stay", "SET-6"},
	{"pending approved disabled awaiting_setup", "drain", "", "INVALID_STATE", "SET-1"},

	{"setting_up", "setup-complete", "consumed", "approved", "SET-10"},
	{"setting_up", "setup-complete", "not consumed", "CONFLICT", "EDGE-6"},
	{"setting_up", "setup-failed", "", "awaiting_setup", "SET-11"},
	{"* -setting_up", "setup-complete setup-failed", "", "CONFLICT", "SET-9"},
	{"setting_up", "setup-expired", "", "awaiting_setup", "SET-12"},
	{"* -setting_up", "setup-expired", "", "INVALID_STATE", "SET-12"},

	{"approved", "refresh", "", "stay", "REG-15"},
	{"setting_up", "refresh", "consumed", "approved", "SET-13"},
	{"setting_up", "refresh", "not consumed", "CONFLICT", "SET-13"},
	{"absent pending disabled awaiting_setup", "refresh", "", "UNAUTHENTICATED", "REG-15"}, // no bound key lives there

	{"setting_up", "preempt", "", "awaiting_setup", "EDGE-5"},
	{"* -setting_up", "preempt", "", "stay", "EDGE-5"},

	// The key that an agent polls for.
	{"approved", "key-acknowledged", "", "stay", "REG-6"},
	{"* -approved", "key-acknowledged", "", "UNAUTHENTICATED", "EDGE-17"},
	{"*", "key-lapsed", "", "stay", "REG-6"},

	// Operators.
	{"absent", "configure", "", "NOT_FOUND", "REG-16"},
	{"* -absent", "configure", "", "stay", "REG-16"},

	{"absent", "disable", "", "NOT_FOUND", "REG-11"},
	{"pending approved", "disable", "", "disabled", "REG-11"},
	{"disabled", "disable", "", "stay", "REG-11"},
	{"awaiting_setup setting_up", "disable", "", "INVALID_STATE", "REG-11"},

	{"absent", "factory-reset", "", "NOT_FOUND", "REG-12"},
	{"pending awaiting_setup setting_up", "factory-reset", "", "INVALID_STATE", "REG-12"},
	{"approved disabled", "factory-reset", "retired", "CONFLICT", "EDGE-4"},
	{"approved disabled", "factory-reset", "not retired, held", "CONFLICT", "REG-18"},
	{"approved disabled", "factory-reset", "not retired, not held, occupied", "CONFLICT", "REG-18"},
	{"approved disabled", "factory-reset", "not retired, not held, not occupied, not image", "CONFLICT", "REG-18"},
	{"approved disabled", "factory-reset", "not retired, not held, not occupied, image", "awaiting_setup", "REG-12"},

	{"absent", "delete", "", "stay", "REG-13"},
	{"approved setting_up", "delete", "", "CONFLICT", "REG-13"},
	{"pending disabled awaiting_setup", "delete", "anchored", "INVALID_STATE", "REG-13"}, // legal only in PROV-8's states
	{"pending disabled awaiting_setup", "delete", "not anchored, held", "CONFLICT", "EDGE-9"},
	{"pending disabled awaiting_setup", "delete", "not anchored, not held, allocated", "CONFLICT", "REG-13"},
	{"pending disabled awaiting_setup", "delete", "not anchored, not held, not allocated", "absent", "REG-13"},

	// Its node is deleted or retired.
	{"absent disabled", "withdraw", "", "stay", "PROV-20"},
	{"pending approved", "withdraw", "", "disabled", "PROV-20"},
	{"awaiting_setup", "withdraw", "", "absent", "PROV-20"},
	{"setting_up", "withdraw", "", "CONFLICT", "PROV-20"},
}

func TestTableIsAsExpected(t *testing.T) {
	statemachinetest.Matrix(t, registration.Table, expected)
}
