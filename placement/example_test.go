package placement_test

import (
	"fmt"

	"github.com/ingotmetal/ingot/placement"
)

// A node that is kept for one tenant lets that tenant through.
func ExampleJudge() {
	reasons, err := placement.ParseReasons("taint:dedicated=acme")
	if err != nil {
		fmt.Println(err)
		return
	}
	n := placement.Flatten(0, reasons)
	fmt.Println(placement.Judge(n, "acme", placement.EveryReason))
	fmt.Println(placement.Judge(n, "beta", placement.EveryReason))

	n.Holds |= placement.Cordoned
	fmt.Println(placement.Judge(n, "acme", placement.DedicationsOnly))
	// Output:
	// none
	// foreign-dedication
	// cordoned
}

// Why does acme's own node not take acme's work?
func ExampleExplain() {
	reasons, err := placement.ParseReasons("taint:dedicated=acme", "draining")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range placement.Explain(placement.Cordoned, reasons, "acme", placement.EveryReason) {
		fmt.Printf("%v, owner %v: %s\n", b.Cause, b.Owner, b.Remedy)
	}
	// Output:
	// cordoned, owner operator: uncordon the node (SCHED-1)
	// reason, owner drain: uncordon the node, or wait for the drain to end (SCHED-2)
}

// A controller moves its own reason and no other.
func ExampleReasons_Without() {
	reasons, _ := placement.ParseReasons("taint:burn-in", "unreachable")
	reasons, err := reasons.Without(placement.Connectivity, placement.Unreachable)
	fmt.Println(reasons.Len(), err)
	_, err = reasons.Without(placement.Connectivity, "taint:burn-in")
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// placement: reason "taint:burn-in" refused: want a reason whose owner is the caller; this one's is operator (TAINT-1)
}

// Lifting a dedication wakes everyone who could not get in before.
func ExampleEdge() {
	before := placement.Node{Dedications: 1, Tenant: "acme"}
	fmt.Println(placement.Edge(before, placement.Node{}, placement.EveryReason))
	// Output: everyone but acme
}

func ExampleIndex() {
	var x placement.Index
	for slot, n := range []placement.Node{
		{},
		{Holds: placement.Maintenance},
		{Dedications: 1, Tenant: "acme"},
		{Dedications: 1, Tenant: "beta"},
	} {
		if err := x.Set(slot, n); err != nil {
			fmt.Println(err)
		}
	}
	for slot := range x.All("acme", placement.EveryReason) {
		fmt.Println(slot)
	}
	// Output:
	// 0
	// 2
}

func ExampleDevice_Bucket() {
	d := placement.Device{Allocated: true}
	fmt.Println(d.Bucket())
	d.Node.Holds = placement.Maintenance
	fmt.Println(d.Bucket())
	// Output:
	// allocated
	// maintenance
}

func ExampleLabels_Apply() {
	labels, _ := placement.ParseLabels(placement.Label{Key: "rack", Value: "r7", Owner: placement.Inventory})
	labels, err := labels.Apply(placement.LabelCall{Set: map[string]string{"team": "blue"}, Remove: []string{"rack"}})
	for l := range labels.All() {
		fmt.Println(l.Key, l.Value, l.Owner)
	}
	fmt.Println(err)
	// Output:
	// rack r7 inventory
	// team blue operator
	// <nil>
}
