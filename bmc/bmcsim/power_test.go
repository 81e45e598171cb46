package bmcsim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// The states that a client reads after an order, each from a time on.
func TestPowerOverTime(t *testing.T) {
	type read struct {
		at    time.Duration
		state string
	}
	const s = time.Second
	for name, c := range map[string]struct {
		o      Power
		orders []string // with no time between them
		reads  []read
		starts int
	}{
		"on":                             {Power{OffTakes: s, OnTakes: 10 * s}, []string{"ForceOff"}, []read{{0, "PoweringOff"}, {s, "Off"}}, 0},
		"off to on":                      {Power{OnTakes: 10 * s}, []string{"ForceOff", "On"}, []read{{0, "PoweringOn"}, {9 * s, "PoweringOn"}, {10 * s, "On"}}, 1},
		"hidden":                         {Power{OnTakes: 10 * s, HideTransitions: true}, []string{"ForceOff", "ForceOn"}, []read{{0, "Off"}, {9 * s, "Off"}, {10 * s, "On"}}, 1},
		"restart":                        {Power{RestartTakes: 5 * s}, []string{"ForceRestart"}, []read{{0, "PoweringOn"}, {5 * s, "On"}}, 1},
		"restart that is hidden":         {Power{RestartTakes: 5 * s, HideTransitions: true}, []string{"ForceRestart"}, []read{{0, "On"}, {5 * s, "On"}}, 1},
		"restart that is stale":          {Power{RestartTakes: 5 * s, Stale: 3 * s}, []string{"ForceRestart"}, []read{{0, "On"}, {2 * s, "On"}, {3 * s, "PoweringOn"}, {5 * s, "On"}}, 1},
		"stale":                          {Power{Stale: 4 * s}, []string{"ForceOff"}, []read{{0, "On"}, {3 * s, "On"}, {4 * s, "Off"}}, 0},
		"flicker":                        {Power{Flicker: 2 * s}, []string{"ForceOff"}, []read{{0, "Off"}, {s, "Off"}, {2 * s, "On"}, {3 * s, "On"}, {4 * s, "Off"}, {99 * s, "Off"}}, 0},
		"press":                          {Power{ShutdownTakes: 30 * s}, []string{"PushPowerButton"}, []read{{0, "On"}, {29 * s, "On"}, {30 * s, "Off"}}, 0},
		"press to on":                    {Power{}, []string{"ForceOff", "PushPowerButton"}, []read{{0, "On"}}, 1},
		"deaf":                           {Power{Deaf: true}, []string{"GracefulShutdown"}, []read{{0, "On"}, {3600 * s, "On"}}, 0},
		"graceful restart":               {Power{ShutdownTakes: 10 * s}, []string{"GracefulRestart"}, []read{{0, "On"}, {10*s + 100*time.Millisecond, "Off"}, {12 * s, "On"}}, 1},
		"graceful restart of a deaf one": {Power{Deaf: true}, []string{"GracefulRestart"}, []read{{0, "On"}, {3600 * s, "On"}}, 0},
		"cycle":                          {Power{OffTakes: 2 * s}, []string{"PowerCycle"}, []read{{0, "PoweringOff"}, {2*s + 100*time.Millisecond, "Off"}, {4 * s, "On"}}, 1},
		"cycle from off":                 {Power{}, []string{"ForceOff", "PowerCycle"}, []read{{0, "On"}}, 1},
		"graceful restart, and off":      {Power{ShutdownTakes: 10 * s}, []string{"GracefulRestart", "ForceOff"}, []read{{0, "Off"}, {60 * s, "Off"}}, 0},
		"cycle, and off while off":       {Power{}, []string{"PowerCycle", "ForceOff"}, []read{{0, "Off"}, {60 * s, "Off"}}, 0},
		"graceful restart twice":         {Power{ShutdownTakes: 10 * s}, []string{"GracefulRestart", "GracefulRestart"}, []read{{0, "On"}, {13 * s, "On"}, {60 * s, "On"}}, 1},
		"graceful restart, and cycle":    {Power{ShutdownTakes: 10 * s}, []string{"GracefulRestart", "PowerCycle"}, []read{{0, "Off"}, {3 * s, "On"}, {60 * s, "On"}}, 1},
		"on twice":                       {Power{OnTakes: 10 * s}, []string{"ForceOff", "On", "On"}, []read{{0, "PoweringOn"}, {10 * s, "On"}}, 1},
		"on, and pressed on its way":     {Power{OnTakes: 10 * s}, []string{"ForceOff", "On", "PushPowerButton"}, []read{{0, "PoweringOn"}, {10 * s, "On"}}, 1},
		"on, and off on its way":         {Power{OnTakes: 10 * s}, []string{"ForceOff", "On", "ForceOff"}, []read{{0, "Off"}, {60 * s, "Off"}}, 1},
		"press, and off":                 {Power{ShutdownTakes: 5 * s, OffTakes: 30 * s}, []string{"GracefulShutdown", "ForceOff"}, []read{{0, "PoweringOff"}, {5 * s, "Off"}}, 0},
		"off twice":                      {Power{OffTakes: 3 * s}, []string{"ForceOff", "ForceOff"}, []read{{0, "PoweringOff"}, {3 * s, "Off"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.o.ResetTypes = []string{"On", "ForceOn", "ForceOff", "ForceRestart", "GracefulRestart", "GracefulShutdown", "PushPowerButton", "PowerCycle", "Nmi"}
				b := simulate(t, r750, Options{Power: c.o})
				for _, kind := range c.orders {
					b.reset(204, dell, kind)
				}
				begun := time.Now()
				for _, r := range c.reads {
					time.Sleep(r.at - time.Since(begun))
					synctest.Wait()
					if p := b.power(dell); p != r.state {
						t.Errorf("after %s: %s, want %s", r.at, p, r.state)
					}
				}
				if n := len(b.Backend(dell).(*Memory).Starts()); n != c.starts {
					t.Errorf("%d starts", n)
				}
			})
		})
	}
}

