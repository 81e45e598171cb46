// Package pump is a small machine that uses all that a Spec offers. The
// engine, its kit and its renderer are tested on it.
package pump

import (
	"time"

	"github.com/ingotmetal/ingot/statemachine"
)

// State is a state of the pump, and On what may happen to it.
type (
	State string
	On    string
)

// The states.
const (
	None     State = "none"
	Idle     State = "idle"
	Filling  State = "filling"
	Draining State = "draining"
	Serving  State = "serving"
	Broken   State = "broken"
)

// The events. Filled, Drained, Flushed and Failed are reports.
const (
	Install On = "install"
	Fill    On = "fill"
	Filled  On = "filled"
	Drained On = "drained"
	Flush   On = "flush"
	Flushed On = "flushed"
	Failed  On = "failed"
	Stop    On = "stop"
	Timeout On = "timeout"
	Scrap   On = "scrap"
	Remove  On = "remove"
)

// The guards. Exactly one of Wet and Dry holds.
const (
	Primed statemachine.Guard = 1 << iota
	Wet
	Dry
)

// The fields.
const (
	Level statemachine.Fields = 1 << iota
	Filter
)

// Deadlines of its attempts.
const (
	FillTime  = 10 * time.Minute
	DrainTime = 5 * time.Minute
	FlushTime = 30 * time.Second
)

// Spec returns a fresh copy, for tests that change it.
func Spec() statemachine.Spec[State, On] {
	return statemachine.Spec[State, On]{
		Name: "pump", Start: statemachine.In(None),
		Guards: []string{"primed", "wet", "dry"}, OneOf: []statemachine.Guard{Wet | Dry},
		Fields:  []string{"level", "filter"},
		Reports: []On{Filled, Drained, Flushed, Failed},
		States: []statemachine.State[State, On]{
			{Name: None, Kind: statemachine.Absent, Means: "no pump"},
			{Name: Idle, Kind: statemachine.Stable, Holds: Filter, Means: "stands still"},
			{Name: Filling, Kind: statemachine.InFlight, Deadline: FillTime, Expire: Timeout,
				Drives: statemachine.Power, Holds: Level | Filter, Means: "takes water"},
			{Name: Draining, Kind: statemachine.InFlight, Deadline: DrainTime, Expire: Timeout,
				Drives: statemachine.Power, Holds: Level | Filter, Means: "lets the first water go"},
			{Name: Serving, Kind: statemachine.Stable, Expire: Timeout,
				Drives: statemachine.Power, Holds: Level | Filter, Means: "gives water"},
			{Name: Broken, Kind: statemachine.Terminal, Means: "waits for removal"},
		},
		Rules: rules(),
	}
}

func rules() []statemachine.Rule[State, On] {
	type when = statemachine.When
	in := statemachine.In[State]
	return []statemachine.Rule[State, On]{
		{On: Install, From: in(None), To: Idle, Req: "PUMP-1"},
		{On: Install, Stay: true, Req: "PUMP-1"},

		{On: Fill, From: in(Idle), When: when{If: Primed}, To: Filling, Req: "PUMP-2"},
		{On: Fill, From: in(Idle), When: when{If: Dry, Not: Primed}, Refuse: statemachine.Conflict, Why: "a dry pump must be primed", Req: "PUMP-2"},
		{On: Fill, From: in(Idle), When: when{If: Wet, Not: Primed}, To: Filling, Req: "PUMP-3"},
		{On: Fill, Refuse: statemachine.InvalidState, Why: "only an idle pump is filled", Req: "PUMP-2"},

		{On: Filled, From: in(Filling), To: Draining, Req: "PUMP-4"},
		{On: Filled, Refuse: statemachine.InvalidState, Why: "nothing is being filled"},
		{On: Drained, From: in(Draining), To: Serving, Req: "PUMP-4"},
		{On: Drained, Refuse: statemachine.InvalidState, Why: "nothing is being drained"},

		{On: Flush, From: in(Serving), Stay: true, Opens: FlushTime, Req: "PUMP-5"},
		{On: Flush, Refuse: statemachine.InvalidState, Why: "only a serving pump is flushed", Req: "PUMP-5"},
		{On: Flushed, From: in(Serving), Stay: true, Ends: Flushed, Req: "PUMP-5"},
		{On: Flushed, Refuse: statemachine.InvalidState, Why: "nothing is being flushed"},

		{On: Failed, From: in(Filling, Draining), To: Idle, Req: "PUMP-6"},
		{On: Failed, From: in(Serving), Stay: true, Ends: Failed, Req: "PUMP-6"},
		{On: Failed, Refuse: statemachine.InvalidState, Why: "nothing is being tried"},
		{On: Stop, From: in(Filling, Draining, Serving), To: Idle, Ends: Failed, Req: "PUMP-7"},
		{On: Stop, Stay: true, Req: "PUMP-7"},
		{On: Timeout, From: in(Filling, Draining), To: Idle, Ends: Failed, Req: "PUMP-8"},
		{On: Timeout, From: in(Serving), Stay: true, Ends: Failed, Req: "PUMP-8"},
		{On: Timeout, Refuse: statemachine.Conflict, Why: "nothing is being tried", Req: "PUMP-8"},

		{On: Scrap, From: in(Idle, Serving), To: Broken, Forget: true, Req: "PUMP-9"},
		{On: Scrap, From: in(Broken), Stay: true, Req: "PUMP-9"},
		{On: Scrap, Refuse: statemachine.InvalidState, Why: "stop it first", Req: "PUMP-9"},
		{On: Remove, From: in(Idle, Broken), To: None, Req: "PUMP-9"},
		{On: Remove, From: in(None), Stay: true, Req: "PUMP-9"},
		{On: Remove, Refuse: statemachine.InvalidState, Why: "stop it first", Req: "PUMP-9"},
	}
}

// Table compiles Spec.
func Table() *statemachine.Table[State, On] { return statemachine.Must(Spec()) }
