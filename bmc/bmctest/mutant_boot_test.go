package bmctest_test

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmctest"
)

func bootMutants() []mutant {
	fakes := sessions(func(s *session) {
		s.set = func(_ context.Context, b bmc.BootSpec) (bmc.BootState, error) {
			is := bmc.BootState{Target: b.Target, Life: b.Life, Mode: b.Mode, URI: b.URI}
			s.boot = func(context.Context) (bmc.BootState, error) { return is, nil }
			return is, nil
		}
	})
	remembers := sessions(func(s *session) {
		set := s.set
		s.set = func(ctx context.Context, b bmc.BootSpec) (bmc.BootState, error) {
			is, err := set(ctx, b)
			s.boot = func(context.Context) (bmc.BootState, error) { return is, nil }
			return is, err
		}
	})
	refuses := sessions(func(s *session) {
		s.set = func(context.Context, bmc.BootSpec) (bmc.BootState, error) {
			return bmc.BootState{}, &bmc.Error{Kind: bmc.Protocol, Op: "set boot", Status: http.StatusPreconditionFailed}
		}
	})
	claims := sessions(func(s *session) {
		s.insert = func(_ context.Context, m bmc.MediaSpec) (bmc.MediaSlot, error) {
			return bmc.MediaSlot{ID: m.Slot, Image: m.Image, Inserted: true, TakesURL: true}, nil
		}
	})
	return []mutant{
		{39, "says what it was asked for", fakes},
		{39, "says that it has cleared", sessions(func(s *session) {
			s.clear = func(context.Context) (bmc.BootState, error) { return bmc.BootState{Target: bmc.BootNone}, nil }
		})},
		{40, "does not look again", remembers},
		{41, "says what it was asked for", fakes},
		{42, "knows no entity tags", refuses},
		{42, "sends entity tags as they were told", echoes},
		{43, "knows no settings objects", fakes},
		{44, "says that it is inserted", claims},
		{45, "takes any slot", claims},
		{46, "stops at an old medium", sessions(func(s *session) {
			s.insert = func(context.Context, bmc.MediaSpec) (bmc.MediaSlot, error) {
				return bmc.MediaSlot{}, &bmc.Error{Kind: bmc.Conflict, Op: "insert"}
			}
		})},
		{60, "clears the boot override when it probes", sessions(func(s *session) {
			probe := s.probe
			s.probe = func(ctx context.Context) (bmc.Probed, error) {
				_, _ = s.set(ctx, bmc.BootSpec{Target: bmc.BootPXE, Mode: bmc.UEFI})
				return probe(ctx)
			}
		})},
		{62, "says that it has rotated", sessions(func(s *session) { s.rotate = func(context.Context, bmc.Secret) error { return nil } })},
	}
}

func treeMutants() []mutant {
	probes := func(f func(*bmc.Probed)) func(*bmctest.Simulator) bmc.Driver {
		return sessions(func(s *session) {
			probe := s.probe
			s.probe = func(ctx context.Context) (bmc.Probed, error) {
				p, err := probe(ctx)
				f(&p)
				return p, err
			}
		})
	}
	return []mutant{
		{48, "takes the first system", bend(bent{open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
			s, err := d.Open(ctx, e, a)
			if err != nil && e.System == "" {
				e.System = "Node0"
				return d.Open(ctx, e, a)
			}
			return s, err
		}})},
		{49, "takes the first system", func(sim *bmctest.Simulator) bmc.Driver {
			var n int
			return &bent{Driver: good(sim), open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
				if n++; n%2 == 0 && e.System == "Node0" {
					e.System = "Node1"
				}
				return d.Open(ctx, e, a)
			}}
		}},
		{49, "takes a place in the list for a name", func(sim *bmctest.Simulator) bmc.Driver {
			return &bent{Driver: good(sim), open: func(ctx context.Context, d bmc.Driver, e bmc.Endpoint, a bmc.Access) (bmc.Session, error) {
				list := &naiveSession{naive{sim: sim}, &http.Client{Transport: careless(sim)}, e.URL, a}
				all, err := list.members(ctx, "/redfish/v1/Systems")
				if err == nil && len(all) == 2 && strings.HasPrefix(e.System, "Node") {
					e.System = path.Base(all[e.System[4]-'0'])
				}
				return d.Open(ctx, e, a)
			}}
		}},
		{50, "takes every address", sessions(func(s *session) {
			nics := s.nics
			s.nics = func(ctx context.Context) (bmc.Inspection, error) {
				in, err := nics(ctx)
				for i := range in.NICs {
					in.NICs[i].Fault = bmc.NoFault
				}
				return in, err
			}
		})},
		{51, "takes every UUID", probes(func(p *bmc.Probed) { p.UUID.Fault = "" })},
		{52, "trips over a missing resource", sessions(func(s *session) {
			s.nics = func(context.Context) (bmc.Inspection, error) {
				return bmc.Inspection{}, &bmc.Error{Kind: bmc.NotFound, Op: "inventory"}
			}
		})},
		{53, "leaves out what it does not know", sessions(func(s *session) {
			targets := s.targets
			s.targets = func(ctx context.Context) ([]bmc.BootTarget, error) {
				list, err := targets(ctx)
				return slices.DeleteFunc(list, func(b bmc.BootTarget) bool { return b[0] >= 'A' && b[0] <= 'Z' }), err
			}
		})},
	}
}
