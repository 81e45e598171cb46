package bmctest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
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

// A password that a law has set is taken back whatever happens then, and named.
func TestRotationComesBack(t *testing.T) {
	gone := errors.New("no more")
	for name, c := range map[string]struct {
		bent func(stop func()) bent
		says []string
	}{
		"no login with the new one": {func(func()) bent {
			opened := 0
			return bent{open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
				if opened++; opened == 2 {
					return nil, &bmc.Error{Kind: bmc.Unreachable, Op: "open", Sent: bmc.SentNo}
				}
				return d.Open(ctx, e, a)
			}}
		}, []string{"Kit-7aQ-x9Bd", "the old one stands again"}},
		"the caller goes": {func(stop func()) bent {
			return bent{session: func(s *session) {
				rotate := s.rotate
				s.rotate = func(ctx context.Context, p bmc.Secret) error {
					defer stop()
					return rotate(ctx, p)
				}
			}}
		}, []string{"Kit-7aQ-x9Bd", "the old one stands again"}},
		"the answer is lost": {func(func()) bent {
			return bent{session: func(s *session) {
				rotate, n := s.rotate, 0
				s.rotate = func(ctx context.Context, p bmc.Secret) error {
					if n++; n == 1 {
						return errors.Join(rotate(ctx, p), gone)
					}
					return rotate(ctx, p)
				}
			}}
		}, []string{"Kit-7aQ-x9Bd", "the old one stands again"}},
		"the open session rotates no more": {func(func()) bent {
			n := 0
			return bent{session: func(s *session) {
				rotate := s.rotate
				s.rotate = func(ctx context.Context, p bmc.Secret) error {
					if n++; n == 2 {
						return gone
					}
					return rotate(ctx, p)
				}
			}}
		}, nil},
		"no way back": {func(func()) bent {
			return bent{session: func(s *session) {
				rotate := s.rotate
				s.rotate = func(ctx context.Context, p bmc.Secret) error {
					if p.Show() != "Kit-7aQ-x9Bd" {
						return gone
					}
					return rotate(ctx, p)
				}
			}}
		}, []string{"Kit-7aQ-x9Bd may stand"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				comesBack(t, c.bent, c.says)
			})
		})
	}
}

// comesBack checks the law of rotation, and what is told and stands then.
func comesBack(t *testing.T, bend func(stop func()) bent, says []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	sim := &bmctest.Simulator{}
	bmcs, stage := liveStage(t, sim)
	d := bend(stop)
	d.Driver = good(sim)
	r := bmctest.Judge(ctx, bmctest.Subject{Driver: &d, Stage: stage, Levels: []bmctest.Level{bmctest.Destructive}, Only: 62}, nil)
	why := r.Results[0].Why
	if (r.Count(bmctest.Kept) == 1) != (says == nil) {
		t.Errorf("%+v", r.Results)
	}
	for _, word := range says {
		if !strings.Contains(why, word) {
			t.Errorf("it does not say %q: %s", word, why)
		}
	}
	if _, err := loggedIn(t, sim, bmcs); (err == nil) == strings.Contains(why, "may stand") {
		t.Errorf("the old password: %v; told: %s", err, why)
	}
	if err := bmcs.Close(); err != nil {
		t.Error(err)
	}
	time.Sleep(10 * time.Second) // both ends of a connection in memory close
}

// loggedIn probes with the password that the BMC began with.
func loggedIn(t *testing.T, sim *bmctest.Simulator, at bmctest.Stage) (bmc.Probed, error) {
	s, err := good(sim).Open(t.Context(), at.Endpoint(), bmc.Access{Credentials: known(at.Credentials())})
	if err != nil {
		return bmc.Probed{}, err
	}
	defer s.Close(t.Context())
	return s.Probe(t.Context())
}

// known are credentials that do not change.
type known bmc.Credentials

func (k known) Credentials(context.Context) (bmc.Credentials, error) { return bmc.Credentials(k), nil }
