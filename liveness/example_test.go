package liveness_test

import (
	"fmt"
	"maps"
	"time"

	"github.com/ingotmetal/ingot/liveness"
)

func ExampleWindows_Judge() {
	var w liveness.Windows
	o := liveness.Observation{
		State:        liveness.Connected,
		Disconnected: liveness.At(0), // its session ended
		Gateway:      "gw-1",
	}
	var g liveness.Graces
	fmt.Println(w.Judge(o, &g, liveness.At(40*time.Second)))
	fmt.Println(w.Judge(o, &g, liveness.At(41*time.Second)))

	g.GatewayLost(w, "gw-1", liveness.At(0))
	fmt.Println(w.Judge(o, &g, liveness.At(160*time.Second)))
	fmt.Println(w.Judge(o, &g, liveness.At(161*time.Second)))
	// Output:
	// disconnected
	// unreachable
	// disconnected
	// unreachable
}

// A gateway keeps a ledger of its sessions and flushes it; an observer applies
// the rows to a ledger of its own, on a clock of its own.
func ExampleLedger() {
	gateway := liveness.NewLedger[string](1)
	session, err := gateway.Open("node-7", 3, liveness.At(0))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := gateway.Beat(session, liveness.At(10*time.Second)); err != nil {
		fmt.Println(err)
		return
	}

	observer := liveness.NewLedger[string](1)
	for row := range gateway.Unflushed(liveness.At(15 * time.Second)) {
		fmt.Println(row.Node, row.Epoch, row.Age)
		if err := observer.Restore(row, liveness.At(time.Hour)); err != nil {
			fmt.Println(err)
		}
	}
	gateway.Flushed(liveness.At(15 * time.Second))

	seen, _ := observer.Seen("node-7")
	fmt.Println(liveness.At(time.Hour).Sub(seen))
	// Output:
	// node-7 3 5s
	// 5s
}

func ExampleSweep() {
	now := liveness.At(time.Hour)
	site := map[string]*liveness.Observation{
		"node-1": {State: liveness.Connected, Open: true, Flushed: now.Add(-9 * time.Second)},
		"node-2": {State: liveness.Connected, Open: true, Flushed: now.Add(-41 * time.Second)},
	}
	t := liveness.Tick{Graces: &liveness.Graces{}, Previous: now.Add(-5 * time.Second), Now: now}
	changes, report := liveness.Sweep(t, maps.All(site))
	for c := range changes {
		fmt.Println(c.Node, c.From, "->", c.To, "keep work away:", c.SetsNoSchedule())
	}
	fmt.Println(report.Nodes, "nodes,", len(report.Frozen), "domains frozen")
	// Output:
	// node-2 connected -> unreachable keep work away: true
	// 2 nodes, 0 domains frozen
}

func ExampleClones_Saw() {
	var c liveness.Clones
	for i, machine := range []string{"A", "A", "B", "A", "B", "A"} {
		var v liveness.Verdict
		var err error
		c, v, err = c.Saw(machine, liveness.At(time.Duration(i)*time.Minute))
		fmt.Printf("%s %q %v\n", machine, v, err)
	}
	// Output:
	// A "" <nil>
	// A "" <nil>
	// B "duplicate-session" <nil>
	// A "" <nil>
	// B "" <nil>
	// A "duplicate-identity" <nil>
}
