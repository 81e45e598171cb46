package machine_test

import (
	"context"
	"fmt"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
)

// A machine is turned on, by a driver for BMCs that exist nowhere. All machines
// of a process share one Gates.
func Example() {
	var gates machine.Gates
	m, err := machine.New(machine.Config{
		Driver:      &fake{password: "hunter2"},
		Endpoint:    bmc.Endpoint{URL: "https://10.0.0.7", Trust: bmc.Trust{Pin: "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}},
		Credentials: newVault("hunter2"),
		Gates:       &gates,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer func() { _ = m.Close(ctx) }()
	for range 2 {
		r, err := m.Power(ctx, bmc.TurnOn, "request 1")
		fmt.Println(r.Last.State, r.Changed, err)
	}
	// Output:
	// on true <nil>
	// on false <nil>
}
