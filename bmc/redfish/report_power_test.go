package redfish_test

import (
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// turnOff sends off and wants it accepted.
func turnOff(t *testing.T, r *rig) bmc.Power {
	t.Helper()
	s := r.open()
	_, err := s.SendPower(t.Context(), bmc.SendOff)
	must(t, err)
	return s
}

// verb runs a verb and compares what was sent and how it ends.
func verb(t *testing.T, r *rig, v bmc.Verb, wantSent string, last bmc.State) {
	t.Helper()
	got, err := drive(t, r.open(), v)
	if err != nil || sent(got) != wantSent || got.Last.State != last {
		t.Errorf("%s: sent %q, ended %s, %v; want %q and %s", v, sent(got), got.Last.State, err, wantSent, last)
	}
}

func TestReportsOfPowerTiming(t *testing.T) {
	run(t, []report{
		{"goldyfruit/ansible-ilo#1", "reset-refused-when-off", ilo, func(t *testing.T, r *rig) {
			s := turnOff(t, r)
			for _, a := range []bmc.Action{bmc.SendReset, bmc.SendNMI, bmc.SendOff, bmc.SendGraceful} {
				_, err := s.SendPower(t.Context(), a)
				if e := wantKind(t, err, bmc.Conflict); e.State != bmc.Off {
					t.Errorf("%s: %v names the state %q", a, e, e.State)
				}
			}
			verb(t, r, bmc.Cycle, "On", bmc.On)
		}},
		{"siderolabs/sidero#145", "reset-refused-when-off", "", func(t *testing.T, r *rig) {
			turnOff(t, r)
			verb(t, r, bmc.Cycle, "On", bmc.On)
		}},
		{"bmc-toolbox/bmclib#417", "reset-refused-when-off", "", func(t *testing.T, r *rig) {
			turnOff(t, r)
			verb(t, r, bmc.TurnOff, "", bmc.Off)
		}},
		{"dsx-ai-factory/infra-controller#4446", "off-is-late", "", func(t *testing.T, r *rig) {
			verb(t, r, bmc.Cycle, "ForceOff On", bmc.On)
		}},
		{"openbmc/bmcweb#12", "chassis-reads-on", openbmc, func(t *testing.T, r *rig) {
			_, err := drive(t, r.open(), bmc.TurnOff)
			wantKind(t, err, bmc.NotReached)
			r.end.Options = []byte(`{"ignoreChassis":true}`)
			verb(t, r, bmc.TurnOff, "", bmc.Off)
		}},
		{"openbmc/openbmc#1933", "chassis-reads-off", "", func(t *testing.T, r *rig) {
			o, err := r.open().ReadPower(t.Context())
			must(t, err)
			if o.State != bmc.On || o.Chassis != bmc.Off || o.Runs() || o.Idle() {
				t.Errorf("read %+v", o)
			}
		}},
		{"chaos/powerman#67", "on-is-slow", "", func(t *testing.T, r *rig) {
			turnOff(t, r)
			verb(t, r, bmc.TurnOn, "On", bmc.On)
		}},
		{"openbmc/openbmc#1921", "shutdown-is-slow", "", func(t *testing.T, r *rig) {
			began := time.Now()
			verb(t, r, bmc.GracefulOff, "GracefulShutdown", bmc.Off)
			if took := time.Since(began); took < 6*time.Minute {
				t.Errorf("off after %s: forced", took)
			}
		}},
	})
}

func TestReportsOfResetTypes(t *testing.T) {
	run(t, []report{
		{"metal3-io/baremetal-operator#984", "no-graceful-shutdown", "", func(t *testing.T, r *rig) {
			s := r.open()
			_, err := s.SendPower(t.Context(), bmc.SendGraceful)
			wantKind(t, err, bmc.Unsupports)
			_, err = drive(t, s, bmc.GracefulOff)
			wantKind(t, err, bmc.Unsupports)
			if n := r.count("POST", "ComputerSystem.Reset"); n != 0 {
				t.Errorf("%d posts", n)
			}
		}},
		{"dell/iDRAC-Redfish-Scripting#29", "graceful-restart-is-hard", "", func(t *testing.T, r *rig) {
			verb(t, r, bmc.GracefulRestart, "GracefulShutdown On", bmc.On)
		}},
		{"quadsproject/badfish#66", "no-graceful-restart", "", func(t *testing.T, r *rig) {
			p, err := r.open().Probe(t.Context())
			must(t, err)
			if s := bmc.GracefulRestart.Support(&p); s.Level != bmc.Emulated || s.Why == "" {
				t.Errorf("%+v", s)
			}
			verb(t, r, bmc.GracefulRestart, "GracefulShutdown On", bmc.On)
		}},
		{"stmcginnis/gofish#345", "reset-types-by-action-info", "", func(t *testing.T, r *rig) {
			s := r.open()
			receipt, err := s.SendPower(t.Context(), bmc.SendNMI)
			if err != nil || receipt.As != "Nmi" {
				t.Errorf("%+v, %v", receipt, err)
			}
		}},
		{"openstack/ironic note iDRAC10 409", "on-refused-after-off", "", func(t *testing.T, r *rig) {
			s := turnOff(t, r)
			_, err := s.SendPower(t.Context(), bmc.SendOn)
			if e := wantKind(t, err, bmc.Busy); e.After <= 0 {
				t.Errorf("%v does not say when", e)
			}
			verb(t, r, bmc.TurnOn, "On", bmc.On)
		}},
	})
}
