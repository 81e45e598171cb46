package provision_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// expected is written by hand from the requirements, cell by cell, and never
// from the table. A row reads: states, events, guards, outcome, requirement.
// Within a cell the checks stand in the order in which they decide.
var expected = []statemachinetest.Row{
	{"absent", "enroll", "held", "CONFLICT", "MACH-3"},
	{"absent", "enroll", "not held", "enrolling", "PROV-1"},
	{"* -absent", "enroll", "", "CONFLICT", "PROV-17"},

	// Metal verbs are absent to nodes without the axis.
	{"absent", "manage inspect provide deploy undeploy rescue unrescue abort recover retire", "", "NOT_FOUND", "PROV-14"},

	{"ready", "manage inspect provide deploy", "held", "CONFLICT", "MACH-3"},
	{"ready", "manage inspect provide", "not held, tenant", "CONFLICT", "PROV-13"},
	{"ready", "deploy", "not held, tenant", "CONFLICT", "EDGE-2"},
	{"ready", "manage", "not held, not tenant", "enrolling", "PROV-1"},
	{"ready", "inspect", "not held, not tenant", "inspecting", "PROV-1"},
	{"ready", "provide", "not held, not tenant", "commissioning", "PROV-1"},
	{"ready", "deploy", "not held, not tenant", "deploying", "PROV-1"},
	{"* -absent -ready", "manage inspect provide deploy", "", "INVALID_STATE", "PROV-1"},

	{"deployed rescue", "undeploy", "held", "CONFLICT", "MACH-3"},
	{"deployed rescue", "undeploy", "not held, tenant", "CONFLICT", "PROV-13"},
	{"deployed rescue", "undeploy", "not held, not tenant, not capable", "UNSUPPORTED", "PROV-15"},
	{"deployed rescue", "undeploy", "not held, not tenant, capable", "releasing", "PROV-1"},
	{"* -absent -deployed -rescue", "undeploy", "", "INVALID_STATE", "PROV-1"},

	{"deployed", "rescue", "held", "CONFLICT", "MACH-3"},
	{"deployed", "rescue", "not held, not capable", "UNSUPPORTED", "PROV-15"},
	{"deployed", "rescue", "not held, capable", "rescue", "PROV-1"},
	{"* -absent -deployed", "rescue", "", "INVALID_STATE", "PROV-1"},

	{"rescue", "unrescue", "returning", "stay", "PROV-12"},
	{"rescue", "unrescue", "not returning, booting", "CONFLICT", "PROV-12"},
	{"rescue", "unrescue", "not returning, not booting, held", "CONFLICT", "MACH-3"},
	{"rescue", "unrescue", "not returning, not booting, not held, not engine", "INVALID_CONFIG", "PROV-12"},
	{"rescue", "unrescue", "not returning, not booting, not held, engine", "stay", "PROV-12"},
	{"* -absent -rescue", "unrescue", "", "INVALID_STATE", "PROV-1"},

	{"enrolling inspecting commissioning deploying releasing", "abort", "", "failed", "PROV-11"},
	{"adopting adopted ready deployed rescue failed retiring retired", "abort", "", "INVALID_STATE", "PROV-1"},

	{"failed", "recover", "held", "CONFLICT", "MACH-3"},
	{"failed", "recover", "not held, from-adopting", "adopting", "PROV-3"},
	{"failed", "recover", "not held, from-enrolling", "enrolling", "PROV-3"},
	{"failed", "recover", "not held, from-building", "enrolling", "PROV-3"},
	{"failed", "recover", "not held, from-disks, tenant", "CONFLICT", "EDGE-2"},
	{"failed", "recover", "not held, from-disks, not tenant, not capable", "UNSUPPORTED", "PROV-15"}, // EDGE-21's quick wipe needs the ramdisk
	{"failed", "recover", "not held, from-disks, not tenant, capable", "releasing", "PROV-3"},
	{"failed", "recover", "not held, from-rescue", "deployed", "PROV-3"},
	{"failed", "recover", "not held, from-retiring, open", "CONFLICT", "EDGE-2"},
	{"failed", "recover", "not held, from-retiring, not open", "retiring", "PROV-3"},
	{"* -absent -failed", "recover", "", "INVALID_STATE", "PROV-1"},

	// Retirement takes the machine over from any holder.
	{"adopting adopted enrolling ready failed", "retire", "open", "CONFLICT", "PROV-13"},
	{"adopting adopted enrolling ready failed", "retire", "not open", "retiring", "RUN-6"},
	{"inspecting commissioning deploying deployed releasing rescue retiring retired", "retire", "", "INVALID_STATE", "PROV-1"},

	{"absent", "adopt", "", "NOT_FOUND", "PROV-1"},
	{"adopting", "adopt", "held", "CONFLICT", "EDGE-21"},
	{"adopted", "adopt", "held", "CONFLICT", "MACH-3"},
	{"adopting", "adopt", "not held", "stay", "PROV-2"},
	{"adopted", "adopt", "not held", "adopting", "PROV-1"},
	{"* -absent -adopting -adopted", "adopt", "", "INVALID_STATE", "PROV-1"},

	{"inspecting commissioning deploying releasing retiring", "power", "", "INVALID_STATE", "PROV-7"},
	{"adopting adopted enrolling ready deployed failed retired", "power", "held", "CONFLICT", "PROV-7"},
	{"adopting adopted enrolling ready deployed failed retired", "power", "not held, not serviced", "INVALID_STATE", "PROV-7"},
	{"adopting adopted enrolling ready deployed failed retired", "power", "not held, serviced", "stay", "PROV-7"},
	{"rescue", "power", "booting", "INVALID_STATE", "PROV-7"}, // illegal during a rescue boot
	{"rescue", "power", "not booting, returning", "INVALID_STATE", "PROV-7"},
	{"rescue", "power", "not booting, not returning, held", "CONFLICT", "PROV-7"},
	{"rescue", "power", "not booting, not returning, not held, not serviced", "INVALID_STATE", "PROV-7"},
	{"rescue", "power", "not booting, not returning, not held, serviced", "stay", "PROV-7"},
	{"absent", "power", "held", "CONFLICT", "PROV-7"},
	{"absent", "power", "not held, not serviced", "INVALID_STATE", "PROV-7"},
	{"absent", "power", "not held, serviced", "stay", "PROV-7"},

	{"absent", "delete", "", "stay", "PROV-8"},
	{"adopted", "delete", "not cordoned", "INVALID_STATE", "PROV-8"},
	{"adopted", "delete", "cordoned, other-held", "CONFLICT", "EDGE-9"},
	{"adopted", "delete", "cordoned, not other-held, open", "CONFLICT", "PROV-8"},
	{"adopted", "delete", "cordoned, not other-held, not open", "absent", "PROV-8"},
	{"adopting enrolling retired", "delete", "other-held", "CONFLICT", "EDGE-9"},
	{"adopting enrolling retired", "delete", "not other-held, open", "CONFLICT", "PROV-8"},
	{"adopting enrolling retired", "delete", "not other-held, not open", "absent", "PROV-8"},
	{"failed", "delete", "from-adopting, other-held", "CONFLICT", "EDGE-9"},
	{"failed", "delete", "from-adopting, not other-held, open", "CONFLICT", "PROV-8"},
	{"failed", "delete", "from-adopting, not other-held, not open", "absent", "PROV-8"},
	{"failed", "delete", "from-enrolling, other-held", "CONFLICT", "EDGE-9"},
	{"failed", "delete", "from-enrolling, not other-held, open", "CONFLICT", "PROV-8"},
	{"failed", "delete", "from-enrolling, not other-held, not open", "absent", "PROV-8"},
	{"failed", "delete", "from-building", "INVALID_STATE", "PROV-8"},
	{"failed", "delete", "from-disks", "INVALID_STATE", "PROV-8"},
	{"failed", "delete", "from-rescue", "INVALID_STATE", "PROV-8"},
	{"failed", "delete", "from-retiring", "INVALID_STATE", "PROV-8"},
	{"inspecting commissioning ready deploying deployed releasing rescue retiring", "delete", "", "INVALID_STATE", "PROV-8"},

	// What workflows report.
	{"adopting", "succeeded", "", "adopted", "PROV-2"},
	{"enrolling", "succeeded", "", "inspecting", "PROV-2"},
	{"inspecting", "succeeded", "", "commissioning", "PROV-2"},
	{"commissioning", "succeeded", "agents, not proof", "failed", "EDGE-10"},
	{"commissioning", "succeeded", "agents, proof", "ready", "EDGE-10"},
	{"commissioning", "succeeded", "not agents", "ready", "EDGE-10"},
	{"deploying", "succeeded", "", "deployed", "PROV-2"},
	{"releasing", "succeeded", "no-wipe", "ready", "PROV-2"},
	{"releasing", "succeeded", "not no-wipe, proof", "ready", "PROV-2"},
	{"releasing", "succeeded", "not no-wipe, not proof", "failed", "PROV-2"},
	{"rescue", "succeeded", "returning", "deployed", "PROV-12"},
	{"rescue", "succeeded", "not returning", "stay", "PROV-12"},
	{"retiring", "succeeded", "not off", "CONFLICT", "BMC-2"},
	{"retiring", "succeeded", "off, proof", "retired", "PROV-2"},
	{"retiring", "succeeded", "off, not proof, not agents", "retired", "PROV-10"},
	{"retiring", "succeeded", "off, not proof, agents", "failed", "EDGE-10"},

	{"adopting", "failed", "", "stay", "PROV-2"},
	{"enrolling inspecting commissioning deploying releasing rescue retiring", "failed", "", "failed", "PROV-2"},
	{"absent adopted ready deployed failed retired", "succeeded failed", "", "CONFLICT", "MACH-4"},

	{"commissioning releasing retiring", "wiped", "", "stay", "PROV-19"},
	{"* -commissioning -releasing -retiring", "wiped", "", "CONFLICT", "PROV-19"},

	{"adopting enrolling inspecting commissioning deploying releasing rescue retiring", "expired", "", "failed", "PROV-2"},
	{"absent adopted ready deployed failed retired", "expired", "", "INVALID_STATE", "MACH-4"},

	// What the other axes bring.
	{"absent", "join", "not held", "adopting", "MACH-2"},
	{"absent", "join", "held", "adopting", "EDGE-21"}, // its acceptance run waits for the slot
	{"retired", "join", "", "CONFLICT", "EDGE-4"},
	{"* -absent -retired", "join", "", "stay", "MACH-2"},

	{"adopting", "begin", "held", "CONFLICT", "MACH-3"},
	{"adopting", "begin", "not held", "stay", "EDGE-21"},
	{"* -adopting", "begin", "", "INVALID_STATE", "EDGE-21"},

	{"*", "off-confirmed", "", "stay", "EDGE-5"},

	{"absent", "end", "", "stay", "REG-12"},
	{"enrolling inspecting commissioning deploying releasing retiring", "end", "", "CONFLICT", "REG-18"},
	{"adopting rescue", "end", "held", "CONFLICT", "REG-18"},
	{"adopting rescue", "end", "not held", "absent", "REG-12"},
	{"adopted ready deployed failed", "end", "", "absent", "REG-12"},
	{"retired", "end", "", "CONFLICT", "EDGE-4"},
}

func TestTableIsAsExpected(t *testing.T) {
	statemachinetest.Matrix(t, provision.Table, expected)
}
