package netboot

import sm "github.com/ingotmetal/ingot/statemachine"

type (
	state = sm.State[State, Kind]
	rule  = sm.Rule[State, Kind]
	when  = sm.When
)

// Table is the netboot axis. It is the authority on what is legal. Mode rescue is
// not in it: it outranks the state's answer and moves nothing (BOOT-5).
var Table = sm.Must(sm.Spec[State, Kind]{
	Name: "netboot", Start: sm.In(Absent),
	Guards: []string{"admitted", "address", "claimed", "image", "bound", "foreign", "kept", "unconfirmed"},
	Fields: []string{"address", "networking", "owner", "assigned image", "boot entry", "candidate"},
	States: []state{
		// Nothing of a machine is driven from here but its boot order: an answer is all
		// that this axis gives. No state is in flight; a MAC may enroll for days.
		{Name: Absent, Kind: sm.Absent, Means: "no record; reading it synthesizes one"},
		{Name: Discovered, Kind: sm.Stable, Holds: FieldAddress | FieldNetworking | FieldOwner | FieldEntry | FieldCandidate,
			Means: "seen, never answered but by a boot entry"},
		{Name: Enrolling, Kind: sm.Stable, Drives: sm.BootOrder, Holds: FieldAddress | FieldNetworking | FieldOwner | FieldEntry,
			Means: "boots the policy's enrollment image"},
		// The one state with an image of its own: it was stamped by a setup that
		// succeeded, and later edits of policy do not reach it (SET-5, BOOT-3).
		{Name: Enrolled, Kind: sm.Stable, Drives: sm.BootOrder, Holds: FieldAddress | FieldNetworking | FieldOwner | FieldEntry | FieldImage,
			Means: "boots its own assigned image"},
		// The address stays reserved, so that a reactivated MAC is not taken for
		// another; purge alone frees it (BOOT-12).
		{Name: Decommissioned, Kind: sm.Stable, Holds: FieldAddress | FieldNetworking | FieldOwner,
			Means: "silent until it is reactivated"},
	},
	Rules: []rule{
		// What anyone on the segment can send makes a record, and nothing more.
		{On: Sight, From: sm.In(Absent), To: Discovered, Req: "BOOT-1"},
		{On: Sight, Stay: true, Why: "a sighting moves no record", Req: "BOOT-1"},

		// Admission is tried at each sighting and answers nobody, so what does not
		// admit stays, and only exhaustion is an error that someone must see.
		{On: Admit, From: sm.In(Discovered), When: when{If: Admitted | Address, Not: Claimed}, To: Enrolling, Req: "BOOT-7"},
		{On: Admit, From: sm.In(Discovered), When: when{If: Admitted, Not: Address | Claimed}, Refuse: sm.Unavailable, Why: "the admin network has no free address; widen it, or purge decommissioned records", Req: "BOOT-7"},
		{On: Admit, From: sm.In(Discovered), When: when{Not: Admitted | Claimed}, Stay: true, Why: "policy does not admit it; each sighting is judged anew", Req: "BOOT-19"},
		{On: Admit, From: sm.In(Discovered), When: when{If: Claimed}, Stay: true, Why: "auto-enroll passes by a candidate, a metal node's MAC and a boot entry", Req: "BOOT-15"},
		{On: Admit, Stay: true, Why: "only a discovered record is admitted", Req: "BOOT-7"},

		// By hand the same is asked on purpose, so what forbids it is refused.
		{On: Enroll, From: sm.In(Absent, Discovered), When: when{If: Address, Not: Claimed}, To: Enrolling, Req: "BOOT-12"},
		{On: Enroll, From: sm.In(Absent, Discovered), When: when{If: Claimed}, Refuse: sm.Conflict, Why: "the MAC is a candidate, a metal node's, or carries a boot entry", Req: "EDGE-17"},
		{On: Enroll, From: sm.In(Absent, Discovered), When: when{Not: Address | Claimed}, Refuse: sm.Unavailable, Why: "the admin network has no free address; widen it, or purge decommissioned records", Req: "EDGE-17"},
		{On: Enroll, From: sm.In(Enrolling), Stay: true, Req: "EDGE-19"},
		{On: Enroll, Refuse: sm.InvalidState, Why: "only an absent, discovered or enrolling record is enrolled; reactivate a decommissioned one", Req: "BOOT-12"},

		// These come with a joint over all MACs of a machine: one record that cannot
		// follow must not stop the machine, so they never refuse (SET-10, REG-12).
		{On: Complete, From: sm.In(Enrolling), When: when{If: Image, Not: Foreign}, To: Enrolled, Req: "SET-10"},
		{On: Complete, From: sm.In(Enrolling), When: when{Not: Image | Foreign}, Stay: true, Why: "no assigned image: it enrolls again at its next boot", Req: "SET-10"},
		{On: Complete, From: sm.In(Enrolling), When: when{If: Foreign}, Stay: true, Why: "another machine's record is left alone and reported", Req: "SET-10"},
		{On: Complete, Stay: true, Why: "only an enrolling record is stamped", Req: "SET-10"},

		{On: Reset, From: sm.In(Enrolled), When: when{If: Foreign}, Stay: true, Why: "another machine's record is left alone", Req: "REG-12"},
		{On: Reset, From: sm.In(Enrolled), When: when{Not: Foreign}, To: Enrolling, Req: "REG-12"},
		{On: Reset, Stay: true, Req: "REG-12"},

		// By hand only where no machine would lose its record unasked; Withdraw is the
		// same for the joints that end a machine.
		{On: Decommission, From: sm.In(Discovered, Enrolling, Enrolled), When: when{Not: Bound}, To: Decommissioned, Req: "BOOT-4"},
		{On: Decommission, From: sm.In(Discovered, Enrolling, Enrolled), When: when{If: Bound}, Refuse: sm.Conflict, Why: "the record belongs to a machine; delete or retire that", Req: "EDGE-17"},
		{On: Decommission, From: sm.In(Decommissioned), Stay: true, Req: "EDGE-17"},
		{On: Decommission, Refuse: sm.NotFound, Why: "no boot record", Req: "BOOT-4"},

		{On: Withdraw, From: sm.In(Discovered, Enrolling, Enrolled), When: when{Not: Foreign}, To: Decommissioned, Req: "BOOT-4"},
		{On: Withdraw, From: sm.In(Discovered, Enrolling, Enrolled), When: when{If: Foreign}, Stay: true, Why: "another machine's record is left alone", Req: "REG-13"},
		{On: Withdraw, Stay: true, Req: "BOOT-4"},

		// The address is kept, every binding cleared (BOOT-4, EDGE-20).
		{On: Reactivate, From: sm.In(Decommissioned), To: Discovered, Req: "BOOT-4"},
		{On: Reactivate, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no boot record", Req: "BOOT-4"},
		{On: Reactivate, Refuse: sm.InvalidState, Why: "only a decommissioned record is reactivated", Req: "BOOT-4"},

		// Two steps on purpose: a record with an address is silent before it is gone.
		{On: Purge, From: sm.In(Decommissioned), To: Absent, Why: "its address is free again", Req: "BOOT-12"},
		{On: Purge, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no boot record", Req: "EDGE-17"},
		{On: Purge, Refuse: sm.InvalidState, Why: "decommission it first", Req: "EDGE-17"},

		{On: SetMode, From: sm.In(Absent), Refuse: sm.NotFound, Why: "no boot record", Req: "EDGE-17"},
		{On: SetMode, Stay: true, Why: "a mode moves no state", Req: "BOOT-5"},

		// The slot's holder asks, for its own epoch. A MAC that another machine owns, or
		// may own, boots nothing of it.
		{On: SetEntry, From: sm.In(Absent), When: when{If: Address}, To: Discovered, Req: "EDGE-19"},
		{On: SetEntry, From: sm.In(Absent), When: when{Not: Address}, Refuse: sm.Unavailable, Why: "the admin network has no free address; widen it, or purge decommissioned records", Req: "EDGE-17"},
		{On: SetEntry, From: sm.In(Discovered), When: when{If: Address, Not: Foreign | Unconfirmed}, Stay: true, Req: "BOOT-14"},
		{On: SetEntry, From: sm.In(Discovered), When: when{If: Unconfirmed, Not: Foreign}, Refuse: sm.Conflict, Why: "the MAC is a candidate; confirm it first", Req: "BOOT-15"},
		{On: SetEntry, From: sm.In(Discovered), When: when{Not: Address | Foreign | Unconfirmed}, Refuse: sm.Unavailable, Why: "the admin network has no free address; widen it, or purge decommissioned records", Req: "EDGE-17"},
		{On: SetEntry, From: sm.In(Enrolling, Enrolled), When: when{If: Address, Not: Foreign}, Stay: true, Req: "BOOT-14"},
		{On: SetEntry, From: sm.In(Enrolling, Enrolled), When: when{Not: Address | Foreign}, Refuse: sm.Unavailable, Why: "the admin network has no free address; widen it, or purge decommissioned records", Req: "EDGE-17"},
		{On: SetEntry, From: sm.In(Discovered, Enrolling, Enrolled), When: when{If: Foreign}, Refuse: sm.Conflict, Why: "the MAC is another machine's", Req: "BOOT-14"},
		{On: SetEntry, Refuse: sm.InvalidState, Why: "a decommissioned record is never served", Req: "EDGE-17"},
		{On: EndEntry, Stay: true, Why: "the entry goes with its attempt; the address is kept", Req: "BOOT-14"},

		// A proposal binds nothing. It stands until a person confirms it (BOOT-11).
		{On: Propose, From: sm.In(Discovered), When: when{Not: Bound | Claimed}, Stay: true, Req: "BOOT-11"},
		{On: Propose, From: sm.In(Discovered), When: when{If: Bound}, Refuse: sm.Conflict, Why: "the MAC is a machine's already", Req: "BOOT-11"},
		{On: Propose, From: sm.In(Discovered), When: when{If: Claimed, Not: Bound}, Refuse: sm.Conflict, Why: "the MAC is a candidate already, or carries a boot entry", Req: "BOOT-11"},
		{On: Propose, From: sm.In(Absent), Refuse: sm.NotFound, Why: "the MAC was never seen", Req: "BOOT-11"},
		{On: Propose, Refuse: sm.Conflict, Why: "only a discovered MAC becomes a candidate", Req: "BOOT-11"},
		// A mark that stays would keep the MAC from everyone: from admission, from an
		// enroll by hand, and from other machines.
		{On: Dismiss, Stay: true, Why: "its machine has a MAC, or is gone; the mark is taken back", Req: "BOOT-11"},

		// A record that enrolls on its own belongs to whoever admitted it; to bind it
		// would hand a machine's boot to another without a word (EDGE-20).
		{On: Bind, From: sm.In(Absent), To: Discovered, Req: "BOOT-17"},
		{On: Bind, From: sm.In(Discovered), When: when{Not: Foreign}, Stay: true, Req: "BOOT-17"},
		{On: Bind, From: sm.In(Discovered, Enrolling, Enrolled), When: when{If: Foreign}, Refuse: sm.Conflict, Why: "another machine of the site has the MAC", Req: "BOOT-17"},
		{On: Bind, From: sm.In(Enrolling, Enrolled), When: when{If: Bound, Not: Foreign}, Stay: true, Why: "the MAC is the machine's already", Req: "BOOT-17"},
		{On: Bind, From: sm.In(Enrolling, Enrolled), When: when{Not: Bound | Foreign}, Refuse: sm.Conflict, Why: "the record enrolls on its own; decommission it first", Req: "EDGE-20"},
		{On: Bind, Refuse: sm.InvalidState, Why: "reactivate the record first", Req: "EDGE-20"},

		// Only what a flood of sightings can make is evicted, so a flood costs no record
		// that holds an address or a claim (BOOT-16, EDGE-19).
		{On: Evict, From: sm.In(Discovered), When: when{Not: Kept | Claimed}, To: Absent, Req: "BOOT-16"},
		{On: Evict, From: sm.In(Discovered), When: when{If: Kept}, Refuse: sm.Conflict, Why: "the record holds an address", Req: "BOOT-16"},
		{On: Evict, From: sm.In(Discovered), When: when{If: Claimed, Not: Kept}, Refuse: sm.Conflict, Why: "the MAC is a machine's or its candidate", Req: "BOOT-16"},
		{On: Evict, Refuse: sm.InvalidState, Why: "only discovered records make room", Req: "BOOT-16"},
	},
})
