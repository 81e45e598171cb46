package redfish_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmcsim"
)

const r750 = "/redfish/v1/Systems/System.Embedded.1"

func TestEveryActionOfEveryTree(t *testing.T) {
	for name, tree := range oracle(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, a := range bmc.Actions() {
				r := newRig(t, name, bmcsim.Options{})
				s := r.system(tree.Systems[0].URI)
				p, err := s.Probe(t.Context())
				must(t, err)
				receipt, err := s.SendPower(t.Context(), a)
				if p.Of(a.Feature()).Level == bmc.Unsupported {
					e := wantKind(t, err, bmc.Unsupports)
					if r.count("POST", "ComputerSystem.Reset") != 0 || e.Sent != bmc.SentNo || !strings.Contains(e.Do, "listed are: ") {
						t.Errorf("%s: %+v", a, e)
					}
					continue
				}
				if err != nil || !slices.Contains(tree.Systems[0].ResetTypes, receipt.As) || receipt.At.IsZero() {
					t.Errorf("%s: %+v, %v", a, receipt, err)
				}
			}
		})
	}
}

func TestResetTypes(t *testing.T) {
	for _, c := range []struct {
		listed string
		action bmc.Action
		want   string // what is sent; empty: unsupported
		why    bool
	}{
		{"On ForceOn", bmc.SendOn, "On", false},
		{"ForceOn ForceOff", bmc.SendOn, "ForceOn", true},
		{"Off On", bmc.SendOff, "", false},
		{"Off On", bmc.SendGraceful, "", false},
		{"PushPowerButton ForceOff", bmc.SendGraceful, "", false},
		{"GracefulRestart PowerCycle", bmc.SendReset, "", false},
		{"ForceRestart", bmc.SendReset, "ForceRestart", false},
		{"Nmi", bmc.SendNMI, "Nmi", false},
		{"On ForceOff", bmc.SendNMI, "", false},
	} {
		for _, info := range []bool{false, true} {
			r := newRig(t, dell, bmcsim.Options{Power: bmcsim.Power{ResetTypes: strings.Fields(c.listed), ActionInfo: info}})
			receipt, err := r.open().SendPower(t.Context(), c.action)
			if c.want == "" {
				wantKind(t, err, bmc.Unsupports)
			} else if err != nil || receipt.As != c.want || (receipt.Why != "") != c.why {
				t.Errorf("%+v: %+v, %v", c, receipt, err)
			}
		}
	}
}

// TestNothingListed: services of the first schemas list no types. The standard
// ones are assumed; NMI is not.
func TestNothingListed(t *testing.T) {
	o := rule("GET", "*/Systems/System.Embedded.1", bmcsim.Effect{Set: map[string]any{"Actions": map[string]any{"#ComputerSystem.Reset": map[string]any{"ResetType@Redfish.AllowableValues": nil}}}})
	r := newRig(t, dell, o)
	s := r.open()
	for a, as := range map[bmc.Action]string{bmc.SendOff: "ForceOff", bmc.SendOn: "On", bmc.SendReset: "ForceRestart", bmc.SendGraceful: "GracefulShutdown"} {
		if receipt, err := s.SendPower(t.Context(), a); err != nil || receipt.As != as {
			t.Errorf("%+v, %v", receipt, err)
		}
	}
	_, err := s.SendPower(t.Context(), bmc.SendNMI)
	wantKind(t, err, bmc.Unsupports)
}

// TestLostReply: the answer to a reset is lost. It is not sent again.
func TestLostReply(t *testing.T) {
	for _, drop := range []string{bmcsim.DropBefore, bmcsim.DropAfter} {
		for _, a := range bmc.Actions() {
			r := newRig(t, dell, rule("POST", "*ComputerSystem.Reset", bmcsim.Effect{Drop: drop}))
			_, err := r.open().SendPower(t.Context(), a)
			if e := wantKind(t, err, bmc.Indeterminate); e.Sent != bmc.SentMaybe || e.Op != "power "+string(a) {
				t.Errorf("%+v", e)
			}
			if n := r.count("POST", "ComputerSystem.Reset"); n != 1 {
				t.Errorf("%s: %d posts", a, n)
			}
		}
	}
}

func TestResetAsTask(t *testing.T) {
	for _, c := range []struct {
		ends  string
		takes time.Duration
		want  bmc.Kind
	}{
		{"", 10 * time.Second, ""},
		{bmcsim.TaskVanishes, 3 * time.Second, ""},
		{bmcsim.TaskFails, 3 * time.Second, bmc.Protocol},
		{bmcsim.TaskStaysNew, 3 * time.Second, bmc.NotReached},
		{"", time.Hour, bmc.NotReached},
	} {
		t.Run(c.ends+c.takes.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dell, bmcsim.Options{Tasks: bmcsim.Tasks{For: []string{"*/Actions/*"}, Takes: c.takes, Ends: c.ends}})
				s, began := r.open(), time.Now()
				receipt, err := s.SendPower(t.Context(), bmc.SendReset)
				if c.want == "" && (err != nil || receipt.Task == "") {
					t.Errorf("%+v, %v", receipt, err)
				}
				if c.want != "" {
					if e := wantKind(t, err, c.want); e.Sent != bmc.SentYes {
						t.Errorf("%+v", e)
					}
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it waited %s", took)
				}
				began = time.Now()
				if receipt, err = s.SendPower(t.Context(), bmc.SendOff); err != nil || receipt.Task == "" || time.Since(began) > time.Second {
					t.Errorf("off does not return at once: %+v, %v", receipt, err)
				}
			})
		})
	}
}

