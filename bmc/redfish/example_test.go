package redfish_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
	"github.com/ingotmetal/ingot/bmc/redfish"
)

// known are credentials that never change.
type known bmc.Credentials

func (k known) Credentials(context.Context) (bmc.Credentials, error) { return bmc.Credentials(k), nil }

// A machine behind a simulated BMC is turned on. On is what the BMC accepted;
// what came of it, a later read says.
func ExampleDriver() {
	raw, err := trees.Read("openbmc-stock-2.15-off")
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := bmcsim.ParseTree("machine", bytes.NewReader(raw))
	if err != nil {
		fmt.Println(err)
		return
	}
	sim, err := bmcsim.New(tree, bmcsim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sim.Close()
	server := httptest.NewServer(sim)
	defer server.Close()

	ctx := context.Background()
	s, err := redfish.Driver{}.Open(ctx,
		bmc.Endpoint{URL: server.URL, Trust: bmc.Trust{Insecure: true}},
		bmc.Access{Credentials: known{Username: "root", Password: bmc.Keep(bmcsim.DefaultPassword)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)

	power, _ := bmc.As[bmc.Power](s)
	before, err := power.ReadPower(ctx)
	fmt.Println(before.State, before.Chassis, err)
	receipt, err := power.SendPower(ctx, bmc.SendOn)
	fmt.Println(receipt.As, err)
	after, err := power.ReadPower(ctx)
	fmt.Println(after.State, after.Chassis, err)
	// Output:
	// off off <nil>
	// On <nil>
	// on on <nil>
}
