package schedule_test

import (
	"fmt"

	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// A node is drained: it stays cordoned when the last live allocation is gone.
func ExampleStep() {
	node := schedule.New()
	for _, e := range []schedule.Event{
		{On: schedule.Drain},
		{On: schedule.Drain}, // again: nothing to publish
		{On: schedule.Drained, Live: true},
		{On: schedule.Drained},
	} {
		var changed bool
		var err error
		node, changed, err = schedule.Step(node, e)
		fmt.Println(node.State, changed, err)
	}
	// Output:
	// draining true <nil>
	// draining false <nil>
	// draining false schedule: drained is refused in draining: a live allocation remains (SCHED-2); legal: cordon, uncordon, drain, drained, reset
	// cordoned true <nil>
}

// Operator taints are a set; a call that changes nothing says so.
func ExampleTaint() {
	node, changed, err := schedule.Taint(schedule.New(), []string{"dedicated=acme", "bench"}, nil)
	fmt.Println(node.Taints, changed, err)
	node, changed, err = schedule.Taint(node, []string{"bench"}, []string{"gone"})
	fmt.Println(node.Taints, changed, err)
	_, _, err = schedule.Taint(node, []string{"bench"}, []string{"bench"})
	fmt.Println(err)
	// Output:
	// [bench dedicated=acme] true <nil>
	// [bench dedicated=acme] false <nil>
	// taint "bench": is named twice
}
