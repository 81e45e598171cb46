package vendordriver_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmctest"
	"github.com/ingotmetal/ingot/bmc/wire"
	"github.com/ingotmetal/ingot/examples/vendordriver"
)

// A vendor's whole conformance test. BMCs are simulated in memory; with
// bmctest.Live in Levels and a stage of your own it is the same for a real one.
func TestConformance(t *testing.T) {
	sim := &bmctest.Simulator{}
	bmctest.Run(t, bmctest.Subject{
		Driver: vendordriver.Driver{Wire: wire.Options{Dial: sim.Dial}}, Stage: sim.Stage, Recordings: bmctest.Recordings, Bubble: true,
	})
}

func Example() {
	ctx := context.Background()
	sim := &bmctest.Simulator{}
	stage, err := sim.Stage(ctx, bmctest.Plain)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stage.Close()

	d := vendordriver.Driver{Wire: wire.Options{Dial: sim.Dial}}
	s, err := d.Open(ctx, stage.Endpoint(), bmc.Access{Credentials: known(stage.Credentials())})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)
	p, err := s.Probe(ctx)
	fmt.Println(p.Vendor, p.Model, p.Power.State, bmc.Cycle.Support(&p).Level, err)
	// Output: Dell Inc. PowerEdge R750 on emulated <nil>
}

// known is a source of one pair of credentials.
type known bmc.Credentials

func (k known) Credentials(context.Context) (bmc.Credentials, error) { return bmc.Credentials(k), nil }
