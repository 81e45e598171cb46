package redfish_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

// A turnstile is a gate with the limits that a driver asks for.
type turnstile struct {
	slots chan struct{}
	mu    sync.Mutex
	last  time.Time
	every time.Duration
}

func gateOf(l bmc.Limits) *turnstile {
	return &turnstile{slots: make(chan struct{}, max(l.Concurrent, 1)), every: l.Interval}
}

func (g *turnstile) Enter(context.Context) (func(), error) {
	g.slots <- struct{}{}
	g.mu.Lock()
	defer g.mu.Unlock()
	time.Sleep(time.Until(g.last.Add(g.every)))
	g.last = time.Now()
	return func() { <-g.slots }, nil
}

// together reads the power n times at once and wants no error.
func together(t *testing.T, s bmc.Power, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if _, err := s.ReadPower(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func readPower(t *testing.T, s bmc.Power) bmc.PowerObservation {
	t.Helper()
	o, err := s.ReadPower(t.Context())
	must(t, err)
	return o
}

func TestReportsOfSessions(t *testing.T) {
	patchesOnce := func(t *testing.T, r *rig) { setBoot(t, r.open(), pxe()) }
	sessions := func(t *testing.T, r *rig) {
		first, second := r.open(), r.open()
		_, err := r.tryOpen()
		wantKind(t, err, bmc.Busy)
		must(t, first.Close(t.Context()))
		must(t, second.Close(t.Context()))
		readPower(t, r.open())
		if n := r.Stats().Sessions; n != 1 {
			t.Errorf("%d sessions", n)
		}
	}
	run(t, []report{
		{"stmcginnis/gofish#75", "sessions-run-out", "", sessions},
		{"bb-Ricardo/check_redfish#198", "sessions-run-out", "", sessions},
		{"DMTF/python-redfish-library#160", "logout-is-401", "", func(t *testing.T, r *rig) {
			s := r.open()
			must(t, s.Close(t.Context()))
			must(t, s.Close(t.Context()))
		}},
		{"bb-Ricardo/check_redfish#187", "login-redirects", "", func(t *testing.T, r *rig) { readPower(t, r.open()) }},
		{"ansible-collections/community.general#5903", "login-refuses-basic", "", func(t *testing.T, r *rig) { readPower(t, r.open()) }},
		{"ansible-collections/community.general#3268", "etag-quoted-twice", "", patchesOnce},
		{"stmcginnis/gofish#511", "etag-gzip", "", patchesOnce},
		{"bb-Ricardo/check_redfish#151", "two-documents", "", func(t *testing.T, r *rig) {
			_, err := r.tryOpen()
			wantKind(t, err, bmc.Protocol)
			if n := r.Stats().Sessions; n != 0 {
				t.Errorf("%d sessions are left", n)
			}
		}},
		{"ironcore-dev/metal-operator#170", "starts-busy", "", func(t *testing.T, r *rig) {
			_, err := r.tryOpen()
			if e := wantKind(t, err, bmc.Busy); e.After != 30*time.Second {
				t.Errorf("%v", e)
			}
			time.Sleep(30 * time.Second)
			readPower(t, r.open())
		}},
	})
}

func TestReportsOfLoad(t *testing.T) {
	task := func(t *testing.T, r *rig) {
		s := r.open()
		receipt, err := s.SendPower(t.Context(), bmc.SendReset)
		if err != nil || receipt.Task == "" {
			t.Errorf("%+v, %v", receipt, err)
		}
		inserted(t, s, bmc.MediaSpec{Image: iso})
	}
	run(t, []report{
		{"dell/terraform-provider-redfish#342", "busy-at-two", "", func(t *testing.T, r *rig) {
			r.gate = gateOf(r.driver().Info().Limits)
			together(t, r.open(), 8)
		}},
		{"siderolabs/omni#785", "freezes-after-bursts", "", func(t *testing.T, r *rig) {
			r.end.Options = []byte(`{"interval":"60ms"}`)
			l, err := r.driver().LimitsOf(r.end.Options)
			must(t, err)
			r.gate = gateOf(l)
			together(t, r.open(), 30)
		}},
		{"dsx-ai-factory/infra-controller#4978", "locks-out", "", func(t *testing.T, r *rig) {
			s := r.open()
			var polls sync.WaitGroup
			for range 4 {
				polls.Go(func() {
					for range 20 {
						if _, err := s.ReadPower(t.Context()); err != nil {
							t.Error(err)
						}
						time.Sleep(time.Millisecond)
					}
				})
			}
			must(t, s.RotatePassword(t.Context(), bmc.Keep("next-password")))
			polls.Wait()
			if n := r.Stats().FailedLogins; n != 0 {
				t.Errorf("%d failed logins", n)
			}
		}},
		{"dell/dellemc-openmanage-ansible-modules#420", "task-vanishes", "", task},
		{"ironcore-dev/metal-operator#668", "task-vanishes", "", task},
		{"xcat2/xcat-core#2693", "restart-takes-minutes", "", func(t *testing.T, r *rig) {
			s := r.open()
			r.Reboot()
			_, err := s.ReadPower(t.Context())
			if err == nil {
				t.Fatal("a BMC that is away was read")
			}
			time.Sleep(3 * time.Minute)
			readPower(t, s) // by a new session of the BMC
			if n := r.count("POST", "Sessions"); n != 2 {
				t.Errorf("%d logins", n)
			}
		}},
		{"openbmc/openbmc#3550", "password-of-20-bytes", openbmc, func(t *testing.T, r *rig) {
			s := r.open()
			e := wantKind(t, s.RotatePassword(t.Context(), bmc.Keep(strings.Repeat("x", 21))), bmc.InvalidOption)
			if n := r.count("PATCH", "/root"); n != 0 || e.Sent != bmc.SentNo {
				t.Errorf("%d patches, %v", n, e)
			}
			must(t, s.RotatePassword(t.Context(), bmc.Keep(strings.Repeat("x", 20))))
		}},
	})
}

func TestReportsOfIdentity(t *testing.T) {
	run(t, []report{
		{"metal-stack/go-hal#57", "uuid-changes-order", "", func(t *testing.T, r *rig) {
			for _, id := range []string{"4c4c4544-0035-3410-8050-c6c04f314733", "44454c4c-3500-1034-8050-c6c04f314733"} {
				readPower(t, r.system(id))
				readPower(t, r.system(strings.ToUpper(id)))
			}
		}},
		{"siderolabs/talos#7694", "uuid-zero", "", func(t *testing.T, r *rig) {
			in, err := r.open().Inventory(t.Context())
			if err != nil || in.UUID.Fault == "" {
				t.Errorf("%+v, %v", in.UUID, err)
			}
			r.end.System = "00000000-0000-0000-0000-000000000000"
			_, err = r.tryOpen()
			wantKind(t, err, bmc.InvalidOption)
		}},
		{"dsx-ai-factory/infra-controller#4756", "mac-of-20-octets", "", func(t *testing.T, r *rig) {
			in, err := r.open().Inventory(t.Context())
			must(t, err)
			odd := 0
			for _, n := range in.NICs {
				if n.Fault == bmc.Malformed {
					odd++
				}
			}
			if odd != 5 || len(in.MACs()) != 7 {
				t.Errorf("%d malformed, %v left", odd, in.MACs())
			}
		}},
		{"dsx-ai-factory/libredfish#124", "baseboard-first", "", func(t *testing.T, r *rig) {
			p, err := r.open().Probe(t.Context())
			if err != nil || p.System != "/redfish/v1/Systems/System_0" {
				t.Errorf("%+v, %v", p, err)
			}
		}},
	})
}

// TestEveryReportIsTested holds the tests to the simulator's list of reports.
func TestEveryReportIsTested(t *testing.T) {
	elsewhere := map[string]string{
		"rsa-key-exchange":   "TestLegacyTLS",
		"bios-shows-pending": "the driver has no BIOS settings",
	}
	tested := testNames(t)
	for _, q := range bmcsim.Quirks() {
		if elsewhere[q.Name] == "" && !tested[q.Name] {
			t.Errorf("%s (%s) has no test", q.Name, q.Source)
		}
	}
}