// The chassis follows later.
func TestChassisLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, r750, Options{Power: Power{ChassisLag: 5 * time.Second}})
		s.chassis("On")
		s.reset(204, dell, "ForceOff")
		s.chassis("On")
		time.Sleep(5 * time.Second)
		s.chassis("Off")
	})
}

// An order that makes no sense in the state is refused where the BMC is so.
func TestWrongState(t *testing.T) {
	for _, status := range []int{400, 409} {
		s := simulate(t, r750, Options{Power: Power{WrongState: status}})
		s.reset(status, dell, "On")
		s.reset(204, dell, "Nmi")
		s.reset(204, dell, "ForceOff")
		for _, kind := range []string{"ForceOff", "ForceRestart", "GracefulRestart", "GracefulShutdown", "PowerCycle", "Nmi"} {
			if g := s.reset(status, dell, kind); g.says() != "InvalidOperationForSystemState" {
				t.Errorf("%s: %s", kind, g.Body)
			}
		}
		if st := s.Stats(); st.NMIs != 1 || st.Resets["Nmi"] != 2 || s.Backend(dell).(*Memory).NMIs() != 1 {
			t.Errorf("%+v", st)
		}
	}
}

// A chassis is reset with the systems in it.
func TestChassisReset(t *testing.T) {
	s := simulate(t, r750, Options{})
	const chassis = "/redfish/v1/Chassis/System.Embedded.1"
	s.want(400, "POST", chassis+"/Actions/Chassis.Reset", map[string]any{"ResetType": "Nmi"})
	s.want(204, "POST", chassis+"/Actions/Chassis.Reset", map[string]any{"ResetType": "ForceOff"})
	s.chassis("Off")
	if p := s.power(dell); p != "Off" {
		t.Error(p)
	}
}

// Two systems of one BMC have power of their own.
func TestTwoSystems(t *testing.T) {
	s := simulate(t, "hpe-cray-ex235n-2node", Options{})
	s.reset(204, "/redfish/v1/Systems/Node0", "ForceOff")
	if a, b := s.power("/redfish/v1/Systems/Node0"), s.power("/redfish/v1/Systems/Node1"); a != "Off" || b != "On" {
		t.Errorf("%s, %s", a, b)
	}
}

// broken is a machine of which one thing fails.
type broken struct {
	*Memory
	what string
}

func (b *broken) fails(what string) error {
	if what == b.what {
		return errors.New("the plug is out")
	}
	return nil
}

func (b *broken) On(ctx context.Context, s Start) error {
	return errors.Join(b.fails("on"), b.Memory.On(ctx, s))
}
func (b *broken) Off(ctx context.Context) error {
	return errors.Join(b.fails("off"), b.Memory.Off(ctx))
}
func (b *broken) Running(ctx context.Context) (bool, error) {
	on, err := b.Memory.Running(ctx)
	return on, errors.Join(b.fails("running"), err)
}
func (b *broken) Insert(context.Context, Medium) error { return b.fails("insert") }
func (b *broken) Eject(context.Context, string) error  { return b.fails("eject") }