func TestStates(t *testing.T) {
	for raw, want := range map[any]bmc.State{"On": bmc.On, "Off": bmc.Off, "PoweringOn": bmc.PoweringOn, "PoweringOff": bmc.PoweringOff, "Paused": bmc.Paused, "Reset": bmc.Unknown, "on": bmc.Unknown, nil: bmc.Unknown, 7: bmc.Unknown} {
		r := newRig(t, dell, rule("GET", "*/Systems/System.Embedded.1", bmcsim.Effect{Set: map[string]any{"PowerState": raw}}))
		o := readPower(t, r.open())
		if s, _ := raw.(string); o.State != want || o.Raw != s || o.Source != r750 {
			t.Errorf("%v is %+v, want %s", raw, o, want)
		}
	}
}

// TestTransitions are shown as such, and never proved off.
func TestTransitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dell, bmcsim.Options{Power: bmcsim.Power{OffTakes: 20 * time.Second, ChassisLag: 10 * time.Second}})
		s := r.open()
		_, err := s.SendPower(t.Context(), bmc.SendOff)
		must(t, err)
		if o := readPower(t, s); o.State != bmc.PoweringOff || o.Idle() || o.Runs() {
			t.Errorf("%+v", o)
		}
		time.Sleep(21 * time.Second)
		if o := readPower(t, s); o.State != bmc.Off || o.Idle() {
			t.Errorf("the chassis is on: %+v", o)
		}
		time.Sleep(10 * time.Second)
		if o := readPower(t, s); !o.Idle() {
			t.Errorf("%+v", o)
		}
	})
}

// TestChassis: which chassis counts.
func TestChassis(t *testing.T) {
	for tree, want := range map[string]bmc.State{
		dell: bmc.On, openbmc: bmc.Off, dgx: bmc.On,
		gb200: "", // the linked one is the BMC's own board
		cray:  "", // none is linked
	} {
		r := newRig(t, tree, bmcsim.Options{})
		if tree == cray {
			r.end.System = "Node0"
		}
		if o := readPower(t, r.open()); o.Chassis != want {
			t.Errorf("%s: %+v, want %s", tree, o, want)
		}
	}
	r := newRig(t, dell, rule("GET", "*/Chassis/System.Embedded.1", bmcsim.Effect{Set: map[string]any{"Links": map[string]any{"ComputerSystems": []any{
		map[string]any{"@odata.id": r750}, map[string]any{"@odata.id": "/redfish/v1/Systems/another"}}}}}))
	if o := readPower(t, r.open()); o.Chassis != "" {
		t.Errorf("a shared chassis counts: %+v", o)
	}
}

// TestChassisVanishes: what was reported and is not any more counts as unknown,
// so that nothing is proved.
func TestChassisVanishes(t *testing.T) {
	o := rule("GET", "*/Chassis/System.Embedded.1", bmcsim.Effect{Status: 404})
	o.Rules[0].After = 1
	r := newRig(t, dell, o)
	s := r.open()
	_, err := s.SendPower(t.Context(), bmc.SendOff)
	must(t, err)
	if o := readPower(t, s); o.Chassis != bmc.Unknown || o.Idle() {
		t.Errorf("%+v", o)
	}
}

// TestChassisComesLate: a chassis that is not there, or silent, when the session
// is opened counts as soon as it reports its power.
func TestChassisComesLate(t *testing.T) {
	const path = "*/Chassis/System.Embedded.1"
	for name, e := range map[string]bmcsim.Effect{"404": {Status: 404}, "silent": {Set: map[string]any{"PowerState": nil}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := rule("GET", path, e)
				o.Rules[0].Times = 1
				o.Power.ChassisReads = "On"
				r := newRig(t, dell, o)
				s := r.open()
				if o := readPower(t, s); o.Chassis != "" {
					t.Errorf("%+v", o)
				}
				_, err := s.SendPower(t.Context(), bmc.SendOff)
				must(t, err)
				if o := readPower(t, s); o.State != bmc.Off || o.Chassis != bmc.On || o.Idle() {
					t.Errorf("%+v", o)
				}
			})
		})
	}
	r := newRig(t, dell, rule("GET", path, bmcsim.Effect{Status: 404})) // it stays away
	if o := readPower(t, r.open()); o.Chassis != "" {
		t.Errorf("%+v", o)
	}
}

// TestReadIsOneObservation: two requests for each read, never a cache.
func TestReadIsOneObservation(t *testing.T) {
	r := newRig(t, dell, bmcsim.Options{})
	s := r.open()
	before := r.Stats().Total
	for range 5 {
		readPower(t, s)
	}
	if n := r.Stats().Total - before; n != 10 {
		t.Errorf("%d requests for 5 reads", n)
	}
}

// TestCancel ends a call at once, and leaves the session whole.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := rule("GET", "*/Systems/System.Embedded.1", bmcsim.Effect{Delay: time.Hour})
		o.Rules[0].Nth = 2
		r := newRig(t, dell, o)
		s := r.open()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := s.ReadPower(ctx); err == nil || time.Since(began) > 2*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		readPower(t, s)
	})
}
