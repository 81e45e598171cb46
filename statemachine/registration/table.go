package registration

import (
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// SetupDeadline is how long a setup may take; it is fixed (MACH-5, SET-5), since
// the operator who approved it was told when it ends.
const SetupDeadline = 45 * time.Minute

type (
	state = sm.State[State, Kind]
	rule  = sm.Rule[State, Kind]
	when  = sm.When
)

// Table is the registration axis. It is the authority on what is legal. An event
// that a state does not name falls to the event's last rule; docs/lifecycle has
// the list of those cells for review.
var Table = sm.Must(sm.Spec[State, Kind]{
	Name: "registration", Start: sm.In(Absent),
	Guards: []string{"window", "rearmed", "admitted", "retired", "code-ok", "repeat", "other-key", "consumed",
		"overdue", "held", "occupied", "image", "anchored", "allocated"},
	Fields: []string{"claim code", "poll token", "waiting key", "spent code", "re-armed mark", "bound key", "ticket keys",
		"bundle", "agent key", "plan", "assigned image", "approved_at", "last_setup_error"},
	Reports: []Kind{Drain, SetupComplete, SetupFailed},
	States: []state{
		{Name: Absent, Kind: sm.Absent, Means: "no row"},
		// What a state may not hold is cleared when it is entered. So no secret outlives
		// its purpose by an oversight: a code ends with pending, a bundle with its setup.
		{Name: Pending, Kind: sm.Stable, Holds: FieldCode | FieldPoll | FieldRearmed,
			Means: "an agent waits for a person with its claim code"},
		{Name: Approved, Kind: sm.Stable, Holds: FieldPoll | FieldWaiting | FieldSpent | FieldBound | FieldTickets | FieldPlan | FieldImage | FieldApproved,
			Means: "a member of the site, with a bound key"},
		// For audit, a disabled row still says what was installed and since when.
		{Name: Disabled, Kind: sm.Stable, Holds: FieldPlan | FieldImage | FieldApproved,
			Means: "shut out; kept for audit, every key revoked"},
		{Name: AwaitingSetup, Kind: sm.Stable, Holds: FieldAgentKey | FieldLastError,
			Means: "announced from the ramdisk; nothing of it is trusted or written"},
		// The one state in which a registration lets disks be written (SET-1, MACH-7).
		{Name: SettingUp, Kind: sm.InFlight, Deadline: SetupDeadline, Expire: SetupExpired, Drives: sm.Power | sm.BootOrder | sm.Disks,
			Holds: FieldBound | FieldTickets | FieldBundle | FieldAgentKey | FieldPlan | FieldImage,
			Means: "an operator approved the layout; the install program runs"},
	},
	Rules: []rule{
		// Anonymous calls: whoever reaches the admin segment can make them. They may
		// create, and replace what nobody approved yet; they never touch a member.
		{On: Register, From: sm.In(Absent), When: when{If: Window, Not: Retired}, To: Approved, Why: "an auto-approve window had a slot", Req: "REG-7"},
		{On: Register, From: sm.In(Absent), When: when{Not: Window | Retired}, To: Pending, Why: "a person with the claim code decides", Req: "REG-2"},
		{On: Register, From: sm.In(Absent, Disabled), When: when{If: Retired}, Refuse: sm.Conflict, Why: "its node is retired; delete the node first", Req: "EDGE-4"},
		{On: Register, From: sm.In(Pending), When: when{If: Window, Not: Rearmed}, To: Approved, Why: "an auto-approve window had a slot", Req: "REG-7"},
		{On: Register, From: sm.In(Pending), When: when{Not: Window}, Stay: true, Why: "sysinfo, code and token are replaced", Req: "REG-4"},
		{On: Register, From: sm.In(Pending), When: when{If: Window | Rearmed}, Stay: true, Why: "a re-armed row needs its code", Req: "REG-3"},
		{On: Register, From: sm.In(Disabled), When: when{Not: Retired}, To: Pending, Forget: true, Why: "re-armed; no window takes it", Req: "REG-3"},
		{On: Register, Refuse: sm.Conflict, Why: "an anonymous call never touches a live machine's inventory or key", Req: "REG-4"},

		// An announce says nothing of what became of it but when policy denies it: a
		// booter repeats it for ever, and success keeps it quiet (REG-8, EDGE-18).
		{On: Announce, From: sm.In(Absent), When: when{If: Admitted, Not: Retired}, To: AwaitingSetup, Req: "REG-8"},
		{On: Announce, From: sm.In(Absent), When: when{Not: Admitted | Retired}, Refuse: sm.Denied, Why: "auto-enroll is off and no enroll window has a slot; open one", Req: "REG-10"},
		{On: Announce, From: sm.In(Absent), When: when{If: Retired}, Stay: true, Why: "its node is retired", Req: "EDGE-4"},
		// Another key means another agent than the one approved. Before the drain it
		// gets nothing; after it the secrets are out, and ending the setup would only
		// strand the machine that is being installed.
		{On: Announce, From: sm.In(SettingUp), When: when{If: OtherKey, Not: Consumed}, To: AwaitingSetup, Ends: SetupFailed, Why: "another agent key than the approved one", Req: "SET-17"},
		{On: Announce, From: sm.In(SettingUp), When: when{Not: OtherKey}, Stay: true, Req: "REG-8"},
		{On: Announce, From: sm.In(SettingUp), When: when{If: OtherKey | Consumed}, Stay: true, Why: "the bundle is out; the deadline or a report decides", Req: "SET-17"},
		{On: Announce, Stay: true, Why: "only a row that awaits setup is refreshed; the answer is success", Req: "REG-8"},

		// Wrong, expired and void codes get one answer, so that it is no oracle.
		{On: Approve, From: sm.In(Pending), When: when{If: CodeOK}, To: Approved, Req: "REG-14"},
		{On: Approve, From: sm.In(Pending), When: when{Not: CodeOK}, Refuse: sm.InvalidInput, Why: "the claim code is wrong, expired or void; read it off the machine, or register again for a new one", Req: "REG-14"},
		{On: Approve, From: sm.In(Approved), When: when{If: Repeat}, Stay: true, Why: "the code that just approved, from the same operator", Req: "EDGE-16"},
		{On: Approve, From: sm.In(Approved), When: when{Not: Repeat}, Refuse: sm.InvalidState, Why: "it is approved already", Req: "REG-14"},
		{On: Approve, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no registration row", Req: "REG-14"},
		{On: Approve, Refuse: sm.InvalidState, Why: "only a pending row is approved by its code", Req: "REG-14"},

		// Any other state is a conflict before any other work (SET-3).
		{On: ApproveSetup, From: sm.In(AwaitingSetup), When: when{Not: Held | Allocated}, To: SettingUp, Req: "SET-1"},
		{On: ApproveSetup, From: sm.In(AwaitingSetup), When: when{If: Held}, Refuse: sm.Conflict, Why: "another attempt holds the machine", Req: "MACH-3"},
		{On: ApproveSetup, From: sm.In(AwaitingSetup), When: when{If: Allocated, Not: Held}, Refuse: sm.Conflict, Why: "an allocation is open, and a setup erases", Req: "PROV-13"},
		{On: ApproveSetup, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no registration row", Req: "SET-3"},
		{On: ApproveSetup, Refuse: sm.Conflict, Why: "only a row that awaits setup is set up, so a replay never restarts an install", Req: "SET-3"},

		// The report with the most refusals: it hands out keys. It ends nothing, so its
		// repeat is no repeat of a decision but a second drain.
		{On: Drain, From: sm.In(SettingUp), When: when{Not: Consumed | Overdue | OtherKey}, Stay: true, Req: "SET-6"},
		{On: Drain, From: sm.In(SettingUp), When: when{If: Consumed}, Refuse: sm.Conflict, Why: "the bundle was drained; a lost answer is not given again", Req: "SET-6"},
		{On: Drain, From: sm.In(SettingUp), When: when{If: Overdue, Not: Consumed}, Refuse: sm.Conflict, Why: "the setup is past its deadline", Req: "EDGE-6"},
		{On: Drain, From: sm.In(SettingUp), When: when{If: OtherKey, Not: Consumed | Overdue}, Refuse: sm.Conflict, Why: "the session did not announce the approved agent key", Req: "SET-17"},
		{On: Drain, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no registration row", Req: "SET-6"},
		{On: Drain, Refuse: sm.InvalidState, Why: "only setting_up has a bundle", Req: "SET-1"},

		// Who never got the bundle cannot have installed with it.
		{On: SetupComplete, From: sm.In(SettingUp), When: when{If: Consumed}, To: Approved, Req: "SET-10"},
		{On: SetupComplete, From: sm.In(SettingUp), When: when{Not: Consumed}, Refuse: sm.Conflict, Why: "the bundle was never drained", Req: "EDGE-6"},
		{On: SetupComplete, Refuse: sm.Conflict, Why: "no setup is in progress; stop this one, its reports are void", Req: "SET-9"},
		{On: SetupFailed, From: sm.In(SettingUp), To: AwaitingSetup, Req: "SET-11"},
		{On: SetupFailed, Refuse: sm.Conflict, Why: "no setup is in progress; stop this one, its reports are void", Req: "SET-9"},
		// The way of setup-failed, whatever crashed (SET-12).
		{On: SetupExpired, From: sm.In(SettingUp), To: AwaitingSetup, Ends: SetupFailed, Why: "the deadline passed", Req: "SET-12"},
		{On: SetupExpired, Refuse: sm.InvalidState, Why: "no setup is in progress", Req: "SET-12"},

		// The bound key proves that the install worked: its report may have been lost
		// with the booter, and the machine is promoted all the same.
		{On: Refresh, From: sm.In(Approved), Stay: true, Req: "REG-15"},
		{On: Refresh, From: sm.In(SettingUp), When: when{If: Consumed}, To: Approved, Ends: SetupComplete, Why: "the installed agent holds the bound key", Req: "SET-13"},
		{On: Refresh, From: sm.In(SettingUp), When: when{Not: Consumed}, Refuse: sm.Conflict, Why: "the bundle was never drained", Req: "SET-13"},
		{On: Refresh, Refuse: sm.Unauthenticated, Why: "the row has no bound key; register, and have that approved", Req: "REG-15"},

		// Only an approved row has a key to poll for. Elsewhere the answer is 401, as
		// for a token that never was.
		{On: Acknowledge, From: sm.In(Approved), Stay: true, Req: "REG-6"},
		{On: Acknowledge, Refuse: sm.Unauthenticated, Why: "the poll token is dead; disable the machine and register again", Req: "EDGE-17"},
		{On: Lapse, Stay: true, Why: "a key that nobody took is revoked", Req: "REG-6"},

		{On: Configure, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no registration row", Req: "REG-16"},
		{On: Configure, Stay: true, Req: "REG-16"},

		// The attempt's memory stays: a report that comes again to a disabled row is
		// still known.
		{On: Disable, From: sm.In(Pending, Approved), To: Disabled, Req: "REG-11"},
		{On: Disable, From: sm.In(Disabled), Stay: true, Req: "REG-11"},
		{On: Disable, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no registration row", Req: "REG-11"},
		{On: Disable, Refuse: sm.InvalidState, Why: "a machine before approval has nothing to disable; delete it, or let the setup end", Req: "REG-11"},

		// Reset, re-arm and delete begin a new life: Forget makes every report of the
		// old one a conflict (EDGE-7). The refusals name the hardest obstacle first.
		{On: FactoryReset, From: sm.In(Approved, Disabled), When: when{If: Image, Not: Retired | Held | Occupied}, To: AwaitingSetup, Forget: true, Req: "REG-12"},
		{On: FactoryReset, From: sm.In(Approved, Disabled), When: when{If: Retired}, Refuse: sm.Conflict, Why: "its node is retired; delete the node first", Req: "EDGE-4"},
		{On: FactoryReset, From: sm.In(Approved, Disabled), When: when{If: Held, Not: Retired}, Refuse: sm.Conflict, Why: "an attempt holds the machine", Req: "REG-18"},
		{On: FactoryReset, From: sm.In(Approved, Disabled), When: when{If: Occupied, Not: Retired | Held}, Refuse: sm.Conflict, Why: "instances, reservations, migrations or allocations are on the machine", Req: "REG-18"},
		{On: FactoryReset, From: sm.In(Approved, Disabled), When: when{Not: Retired | Held | Occupied | Image}, Refuse: sm.Conflict, Why: "the site has no valid, staged enrollment image; set one in its policy, and stage it", Req: "REG-18"},
		{On: FactoryReset, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no registration row", Req: "REG-12"},
		{On: FactoryReset, Refuse: sm.InvalidState, Why: "only an approved or disabled machine is reset", Req: "REG-12"},

		// Disable-first: a delete never cuts off a machine that works.
		{On: Delete, From: sm.In(Pending, Disabled, AwaitingSetup), When: when{Not: Anchored | Held | Allocated}, To: Absent, Req: "REG-13"},
		{On: Delete, From: sm.In(Pending, Disabled, AwaitingSetup), When: when{If: Anchored}, Refuse: sm.InvalidState, Why: "its node's provision state forbids it", Req: "REG-13"},
		{On: Delete, From: sm.In(Pending, Disabled, AwaitingSetup), When: when{If: Held, Not: Anchored}, Refuse: sm.Conflict, Why: "an attempt holds the machine", Req: "EDGE-9"},
		{On: Delete, From: sm.In(Pending, Disabled, AwaitingSetup), When: when{If: Allocated, Not: Anchored | Held}, Refuse: sm.Conflict, Why: "an allocation is open", Req: "REG-13"},
		{On: Delete, From: sm.In(Absent), Stay: true, Why: "deleting an absent row succeeds", Req: "REG-13"},
		{On: Delete, Refuse: sm.Conflict, Why: "disable it first; a setup must end first", Req: "REG-13"},

		// The node's end decides here, so there is nothing to refuse but a setup.
		{On: Withdraw, From: sm.In(Pending, Approved), To: Disabled, Why: "no key outlives the node", Req: "PROV-20"},
		{On: Withdraw, From: sm.In(AwaitingSetup), To: Absent, Req: "PROV-20"},
		{On: Withdraw, From: sm.In(SettingUp), Refuse: sm.Conflict, Why: "a setup holds the machine", Req: "PROV-20"},
		{On: Withdraw, Stay: true, Req: "PROV-20"},

		{On: Preempt, From: sm.In(SettingUp), To: AwaitingSetup, Ends: SetupFailed, Why: "retirement takes the machine", Req: "EDGE-5"},
		{On: Preempt, Stay: true, Req: "EDGE-5"},
	},
})
