package statemachine_test

import (
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
)

// gate is a table of two states, one guard and one attempt.
var gate = statemachine.Must(statemachine.Spec[string, string]{
	Name: "gate", Start: []string{"shut"}, Guards: []string{"clear"}, Reports: []string{"opened"},
	States: []statemachine.State[string, string]{
		{Name: "shut", Kind: statemachine.Stable},
		{Name: "moving", Kind: statemachine.InFlight, Deadline: time.Minute, Expire: "late"},
		{Name: "open", Kind: statemachine.Stable},
	},
	Rules: []statemachine.Rule[string, string]{
		{On: "open", From: []string{"shut"}, When: statemachine.When{If: 1}, To: "moving"},
		{On: "open", From: []string{"shut"}, When: statemachine.When{Not: 1}, Refuse: statemachine.Conflict, Why: "someone stands there", Req: "GATE-1"},
		{On: "open", Stay: true},
		{On: "opened", From: []string{"moving"}, To: "open"},
		{On: "opened", Refuse: statemachine.InvalidState, Why: "it does not move"},
		{On: "late", From: []string{"moving"}, To: "shut"},
		{On: "late", Refuse: statemachine.Conflict, Why: "it does not move"},
		{On: "shut", From: []string{"open"}, To: "shut"},
		{On: "shut", Refuse: statemachine.InvalidState, Why: "it is not open"},
	},
})

func ExampleTable_Next() {
	fmt.Println(gate.Next("shut", "open", 1))
	fmt.Println(gate.Next("shut", "open", 0))
	// Output:
	// moving <nil>
	// shut gate: open is refused in shut: someone stands there (GATE-1); legal: open
}

func ExampleTable_Step() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at, _ := gate.Step(statemachine.At[string, string]{State: "shut"}, statemachine.Event[string]{On: "open", Next: 7}, 1, now)
	fmt.Println(at.State, at.Epoch, at.Deadline.Format(time.TimeOnly))

	report := statemachine.Event[string]{On: "opened", Epoch: 7}
	at, _ = gate.Step(at, report, 0, now)
	again, err := gate.Step(at, report, 0, now)
	fmt.Println(at.State, again == at, err)

	report.Epoch = 6
	_, err = gate.Step(at, report, 0, now)
	fmt.Println(err)
	// Output:
	// moving 7 12:01:00
	// open true <nil>
	// gate: opened is refused in open: it does not move; legal: open, shut
}

func ExampleNew() {
	spec := gate.Spec()
	spec.Rules = spec.Rules[1:]
	_, err := statemachine.New(spec)
	fmt.Println(err)
	// Output: statemachine: gate: open in shut: 0 rules apply when {clear} holds
}

func ExampleTable_Cells() {
	for c := range gate.Cells() {
		if c.From == "shut" && c.On == "open" {
			fmt.Printf("%s when %s: %s\n", c.On, gate.WhenNames(c.When), c.To)
		}
	}
	fmt.Println(gate.Legal("moving"))
	// Output:
	// open when clear: moving
	// open when not clear: shut
	// [open opened late]
}

// A sweeper asks what is due, and raises the event that ends it.
func ExampleTable_Due() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at, _ := gate.Step(statemachine.At[string, string]{State: "shut"}, statemachine.Event[string]{On: "open", Next: 7}, 1, now)

	now = now.Add(time.Minute)
	if deadline, expire, open := gate.Due(at); open && !now.Before(deadline) {
		at, _ = gate.Step(at, statemachine.Event[string]{On: expire}, 0, now)
	}
	fmt.Println(at.State, gate.Open(at))
	// Output: shut false
}

func ExampleWhen_Holds() {
	const clear, locked statemachine.Guard = 1, 2
	w := statemachine.When{If: clear, Not: locked}
	fmt.Println(w.Holds(clear), w.Holds(clear|locked), w.Holds(0))
	// Output: true false false
}

// A new release has no "moving": what changes for callers, and who is stuck.
func ExampleDiff() {
	next := gate.Spec()
	next.States = append(next.States[:1], next.States[2])
	next.Reports, next.Rules = nil, []statemachine.Rule[string, string]{
		{On: "open", From: []string{"shut"}, When: statemachine.When{If: 1}, To: "open"},
		{On: "open", From: []string{"shut"}, When: statemachine.When{Not: 1}, Refuse: statemachine.Unavailable, Why: "someone stands there", Req: "GATE-1"},
		{On: "open", Stay: true},
		{On: "shut", From: []string{"open"}, To: "shut"},
		{On: "shut", Refuse: statemachine.InvalidState, Why: "it is not open"},
	}
	for _, c := range statemachine.Diff(gate, statemachine.Must(next)) {
		if c.Strands() || c.State == "shut" && c.On == "open" {
			fmt.Println(c)
		}
	}
	// Output:
	// moving: "in-flight, drives none, holds {}, expires by late after 1m0s", now ""
	// shut, open, clear: "to moving", now "to open"
	// shut, open, not clear: "CONFLICT, by GATE-1", now "UNAVAILABLE, by GATE-1"
}

// Why is the gate not open? This is what must happen, and under which guards.
func ExampleTable_Path() {
	path, _ := gate.Path(statemachine.At[string, string]{State: "shut"}, "open")
	for _, c := range path {
		fmt.Printf("%s --%s--> %s when %s\n", c.From, c.On, c.To, gate.WhenNames(c.When))
	}
	// Output:
	// shut --open--> moving when clear
	// moving --opened--> open when always
}
