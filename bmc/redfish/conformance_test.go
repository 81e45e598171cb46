package redfish_test

import (
	"testing"

	"github.com/ingotmetal/ingot/bmc/bmctest"
	"github.com/ingotmetal/ingot/bmc/redfish"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// The driver keeps every law, on the simulator and on all recorded BMCs.
func TestConformance(t *testing.T) {
	sim := &bmctest.Simulator{}
	bmctest.Run(t, bmctest.Subject{
		Driver: redfish.Driver{Wire: wire.Options{Dial: sim.Dial}}, Stage: sim.Stage, Recordings: bmctest.Recordings, Bubble: true,
		Levels: []bmctest.Level{bmctest.Pure, bmctest.Simulated, bmctest.Recorded, bmctest.Live, bmctest.Destructive},
	})
}
