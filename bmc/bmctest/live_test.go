package bmctest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc/bmctest"
)

// asLive is a stage that shows what live hardware does: no more than how to log in.
type asLive struct{ bmctest.Stage }

// liveStage shows one stage of a simulator as a live BMC, in the plain scene alone.
func liveStage(t *testing.T, sim *bmctest.Simulator) (bmctest.Simulation, func(context.Context, bmctest.Scene) (bmctest.Stage, error)) {
	t.Helper()
	s, err := sim.Stage(t.Context(), bmctest.Plain)
	if err != nil {
		t.Fatal(err)
	}
	return s.(bmctest.Simulation), func(_ context.Context, scene bmctest.Scene) (bmctest.Stage, error) {
		if scene != bmctest.Plain {
			return nil, bmctest.ErrNoScene
		}
		return kept{asLive{s}}, nil
	}
}

// kept is a stage that is still there after a law.
type kept struct{ asLive }

func (kept) Close() error { return nil }

// Laws of simulated BMCs turn machines off and log in with wrong passwords: to a
// live one they do nothing.
func TestSimulatedLawsLeaveLiveBMCsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := &bmctest.Simulator{}
		bmcs, stage := liveStage(t, sim)
		r := bmctest.Judge(t.Context(), bmctest.Subject{Driver: good(sim), Stage: stage, Levels: []bmctest.Level{bmctest.Simulated, bmctest.Recorded}}, nil)
		if n := r.Count(bmctest.NotRun); n != len(r.Results) || n == 0 {
			t.Errorf("%d of %d are not run", n, len(r.Results))
		}
		if n := bmcs.Tally(); n.Requests != 0 {
			t.Errorf("it was asked for something: %+v", n)
		}
		if err := bmcs.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Second) // both ends of a connection in memory close
	})
}
