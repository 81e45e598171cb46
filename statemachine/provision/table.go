package provision

import (
	"slices"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// The default deadlines of MACH-5. An event may bring a site's own (Deadlines).
// A deadline is a verdict: over it the machine fails and waits for a person.
const (
	EnrollingDeadline     = 15 * time.Minute
	AwaitingMACDeadline   = 24 * time.Hour // enrolling, while a MAC awaits confirm-mac
	AcceptanceDeadline    = 30 * time.Minute
	InspectingDeadline    = 45 * time.Minute
	CommissioningDeadline = 6 * time.Hour
	DeployingDeadline     = 90 * time.Minute
	ReleasingDeadline     = 2 * time.Hour
	SecureEraseDeadline   = 24 * time.Hour // releasing, with wipe mode secure-erase
	RescueDeadline        = 30 * time.Minute
	UnrescueDeadline      = 30 * time.Minute
	RetiringDeadline      = 24 * time.Hour
)

type (
	state = sm.State[State, Kind]
	rule  = sm.Rule[State, Kind]
	when  = sm.When
)

// all is what a workflow that writes disks may drive: it boots the ramdisk,
// writes, and turns the machine off.
const all = sm.Power | sm.BootOrder | sm.Disks

// kept are the fields that a machine keeps through a deployment: exactly this
// version runs on it, whatever the profile says by now (PROV-18).
const kept = FieldProfile | FieldRole

// FromGroup is the group of guards of which one holds in failed.
const FromGroup = FromAdopting | FromEnrolling | FromBuilding | FromDisks | FromRescue | FromRetiring

// Table is the provision axis. It is the authority on what is legal. An event
// that a state does not name falls to the event's last rule; docs/lifecycle has
// the list of those cells for review.
var Table = sm.Must(sm.Spec[State, Kind]{
	Name: "provision", Start: sm.In(Absent),
	Guards: []string{"held", "other-held", "tenant", "open", "capable", "engine", "serviced", "cordoned", "agents", "proof",
		"no-wipe", "off", "booting", "returning",
		"from-adopting", "from-enrolling", "from-building", "from-disks", "from-rescue", "from-retiring"},
	OneOf: []sm.Guard{FromGroup},
	Fields: []string{"failedFrom", "lastError", "wipe mode", "wipe evidence", "profile", "role", "approver", "activity",
		"queued acceptance", "awaits off"},
	Reports: []Kind{Succeeded, Fail, Wiped},
	States: []state{
		// Power is driven wherever the machine is ours and nobody's workflow runs; the
		// boot order where a ramdisk must come up; disks only where PROV-10 writes them.
		{Name: Absent, Kind: sm.Absent, Means: "no provision axis"},
		// Stable, since it may wait for ever for a person or for the slot; the
		// acceptance run in it is an attempt of its own (MACH-4).
		{Name: Adopting, Kind: sm.Stable, Expire: Expired, Holds: FieldQueued | FieldActivity, Means: "an agent joined; waits for its acceptance run"},
		{Name: Adopted, Kind: sm.Stable, Drives: sm.Power, Means: "an accepted host that ingot did not install"},
		// A machine known by UUID alone is booted once, so the boot order is driven.
		{Name: Enrolling, Kind: sm.InFlight, Deadline: EnrollingDeadline, Expire: Expired, Drives: sm.Power | sm.BootOrder, Holds: FieldApprover,
			Means: "BMC access is verified, the machine inspected out of band"},
		{Name: Inspecting, Kind: sm.InFlight, Deadline: InspectingDeadline, Expire: Expired, Drives: sm.Power | sm.BootOrder, Holds: FieldApprover,
			Means: "the ramdisk reports the inventory"},
		{Name: Commissioning, Kind: sm.InFlight, Deadline: CommissioningDeadline, Expire: Expired, Drives: all, Holds: FieldApprover | FieldWipe | FieldProof,
			Means: "diagnostics and a quick wipe"},
		{Name: Ready, Kind: sm.Stable, Drives: sm.Power, Means: "wiped, off, free to deploy"},
		{Name: Deploying, Kind: sm.InFlight, Deadline: DeployingDeadline, Expire: Expired, Drives: all, Holds: FieldApprover | FieldProfile,
			Means: "the profile's steps run"},
		{Name: Deployed, Kind: sm.Stable, Drives: sm.Power, Holds: kept, Means: "runs what it was given"},
		// The approver goes into the grant of each disk write (MACH-7); wipe mode and
		// evidence decide whether success is believed.
		{Name: Releasing, Kind: sm.InFlight, Deadline: ReleasingDeadline, Expire: Expired, Drives: all, Holds: FieldApprover | FieldWipe | FieldProof,
			Means: "wiped by its mode, then off"},
		{Name: Rescue, Kind: sm.Stable, Expire: Expired, Drives: sm.Power | sm.BootOrder, Holds: kept | FieldActivity,
			Means: "the rescue ramdisk runs, or still boots"},
		// What recover needs is kept: the state it failed from, the wipe mode that must
		// not be downgraded, and the profile that a rescued machine still runs.
		{Name: Failed, Kind: sm.Stable, Drives: sm.Power, Holds: kept | FieldFailedFrom | FieldLastError | FieldWipe | FieldApprover | FieldAwaitOff,
			Means: "needs a person; in maintenance"},
		{Name: Retiring, Kind: sm.InFlight, Deadline: RetiringDeadline, Expire: Expired, Drives: all, Holds: FieldApprover | FieldWipe | FieldProof | FieldAwaitOff,
			Means: "erased, turned off, its identity revoked"},
		// Nothing may be driven: the machine is the site's no longer.
		{Name: Retired, Kind: sm.Terminal, Means: "out of service for good; only a delete is left"},
	},
	Rules: slices.Concat(verbs, power, outcomes, ends),
})

// verbs are the operator's verbs of PROV-1 that move the machine. Each ends with
// NOT_FOUND for a node without the axis, to which metal verbs do not exist
// (PROV-14), and INVALID_STATE for the states it does not name.
var verbs = []rule{
	// Enroll is the only verb that makes the axis. A setup or a run may hold the
	// machine already, since a node may have come by another path first (MACH-2).
	{On: Enroll, From: sm.In(Absent), When: when{Not: Held}, To: Enrolling, Req: "PROV-1"},
	{On: Enroll, From: sm.In(Absent), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Enroll, Refuse: sm.Conflict, Why: "the machine has a provision axis already", Req: "PROV-17"},

	// These chains end in a wipe or a write, so a tenant's started work forbids
	// each (PROV-13, EDGE-2). The holder is told first: slot before inputs (EDGE-15).
	{On: Manage, From: sm.In(Ready), When: when{Not: Held | Tenant}, To: Enrolling, Req: "PROV-1"},
	{On: Manage, From: sm.In(Ready), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Manage, From: sm.In(Ready), When: when{If: Tenant, Not: Held}, Refuse: sm.Conflict, Why: tenant, Req: "PROV-13"},
	{On: Manage, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: Manage, Refuse: sm.InvalidState, Why: "only a ready machine is managed", Req: "PROV-1"},
	{On: Inspect, From: sm.In(Ready), When: when{Not: Held | Tenant}, To: Inspecting, Req: "PROV-1"},
	{On: Inspect, From: sm.In(Ready), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Inspect, From: sm.In(Ready), When: when{If: Tenant, Not: Held}, Refuse: sm.Conflict, Why: tenant, Req: "PROV-13"},
	{On: Inspect, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: Inspect, Refuse: sm.InvalidState, Why: "only a ready machine is inspected", Req: "PROV-1"},
	{On: Provide, From: sm.In(Ready), When: when{Not: Held | Tenant}, To: Commissioning, Req: "PROV-1"},
	{On: Provide, From: sm.In(Ready), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Provide, From: sm.In(Ready), When: when{If: Tenant, Not: Held}, Refuse: sm.Conflict, Why: tenant, Req: "PROV-13"},
	{On: Provide, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: Provide, Refuse: sm.InvalidState, Why: "only a ready machine is provided", Req: "PROV-1"},
	{On: Deploy, From: sm.In(Ready), When: when{Not: Held | Tenant}, To: Deploying, Req: "PROV-1"},
	{On: Deploy, From: sm.In(Ready), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Deploy, From: sm.In(Ready), When: when{If: Tenant, Not: Held}, Refuse: sm.Conflict, Why: tenant, Req: "EDGE-2"},
	{On: Deploy, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: Deploy, Refuse: sm.InvalidState, Why: "only a ready machine is deployed", Req: "PROV-1"},

	// Without agents no ramdisk runs, so only the mode none can be done. That is
	// refused at the verb; a failure later would leave the machine in releasing.
	{On: Undeploy, From: sm.In(Deployed, Rescue), When: when{If: Capable, Not: Held | Tenant}, To: Releasing, Req: "PROV-1"},
	{On: Undeploy, From: sm.In(Deployed, Rescue), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Undeploy, From: sm.In(Deployed, Rescue), When: when{If: Tenant, Not: Held}, Refuse: sm.Conflict, Why: tenant, Req: "PROV-13"},
	{On: Undeploy, From: sm.In(Deployed, Rescue), When: when{Not: Held | Tenant | Capable}, Refuse: sm.Unsupported, Why: "the wipe mode needs the ramdisk, and the pool's machines run no agents; allow agents in the pool's policy", Req: "PROV-15"},
	{On: Undeploy, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: Undeploy, Refuse: sm.InvalidState, Why: "only a deployed machine, or one in rescue, is released", Req: "PROV-1"},

	// Rescue keeps what is deployed and writes no disk, so tenants do not forbid it.
	{On: ToRescue, From: sm.In(Deployed), When: when{If: Capable, Not: Held}, To: Rescue, Opens: RescueDeadline, Req: "PROV-1"},
	{On: ToRescue, From: sm.In(Deployed), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: ToRescue, From: sm.In(Deployed), When: when{Not: Held | Capable}, Refuse: sm.Unsupported, Why: "the pool's machines run no agents; allow them in the pool's policy", Req: "PROV-15"},
	{On: ToRescue, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: ToRescue, Refuse: sm.InvalidState, Why: "only a deployed machine is rescued", Req: "PROV-1"},

	// The second call changes nothing even while the engine is away: what runs,
	// runs. The other refusals are in EDGE-15's order, slot before configuration.
	{On: Unrescue, From: sm.In(Rescue), When: when{If: Engine, Not: Returning | Booting | Held}, Stay: true, Opens: UnrescueDeadline, Why: "rescue lasts until the workflow has succeeded", Req: "PROV-12"},
	{On: Unrescue, From: sm.In(Rescue), When: when{If: Returning}, Stay: true, Why: "the workflow runs already", Req: "PROV-12"},
	{On: Unrescue, From: sm.In(Rescue), When: when{If: Booting, Not: Returning}, Refuse: sm.Conflict, Why: "the rescue ramdisk still boots", Req: "PROV-12"},
	{On: Unrescue, From: sm.In(Rescue), When: when{If: Held, Not: Returning | Booting}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Unrescue, From: sm.In(Rescue), When: when{Not: Returning | Booting | Held | Engine}, Refuse: sm.InvalidConfig, Why: "no workflow engine is configured; configure one for the site", Req: "PROV-12"},
	{On: Unrescue, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: Unrescue, Refuse: sm.InvalidState, Why: "the machine is not in rescue", Req: "PROV-1"},

	// Acceptance, a rescue boot and retiring end by themselves or by deadline: to
	// abort them would leave a machine half in the site or half erased (PROV-1). The
	// attempt ends as failed, so that the workflow's own failure is its repeat.
	{On: Abort, From: sm.In(Enrolling, Inspecting, Commissioning, Deploying, Releasing), To: Failed, Ends: Fail, Req: "PROV-11"},
	{On: Abort, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: Abort, Refuse: sm.InvalidState, Why: "nothing that an operator may abort is in progress", Req: "PROV-1"},

	// Exactly one From guard holds. Inspecting and commissioning belong to
	// enrolling's chain, and start over with it. Into releasing and retiring it
	// erases, and is refused as those verbs are (EDGE-2).
	{On: Recover, From: sm.In(Failed), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Recover, From: sm.In(Failed), When: when{If: FromAdopting, Not: Held}, To: Adopting, Opens: AcceptanceDeadline, Req: "PROV-3"},
	{On: Recover, From: sm.In(Failed), When: when{If: FromEnrolling, Not: Held}, To: Enrolling, Req: "PROV-3"},
	{On: Recover, From: sm.In(Failed), When: when{If: FromBuilding, Not: Held}, To: Enrolling, Req: "PROV-3"},
	{On: Recover, From: sm.In(Failed), When: when{If: FromDisks | Capable, Not: Held | Tenant}, To: Releasing, Req: "PROV-3"},
	{On: Recover, From: sm.In(Failed), When: when{If: FromDisks, Not: Held | Tenant | Capable}, Refuse: sm.Unsupported, Why: "the wipe mode needs the ramdisk, and the pool's machines run no agents; allow agents in the pool's policy", Req: "PROV-15"},
	{On: Recover, From: sm.In(Failed), When: when{If: FromDisks | Tenant, Not: Held}, Refuse: sm.Conflict, Why: tenant, Req: "EDGE-2"},
	{On: Recover, From: sm.In(Failed), When: when{If: FromRescue, Not: Held}, To: Deployed, Req: "PROV-3"},
	{On: Recover, From: sm.In(Failed), When: when{If: FromRetiring, Not: Held | Open}, To: Retiring, Req: "PROV-3"},
	{On: Recover, From: sm.In(Failed), When: when{If: FromRetiring | Open, Not: Held}, Refuse: sm.Conflict, Why: open, Req: "EDGE-2"},
	{On: Recover, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: Recover, Refuse: sm.InvalidState, Why: "only a failed machine is recovered", Req: "PROV-1"},

	// A holder is no refusal here: its epoch is dead at once, and the record waits
	// for confirmed off before a disk is touched (EDGE-5). No Ends: what the holder
	// would report was not decided, so its late report is a conflict.
	{On: Retire, From: sm.In(Adopting, Adopted, Enrolling, Ready, Failed), When: when{Not: Open}, To: Retiring, Why: "takes the machine over from its holder", Req: "RUN-6"},
	{On: Retire, From: sm.In(Adopting, Adopted, Enrolling, Ready, Failed), When: when{If: Open}, Refuse: sm.Conflict, Why: open, Req: "PROV-13"},
	{On: Retire, From: sm.In(Absent), Refuse: sm.NotFound, Why: none, Req: "PROV-14"},
	{On: Retire, Refuse: sm.InvalidState, Why: "release it, or let what is in progress end or be aborted", Req: "PROV-1"},

	// Adopt leaves adopted at once, and with it placement: an unproven host takes
	// no new work while the run lasts.
	{On: Adopt, From: sm.In(Adopting), When: when{Not: Held}, Stay: true, Opens: AcceptanceDeadline, Why: "another acceptance run starts", Req: "PROV-2"},
	{On: Adopt, From: sm.In(Adopted), When: when{Not: Held}, To: Adopting, Opens: AcceptanceDeadline, Req: "PROV-1"},
	{On: Adopt, From: sm.In(Adopting), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "EDGE-21"},
	{On: Adopt, From: sm.In(Adopted), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Adopt, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no provision axis", Req: "PROV-1"},
	{On: Adopt, Refuse: sm.InvalidState, Why: "only an adopting or adopted host is adopted", Req: "PROV-1"},
}

// The reasons that several rules share, as people read them. A refusal adds the
// machine's state and what would be legal.
const (
	held   = "an attempt holds the machine"
	tenant = "a tenant has a started, unreleased allocation"
	open   = "an allocation is open"
	none   = "no provision axis: the node has no BMC binding"

	unserviced = "no BMC credentials, or no site agent that serves the machine; set what is missing"
)

// power is when the power verbs of PROV-7 are legal.
var power = []rule{
	// A state whose workflow drives the power says so before it looks for a holder,
	// so that the caller learns which state to wait for.
	{On: PowerVerb, From: sm.In(Inspecting, Commissioning, Deploying, Releasing, Retiring), Refuse: sm.InvalidState, Why: "the workflow drives the machine's power", Req: "PROV-7"},
	{On: PowerVerb, From: sm.In(Rescue), When: when{If: Booting}, Refuse: sm.InvalidState, Why: "the rescue ramdisk boots", Req: "PROV-7"},
	{On: PowerVerb, From: sm.In(Rescue), When: when{If: Returning, Not: Booting}, Refuse: sm.InvalidState, Why: "the unrescue workflow drives the machine's power", Req: "PROV-7"},
	{On: PowerVerb, From: sm.In(Rescue), When: when{If: Held, Not: Booting | Returning}, Refuse: sm.Conflict, Why: held, Req: "PROV-7"},
	{On: PowerVerb, From: sm.In(Rescue), When: when{Not: Booting | Returning | Held | Serviced}, Refuse: sm.InvalidState, Why: unserviced, Req: "PROV-7"},
	{On: PowerVerb, From: sm.In(Rescue), When: when{If: Serviced, Not: Booting | Returning | Held}, Stay: true, Why: "power never changes the provision state", Req: "PROV-7"},
	{On: PowerVerb, When: when{If: Serviced, Not: Held}, Stay: true, Why: "power never changes the provision state", Req: "PROV-7"},
	{On: PowerVerb, When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "PROV-7"},
	{On: PowerVerb, When: when{Not: Held | Serviced}, Refuse: sm.InvalidState, Why: unserviced, Req: "PROV-7"},
}

// outcomes are the reports, deadlines and acceptance runs of PROV-2. Whatever
// ends an attempt without its report ends it as failed, so that a workflow that
// comes back late with its own failure is told that this is known.
var outcomes = []rule{
	// A join never waits for the slot: the agent is there. Only its run does.
	{On: Join, From: sm.In(Absent), When: when{Not: Held}, To: Adopting, Opens: AcceptanceDeadline, Req: "MACH-2"},
	{On: Join, From: sm.In(Absent), When: when{If: Held}, To: Adopting, Why: "the acceptance run waits for the slot", Req: "EDGE-21"},
	{On: Join, From: sm.In(Retired), Refuse: sm.Conflict, Why: "the node is retired; delete it first", Req: "EDGE-4"},
	{On: Join, Stay: true, Why: "the axis exists", Req: "MACH-2"},
	{On: Begin, From: sm.In(Adopting), When: when{Not: Held}, Stay: true, Opens: AcceptanceDeadline, Req: "EDGE-21"},
	{On: Begin, From: sm.In(Adopting), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "MACH-3"},
	{On: Begin, Refuse: sm.InvalidState, Why: "no acceptance run is due", Req: "EDGE-21"},

	// No failure path leads to ready: a success without the evidence that the wipe
	// mode asks for is a failure with UNVERIFIED_WIPE, not a refusal, since nobody
	// could report it again and differently. In retiring, not being confirmed off is
	// a refusal: the same report is right a minute later.
	{On: Succeeded, From: sm.In(Adopting), To: Adopted, Req: "PROV-2"},
	{On: Succeeded, From: sm.In(Enrolling), To: Inspecting, Req: "PROV-2"},
	{On: Succeeded, From: sm.In(Inspecting), To: Commissioning, Req: "PROV-2"},
	{On: Succeeded, From: sm.In(Commissioning), When: when{If: Proof}, To: Ready, Req: "EDGE-10"},
	{On: Succeeded, From: sm.In(Commissioning), When: when{Not: Proof | Agents}, To: Ready, Why: "without agents nothing was wiped, and the record says so", Req: "EDGE-10"},
	{On: Succeeded, From: sm.In(Commissioning), When: when{If: Agents, Not: Proof}, To: Failed, Why: "UNVERIFIED_WIPE", Req: "EDGE-10"},
	{On: Succeeded, From: sm.In(Deploying), To: Deployed, Req: "PROV-2"},
	{On: Succeeded, From: sm.In(Releasing), When: when{If: Proof}, To: Ready, Req: "PROV-2"},
	{On: Succeeded, From: sm.In(Releasing), When: when{If: NoWipe, Not: Proof}, To: Ready, Why: "the operator asked for no wipe", Req: "PROV-2"},
	{On: Succeeded, From: sm.In(Releasing), When: when{Not: Proof | NoWipe}, To: Failed, Why: "UNVERIFIED_WIPE", Req: "PROV-2"},
	{On: Succeeded, From: sm.In(Rescue), When: when{If: Returning}, To: Deployed, Req: "PROV-12"},
	{On: Succeeded, From: sm.In(Rescue), When: when{Not: Returning}, Stay: true, Ends: Succeeded, Why: "the rescue ramdisk is up", Req: "PROV-12"},
	{On: Succeeded, From: sm.In(Retiring), When: when{Not: Off}, Refuse: sm.Conflict, Why: "the machine is not confirmed off; report again", Req: "BMC-2"},
	{On: Succeeded, From: sm.In(Retiring), When: when{If: Off | Proof}, To: Retired, Req: "PROV-2"},
	{On: Succeeded, From: sm.In(Retiring), When: when{If: Off, Not: Proof | Agents}, To: Retired, Why: "without agents nothing was wiped, and the record says so", Req: "PROV-10"},
	{On: Succeeded, From: sm.In(Retiring), When: when{If: Off | Agents, Not: Proof}, To: Failed, Why: "UNVERIFIED_WIPE", Req: "EDGE-10"},
	{On: Succeeded, Refuse: sm.Conflict, Why: "no attempt is open; stop this one, its reports are void", Req: "MACH-4"},

	// A red acceptance condemns no machine that already runs; it waits (PROV-2).
	{On: Fail, From: sm.In(Adopting), Stay: true, Ends: Fail, Why: "the run ended red; the node waits with its conditions", Req: "PROV-2"},
	{On: Fail, From: sm.In(Enrolling, Inspecting, Commissioning, Deploying, Releasing, Rescue, Retiring), To: Failed, Req: "PROV-2"},
	{On: Fail, Refuse: sm.Conflict, Why: "no attempt is open; stop this one, its reports are void", Req: "MACH-4"},
	// Evidence may come twice or be corrected; it decides nothing by itself.
	{On: Wiped, From: sm.In(Commissioning, Releasing, Retiring), Stay: true, Req: "PROV-19"},
	{On: Wiped, Refuse: sm.Conflict, Why: "no attempt that wipes is open; stop this one, its reports are void", Req: "PROV-19"},
	// An observation, legal everywhere: whether it matters is up to AwaitOff.
	{On: SeenOff, Stay: true, Why: "a retirement that took the machine over may write disks from now on", Req: "EDGE-5"},
	{On: Expired, From: sm.In(Adopting, Enrolling, Inspecting, Commissioning, Deploying, Releasing, Rescue, Retiring), To: Failed, Ends: Fail, Why: "the deadline passed", Req: "PROV-2"},
	{On: Expired, Refuse: sm.InvalidState, Why: "no attempt can be open", Req: "MACH-4"},
}

// ends are the ways out of the axis: PROV-8 and JOINT-2.
var ends = []rule{
	// The node's own acceptance or enrolling attempt ends with a delete; another
	// axis's holder does not (EDGE-9). Failed is deletable exactly where the state
	// it failed from is: before anything of ours was on the disks.
	{On: Delete, From: sm.In(Absent), Stay: true, Why: "answers deleted: false", Req: "PROV-8"},
	{On: Delete, From: sm.In(Retired, Adopting, Enrolling), When: when{Not: OtherHeld | Open}, To: Absent, Req: "PROV-8"},
	{On: Delete, From: sm.In(Retired, Adopting, Enrolling), When: when{If: OtherHeld}, Refuse: sm.Conflict, Why: otherHeld, Req: "EDGE-9"},
	{On: Delete, From: sm.In(Retired, Adopting, Enrolling), When: when{If: Open, Not: OtherHeld}, Refuse: sm.Conflict, Why: open, Req: "PROV-8"},
	{On: Delete, From: sm.In(Adopted), When: when{If: Cordoned, Not: OtherHeld | Open}, To: Absent, Req: "PROV-8"},
	{On: Delete, From: sm.In(Adopted), When: when{Not: Cordoned}, Refuse: sm.InvalidState, Why: "cordon the node first", Req: "PROV-8"},
	{On: Delete, From: sm.In(Adopted), When: when{If: Cordoned | OtherHeld}, Refuse: sm.Conflict, Why: otherHeld, Req: "EDGE-9"},
	{On: Delete, From: sm.In(Adopted), When: when{If: Cordoned | Open, Not: OtherHeld}, Refuse: sm.Conflict, Why: open, Req: "PROV-8"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromAdopting, Not: OtherHeld | Open}, To: Absent, Req: "PROV-8"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromAdopting | OtherHeld}, Refuse: sm.Conflict, Why: otherHeld, Req: "EDGE-9"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromAdopting | Open, Not: OtherHeld}, Refuse: sm.Conflict, Why: open, Req: "PROV-8"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromEnrolling, Not: OtherHeld | Open}, To: Absent, Req: "PROV-8"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromEnrolling | OtherHeld}, Refuse: sm.Conflict, Why: otherHeld, Req: "EDGE-9"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromEnrolling | Open, Not: OtherHeld}, Refuse: sm.Conflict, Why: open, Req: "PROV-8"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromBuilding}, Refuse: sm.InvalidState, Why: undeletable, Req: "PROV-8"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromDisks}, Refuse: sm.InvalidState, Why: undeletable, Req: "PROV-8"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromRescue}, Refuse: sm.InvalidState, Why: undeletable, Req: "PROV-8"},
	{On: Delete, From: sm.In(Failed), When: when{If: FromRetiring}, Refuse: sm.InvalidState, Why: undeletable, Req: "PROV-8"},
	{On: Delete, Refuse: sm.InvalidState, Why: undeletable, Req: "PROV-8"},

	// REG-18 has refused a reset of a held machine before; in-flight states hold it
	// by definition, and so fall to the last rule.
	{On: End, From: sm.In(Adopting, Rescue), When: when{Not: Held}, To: Absent, Req: "REG-12"},
	{On: End, From: sm.In(Adopting, Rescue), When: when{If: Held}, Refuse: sm.Conflict, Why: held, Req: "REG-18"},
	{On: End, From: sm.In(Adopted, Ready, Deployed, Failed), To: Absent, Req: "REG-12"},
	{On: End, From: sm.In(Retired), Refuse: sm.Conflict, Why: "the node is retired; delete it first", Req: "EDGE-4"},
	{On: End, From: sm.In(Absent), Stay: true, Req: "REG-12"},
	{On: End, Refuse: sm.Conflict, Why: held, Req: "REG-18"},
}

// The reasons that only deletes share.
const (
	otherHeld   = "a setup or a run holds the machine"
	undeletable = "delete a retired node, a cordoned adopted one, or one that never got past adopting or enrolling"
)
