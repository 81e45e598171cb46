package run

import (
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// The deadlines of MACH-5: a site may change all but EvictingDeadline, which
// RUN-5 fixes so that a disruption budget cannot keep a device for ever.
const (
	ProvisionDeadline = 90 * time.Minute
	AttestDeadline    = 30 * time.Minute
	WipeDeadline      = 24 * time.Hour // also the retirement's wiping
	EvictingDeadline  = 10 * time.Minute
)

type (
	rule  = sm.Rule[State, Kind]
	when  = sm.When
	steps = sm.Rule[RetireStep, RetireKind]
)

// Table is the one run of a device (RUN-1). It is the authority on what is
// legal; Retirement stands beside it, and each asks of the other by a guard.
var Table = sm.Must(sm.Spec[State, Kind]{
	Name: "run", Start: sm.In(Idle),
	Guards: []string{"same", "held", "serial", "pin", "retiring", "allocated"}, Fields: []string{"action", "next action", "reason"},
	Reports: []Kind{Succeed, Fail},
	States: []sm.State[State, Kind]{
		// Only Running drives anything: a request that waits holds no machine (MACH-2).
		{Name: Idle, Kind: sm.Stable, Means: "nothing was asked"},
		{Name: Waiting, Kind: sm.Stable, Holds: FieldAction | FieldNext | FieldReason, Means: "waits for the machine, a serial or a pin"},
		// The table's deadline is the longest; Step brings the action's own. The disk's
		// serial is no field of a state: the retirement may need it longer.
		{Name: Running, Kind: sm.InFlight, Deadline: WipeDeadline, Expire: Expired, Drives: sm.Power | sm.BootOrder | sm.Disks,
			Holds: FieldAction | FieldNext, Means: "the run holds the machine"},
		{Name: Succeeded, Kind: sm.Stable, Holds: FieldAction | FieldNext, Means: "the last run ended well"},
		{Name: Failed, Kind: sm.Stable, Holds: FieldAction | FieldNext | FieldReason, Means: "the last run did not; it is not repeated by itself"},
	},
	Rules: []rule{
		// The owner writes what it wants, over and over; a request is never lost and
		// never doubled. Only a retirement refuses it: the device is to go.
		{On: Request, From: sm.In(Idle, Succeeded, Failed), When: when{Not: Retiring}, To: Waiting, Req: "RUN-1"},
		{On: Request, From: sm.In(Waiting, Running), When: when{If: Same, Not: Retiring}, Stay: true, Why: "the current action asked again is consumed", Req: "RUN-1"},
		{On: Request, From: sm.In(Waiting, Running), When: when{Not: Same | Retiring}, Stay: true, Why: "another action stays pending until this run ends", Req: "RUN-1"},
		{On: Request, From: sm.In(Idle, Waiting, Running, Succeeded, Failed), When: when{If: Retiring}, Refuse: sm.Conflict, Why: "the owner decommissions the device", Req: "RUN-6"},

		// Each refusal is what the inventory shows while the request waits, so the
		// order is from what ends by itself to what a person must do.
		{On: Begin, From: sm.In(Waiting), When: when{If: Serial | Pin, Not: Held | Retiring | Allocated}, To: Running, Req: "RUN-1"},
		{On: Begin, From: sm.In(Waiting), When: when{If: Retiring}, Refuse: sm.Conflict, Why: "the owner decommissions the device", Req: "RUN-6"},
		{On: Begin, From: sm.In(Waiting), When: when{If: Held, Not: Retiring}, Refuse: sm.Conflict, Why: "an attempt holds the machine", Req: "MACH-3"},
		{On: Begin, From: sm.In(Waiting), When: when{If: Allocated, Not: Held | Retiring}, Refuse: sm.Conflict, Why: "an allocation is open; release it", Req: "PROV-13"},
		{On: Begin, From: sm.In(Waiting), When: when{Not: Serial | Allocated | Held | Retiring}, Refuse: sm.Conflict, Why: "install_disk_serial is not set; set it in the inventory", Req: "RUN-4"},
		{On: Begin, From: sm.In(Waiting), When: when{If: Serial, Not: Pin | Allocated | Held | Retiring}, Refuse: sm.Conflict, Why: "the class has no complete pin; complete it in the class table", Req: "RUN-3"},
		{On: Begin, Refuse: sm.InvalidState, Why: "no run waits", Req: "RUN-1"},

		// Success leads to no state that promises more: what the machine is for is up
		// to its owner.
		{On: Succeed, From: sm.In(Running), To: Succeeded, Req: "RUN-1"},
		{On: Succeed, Refuse: sm.Conflict, Why: "no run is in progress; stop this one, its reports are void", Req: "MACH-4"},
		{On: Fail, From: sm.In(Running), To: Failed, Req: "RUN-9"},
		{On: Fail, Refuse: sm.Conflict, Why: "no run is in progress; stop this one, its reports are void", Req: "MACH-4"},
		{On: Expired, From: sm.In(Running), To: Failed, Ends: Fail, Why: "the deadline passed", Req: "MACH-5"},
		{On: Expired, Refuse: sm.InvalidState, Why: "no run is in progress", Req: "MACH-5"},

		// The workflow engine is asked what it knows of the device. Its word is taken
		// only where the begin of a request that still waits was lost: the right to write
		// comes from an accepted request alone (MACH-7), so found-running needs all that
		// begin needs. A run that nobody asked for is the engine's to stop.
		{On: FoundRunning, From: sm.In(Waiting), When: when{If: Same | Serial | Pin, Not: Held | Retiring | Allocated}, To: Running, Why: "its record came late", Req: "RUN-2"},
		{On: FoundRunning, From: sm.In(Waiting), When: when{If: Retiring}, Refuse: sm.Conflict, Why: "the owner decommissions the device", Req: "RUN-6"},
		{On: FoundRunning, From: sm.In(Waiting), When: when{Not: Same | Retiring}, Refuse: sm.Conflict, Why: "another action was asked for; the engine must stop it", Req: "RUN-2"},
		{On: FoundRunning, From: sm.In(Waiting), When: when{If: Same | Held, Not: Retiring}, Refuse: sm.Conflict, Why: "an attempt holds the machine", Req: "MACH-3"},
		{On: FoundRunning, From: sm.In(Waiting), When: when{If: Same | Allocated, Not: Held | Retiring}, Refuse: sm.Conflict, Why: "an allocation is open; release it", Req: "PROV-13"},
		{On: FoundRunning, From: sm.In(Waiting), When: when{If: Same, Not: Serial | Allocated | Held | Retiring}, Refuse: sm.Conflict, Why: "install_disk_serial is not set; set it in the inventory", Req: "RUN-4"},
		{On: FoundRunning, From: sm.In(Waiting), When: when{If: Same | Serial, Not: Pin | Allocated | Held | Retiring}, Refuse: sm.Conflict, Why: "the class has no complete pin; complete it in the class table", Req: "RUN-3"},
		{On: FoundRunning, From: sm.In(Idle, Succeeded, Failed), Refuse: sm.Conflict, Why: "no request stands; the engine must stop it", Req: "RUN-2"},
		{On: FoundRunning, Stay: true, Why: "never duplicated", Req: "RUN-2"},
		{On: FoundSucceeded, From: sm.In(Waiting), When: when{If: Same}, To: Succeeded, Why: "its record came late", Req: "RUN-2"},
		{On: FoundSucceeded, From: sm.In(Waiting), When: when{Not: Same}, Stay: true, Why: "it is not what was asked for", Req: "RUN-2"},
		{On: FoundSucceeded, Stay: true, Why: "never duplicated", Req: "RUN-2"},
		{On: FoundFailed, From: sm.In(Waiting), When: when{If: Same}, To: Failed, Why: "its record came late", Req: "RUN-2"},
		{On: FoundFailed, From: sm.In(Waiting), When: when{Not: Same}, Stay: true, Why: "it is not what was asked for", Req: "RUN-2"},
		{On: FoundFailed, Stay: true, Why: "never duplicated", Req: "RUN-2"},

		{On: Interrupt, From: sm.In(Running), To: Failed, Ends: Fail, Why: "retirement takes the machine", Req: "RUN-6"},
		{On: Interrupt, From: sm.In(Waiting), To: Idle, Req: "RUN-6"},
		{On: Interrupt, Stay: true, Req: "RUN-6"},
		{On: End, From: sm.In(Running), Refuse: sm.Conflict, Why: "the run holds the machine", Req: "EDGE-9"},
		{On: End, From: sm.In(Waiting, Succeeded, Failed), To: Idle, Forget: true, Req: "PROV-8"},
		{On: End, Stay: true, Req: "PROV-8"},
	},
})

// Retirement is the run that takes a device out of service (RUN-5, RUN-9).
var Retirement = sm.Must(sm.Spec[RetireStep, RetireKind]{
	Name: "retirement", Start: sm.In(None),
	Guards: []string{"slot-held", "has-serial"}, Reports: []RetireKind{Wiped, WipeFailed, Evicted},
	States: []sm.State[RetireStep, RetireKind]{
		// Disks are driven only while wiping, and every way into wiping leads through a
		// free machine or confirmed off (RUN-6).
		{Name: None, Kind: sm.Absent, Means: "the device is in service"},
		{Name: Interrupting, Kind: sm.Stable, Drives: sm.Power, Means: "the holder is dead; waits for confirmed off"},
		{Name: Wiping, Kind: sm.InFlight, Deadline: WipeDeadline, Expire: StepExpired, Drives: sm.Power | sm.BootOrder | sm.Disks, Means: "wiped and erased"},
		{Name: AwaitingOff, Kind: sm.Stable, Drives: sm.Power, Means: "wiped; waits for confirmed off"},
		// Evicting drives nothing: the machine is off, its workloads leave on paper.
		{Name: Evicting, Kind: sm.InFlight, Deadline: EvictingDeadline, Expire: StepExpired, Means: "workloads leave within their budgets"},
		{Name: Cleaning, Kind: sm.Stable, Means: "the orchestrator forgets the node"},
		{Name: Offline, Kind: sm.Terminal, Means: "the inventory has it offline"},
	},
	Rules: []steps{
		// Without the serial no disk can be named, and a retirement that wipes none
		// would end as if it had (RUN-4).
		{On: Decommission, From: sm.In(None), When: when{If: HasSerial | SlotHeld}, To: Interrupting, Req: "RUN-6"},
		{On: Decommission, From: sm.In(None), When: when{If: HasSerial, Not: SlotHeld}, To: Wiping, Req: "RUN-9"},
		{On: Decommission, From: sm.In(None), When: when{Not: HasSerial}, Refuse: sm.Conflict, Why: "install_disk_serial is not set; set it in the inventory", Req: "RUN-4"},
		{On: Decommission, Stay: true, Req: "RUN-9"},
		{On: OffConfirmed, From: sm.In(Interrupting), To: Wiping, Req: "RUN-6"},
		{On: OffConfirmed, From: sm.In(AwaitingOff), To: Evicting, Req: "RUN-5"},
		{On: OffConfirmed, Refuse: sm.InvalidState, Why: "no step waits for off", Req: "RUN-5"},
		{On: Wiped, From: sm.In(Wiping), To: AwaitingOff, Req: "RUN-9"},
		{On: Wiped, Refuse: sm.Conflict, Why: "no wipe is in progress", Req: "MACH-4"},
		// Retirement is the one thing that repeats itself: the owner has given the
		// device up, so nobody would ask again.
		{On: WipeFailed, From: sm.In(Wiping), To: Interrupting, Why: "retirement is repeated, from confirmed off", Req: "RUN-9"},
		{On: WipeFailed, Refuse: sm.Conflict, Why: "no wipe is in progress", Req: "MACH-4"},
		{On: Evicted, From: sm.In(Evicting), To: Cleaning, Req: "RUN-5"},
		{On: Evicted, Refuse: sm.Conflict, Why: "no eviction is in progress", Req: "MACH-4"},
		{On: StepExpired, From: sm.In(Wiping), To: Interrupting, Ends: WipeFailed, Why: "the deadline passed", Req: "MACH-5"},
		// An eviction that is late is decided as done: workloads of a machine that is
		// off and erased cannot be saved by waiting.
		{On: StepExpired, From: sm.In(Evicting), To: Cleaning, Ends: Evicted, Why: "goes on; what was left is journaled", Req: "RUN-5"},
		{On: StepExpired, Refuse: sm.InvalidState, Why: "no step has a deadline", Req: "MACH-5"},
		{On: Cleaned, From: sm.In(Cleaning), To: Offline, Req: "RUN-9"},
		{On: Cleaned, From: sm.In(Offline), Stay: true, Why: "cleaned already; the answer was lost", Req: "RUN-9"},
		{On: Cleaned, Refuse: sm.InvalidState, Why: "nothing is being cleaned", Req: "RUN-9"},
		// A node under retirement cannot be deleted or reset away (EDGE-23).
		{On: EndSteps, From: sm.In(Offline), To: None, Req: "EDGE-23"},
		{On: EndSteps, From: sm.In(None), Stay: true, Req: "EDGE-23"},
		{On: EndSteps, Refuse: sm.Conflict, Why: "the retirement must end first", Req: "EDGE-23"},
	},
})
