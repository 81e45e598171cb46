package schedule

import sm "github.com/ingotmetal/ingot/statemachine"

type (
	state = sm.State[State, Kind]
	rule  = sm.Rule[State, Kind]
	when  = sm.When
)

// Table is cordon and drain (SCHED-1, SCHED-2). There are no attempts: a drain
// has no deadline of its own, it waits as long as the last allocation lives.
var Table = sm.Must(sm.Spec[State, Kind]{
	Name: "schedule", Start: sm.In(Open),
	Guards: []string{"live"}, Fields: []string{"forced release"},
	States: []state{
		{Name: Open, Kind: sm.Stable, Means: "takes new work"},
		{Name: Cordoned, Kind: sm.Stable, Means: "takes no new work; what is there goes on"},
		{Name: Draining, Kind: sm.Stable, Holds: FieldForce, Means: "cordoned, and waits until no live allocation is left"},
	},
	Rules: []rule{
		{On: Cordon, From: sm.In(Open), To: Cordoned, Req: "SCHED-1"},
		{On: Cordon, Stay: true, Req: "SCHED-1"},
		{On: Uncordon, From: sm.In(Cordoned, Draining), To: Open, Req: "SCHED-1"},
		{On: Uncordon, Stay: true, Req: "SCHED-1"},
		{On: Drain, From: sm.In(Open, Cordoned), To: Draining, Req: "SCHED-2"},
		{On: Drain, Stay: true, Why: "a forced release may be added to the ask", Req: "SCHED-2"},
		// The controller looks, then says so; between the two an allocation may have
		// come alive, and the guard is asked in the commit.
		{On: Drained, From: sm.In(Draining), When: when{Not: Live}, To: Cordoned, Req: "SCHED-2"},
		{On: Drained, From: sm.In(Draining), When: when{If: Live}, Refuse: sm.Conflict, Why: "a live allocation remains", Req: "SCHED-2"},
		{On: Drained, Refuse: sm.InvalidState, Why: "no drain is in progress", Req: "SCHED-2"},
		// A factory reset takes the reason draining and leaves the cordon (EDGE-3).
		{On: Reset, From: sm.In(Draining), To: Cordoned, Req: "EDGE-3"},
		{On: Reset, Stay: true, Req: "EDGE-3"},
	},
})

// ServiceTable is maintenance (SCHED-3, SCHED-4). It is a table of its own, since
// neither flag moves the other. Only an operator clears it.
var ServiceTable = sm.Must(sm.Spec[Service, ServiceKind]{
	Name: "maintenance", Start: sm.In(InService),
	States: []sm.State[Service, ServiceKind]{
		{Name: InService, Kind: sm.Stable, Means: "may be scheduled"},
		{Name: Maintenance, Kind: sm.Stable, Means: "never scheduled; counted in its own bucket"},
	},
	Rules: []sm.Rule[Service, ServiceKind]{
		{On: SetMaintenance, From: sm.In(InService), To: Maintenance, Req: "SCHED-4"},
		{On: SetMaintenance, Stay: true, Req: "EDGE-25"},
		{On: ClearMaintenance, From: sm.In(Maintenance), To: InService, Req: "SCHED-4"},
		{On: ClearMaintenance, Stay: true, Req: "SCHED-4"},
		{On: FailNode, From: sm.In(InService), To: Maintenance, Req: "PROV-2"},
		{On: FailNode, Stay: true, Req: "PROV-2"},
		{On: Escalate, From: sm.In(InService), To: Maintenance, Req: "SCHED-3"},
		{On: Escalate, Stay: true, Req: "SCHED-3"},
	},
})