// What fails in a machine is told as a 500 with its reason.
func TestBackendFails(t *testing.T) {
	for what, do := range map[string]func(s *simulated) got{
		"on":      func(s *simulated) got { s.reset(204, dell, "ForceOff"); return s.reset(500, dell, "On") },
		"off":     func(s *simulated) got { return s.reset(500, dell, "ForceOff") },
		"running": func(s *simulated) got { return s.reset(500, dell, "ForceOff") },
		"insert":  func(s *simulated) got { return s.want(500, "POST", cd+insert, iso) },
		"eject": func(s *simulated) got {
			s.want(204, "POST", cd+insert, iso)
			return s.want(500, "POST", cd+eject, map[string]any{})
		},
	} {
		s := simulate(t, r750, Options{Backend: func(path string, on bool) Backend {
			if path != dell {
				t.Error(path)
			}
			return &broken{NewMemory(on, Power{}), what}
		}})
		if g := do(s); g.says() != "InternalError" || !strings.Contains(g.Body.String(), "the plug is out") {
			t.Errorf("%s: %s", what, g.Body)
		}
		if what == "running" {
			if g := s.want(200, "GET", dell, nil); g.at("PowerState") != nil {
				t.Errorf("%v", g.at("PowerState"))
			}
		}
	}
}

// A machine that fails to start again tells it in the log, since nobody waits.
func TestBackendFailsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, r750, Options{Backend: func(_ string, on bool) Backend { return &broken{NewMemory(on, Power{}), "on"} }})
		s.reset(204, dell, "PowerCycle")
		time.Sleep(5 * time.Second)
		if raw := s.want(200, "GET", s.EventLog(dell), nil).Body.String(); !strings.Contains(raw, "the plug is out") {
			t.Error(raw)
		}
	})
}

// Close ends what goes on behind an answer.
func TestCloseEndsOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := New(load(t, r750), Options{Power: Power{Deaf: true}})
		must(t, err)
		s := &simulated{b, t, ""}
		s.reset(204, dell, "GracefulRestart")
		must(t, b.Close())
		s.want(0, "GET", root, nil)
		must(t, b.Close())
	})
}

// Whatever is ordered, a machine without delays is in the state of a model, and an
// override that holds once is taken by one start alone.
func TestPowerModel(t *testing.T) {
	tree := load(t, r750)
	kinds := []string{"On", "ForceOff", "ForceRestart", "GracefulShutdown", "PushPowerButton", "Nmi"}
	rapid.Check(t, func(rt *rapid.T) {
		b, err := New(tree, Options{})
		must(t, err)
		defer b.Close()
		s := &simulated{b, t, ""}
		on, once, starts := true, false, 0
		var want []string
		rt.Repeat(map[string]func(*rapid.T){
			"override": func(*rapid.T) {
				s.want(204, "PATCH", dell, oncePXE)
				once = true
			},
			"order": func(rt *rapid.T) {
				kind := rapid.SampledFrom(kinds).Draw(rt, "kind")
				s.reset(204, dell, kind)
				was := on
				on = slices.Contains([]string{"On", "ForceRestart"}, kind) || kind == "PushPowerButton" && !was || kind == "Nmi" && was
				if kind == "ForceRestart" || on && !was {
					want = append(want, map[bool]string{true: "Pxe"}[once])
					once = false
					starts++
				}
			},
			"": func(rt *rapid.T) {
				if p := s.power(dell); (p == "On") != on {
					rt.Fatalf("it reads %s, on is %t", p, on)
				}
				var got []string
				for _, st := range s.Backend(dell).(*Memory).Starts() {
					got = append(got, st.Target)
				}
				if want = want[max(0, len(want)-maxStarts):]; !slices.Equal(got, want) {
					rt.Fatalf("started with %q, want %q", got, want)
				}
			},
		})
	})
}

// An override that holds once is taken by one start: neither an order that comes again
// nor a restart that another order has overtaken takes it.
func TestOrdersAgainKeepOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, r750, Options{Power: Power{OnTakes: 10 * time.Second, OffTakes: time.Second}})
		s.reset(204, dell, "ForceOff")
		time.Sleep(time.Second)
		s.want(204, "PATCH", dell, oncePXE)
		for range 4 { // a client that repeats faster than the machine goes on
			s.reset(204, dell, "On")
			time.Sleep(4 * time.Second)
		}
		if p, starts := s.power(dell), s.Backend(dell).(*Memory).Starts(); p != "On" || len(starts) != 1 || !starts[0].Once {
			t.Errorf("%s: %+v", p, starts)
		}
		s.reset(204, dell, "PowerCycle")
		s.reset(204, dell, "ForceOff")
		time.Sleep(500 * time.Millisecond)
		s.reset(204, dell, "ForceOff")
		s.want(204, "PATCH", dell, oncePXE)
		time.Sleep(time.Minute)
		if p, n := s.power(dell), len(s.Backend(dell).(*Memory).Starts()); p != "Off" || n != 1 {
			t.Errorf("%s, %d starts", p, n)
		}
		if g := s.want(200, "GET", dell, nil); g.at("Boot", bootEnabled) != "Once" {
			t.Errorf("%v", g.at("Boot"))
		}
	})
}
