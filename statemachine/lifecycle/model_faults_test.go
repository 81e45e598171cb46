package lifecycle_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// planted are faults that a step might have, the model and the law that must
// find each, and the length of the shortest history that shows it.
var planted = []struct {
	name   string
	step   stepper
	model  func(stepper) *life
	law    string
	length int
}{
	{"a step that forgets the epoch", forgetsEpoch, lifeA, "a report of another attempt has no effect", 7},
	{"a step that keeps a key of a failed setup", keepsKey, lifeA, "no key outlives what it was made for", 3},
	{"a step that skips the image check", skipsImage, lifeA, "a reset needs an image", 3},
	{"a disable that keeps the bound key", disableKeepsKey, lifeA, "no key outlives what it was made for", 3},
	{"a step that frees an address twice", freesTwice, lifeA, "an address is free, or one record's", 2},
	{"a workflow that forgets the epoch", forgetsEpoch, lifeB, "a report of another attempt has no effect", 4},
	{"a release that believes without evidence", believes, lifeB, "ready is earned by a wipe", 14},
	{"a setup that outlives its deadline", neverExpires, lifeC, explore.Settles, 3},
}

func forgetsEpoch(s lifecycle.State, in lifecycle.Input, now time.Time) (lifecycle.Outcome, error) {
	switch r := in.(type) {
	case lifecycle.SetupReport:
		r.Epoch = s.Node.Reg.Epoch
		in = r
	case lifecycle.Report:
		r.Epoch = s.Node.Prov.Epoch
		in = r
	}
	return lifecycle.Step(s, in, now)
}

func keepsKey(s lifecycle.State, in lifecycle.Input, now time.Time) (lifecycle.Outcome, error) {
	out, err := lifecycle.Step(s, in, now)
	if s.Node.Reg.State == registration.SettingUp && out.Next.Node.Reg.State == registration.AwaitingSetup {
		out.Next.Node.Reg.Bound = s.Node.Reg.Bound
	}
	return out, err
}

func skipsImage(s lifecycle.State, in lifecycle.Input, now time.Time) (lifecycle.Outcome, error) {
	if r, is := in.(lifecycle.FactoryReset); is {
		r.World.Staged = []string{imageName}
		in = r
	}
	return lifecycle.Step(s, in, now)
}

func disableKeepsKey(s lifecycle.State, in lifecycle.Input, now time.Time) (lifecycle.Outcome, error) {
	out, err := lifecycle.Step(s, in, now)
	if _, is := in.(lifecycle.Disable); is && err == nil {
		out.Next.Node.Reg.Bound = s.Node.Reg.Bound
	}
	return out, err
}

// freesTwice frees the address of a record that is decommissioned, as a purge
// does again.
func freesTwice(s lifecycle.State, in lifecycle.Input, now time.Time) (lifecycle.Outcome, error) {
	out, err := lifecycle.Step(s, in, now)
	if v, is := in.(lifecycle.BootVerb); is && err == nil && v.On == netboot.Decommission {
		for _, b := range out.Next.Node.NICs {
			if b.MAC == v.MAC && b.Address.IsValid() {
				if p, err := out.Next.Site.Pool.Put(b.Address); err == nil {
					out.Next.Site.Pool = p
				}
			}
		}
	}
	return out, err
}

func believes(s lifecycle.State, in lifecycle.Input, now time.Time) (lifecycle.Outcome, error) {
	if r, is := in.(lifecycle.Report); is && r.OK && s.Node.Prov.State == provision.Releasing {
		s.Node.Prov.Proof = provision.Hash{1}
	}
	return lifecycle.Step(s, in, now)
}

// neverExpires refuses every way out of a setup but a report.
func neverExpires(s lifecycle.State, in lifecycle.Input, now time.Time) (lifecycle.Outcome, error) {
	if s.Node.Reg.State == registration.SettingUp {
		switch in.(type) {
		case lifecycle.SetupReport, lifecycle.Drain:
		default:
			return lifecycle.Outcome{Next: s}, errors.New("stuck")
		}
	}
	return lifecycle.Step(s, in, now)
}

// TestModelsFindPlantedFaults demands that each fault is found, by its law and
// with the shortest history, and that the history replays.
func TestModelsFindPlantedFaults(t *testing.T) {
	for _, f := range planted {
		t.Run(f.name, func(t *testing.T) {
			l := f.model(f.step)
			_, err := explore.Run(l.model(), explore.Limits{MaxBytes: 1 << 30})
			c, ok := errors.AsType[*explore.Counterexample[place, act]](err)
			if !ok {
				t.Fatalf("not found: %v", err)
			}
			for i, in := range c.Inputs {
				t.Logf("%d. %s", i+1, l.acts[in].name)
			}
			t.Logf("breaks %q: %v", c.Law, c.Why)
			if c.Law != f.law || len(c.Inputs) != f.length {
				t.Errorf("found by %q after %d inputs; want %q after %d", c.Law, len(c.Inputs), f.law, f.length)
			}
			if _, err := explore.Replay(f.model(f.step).model(), c.History); err == nil {
				t.Error("the history does not break the law when it is told again")
			}
			if err := explore.Retell(f.model(lifecycle.Step).model(), c.History); err != nil {
				t.Error("the sound step breaks the law too:", err)
			}
		})
	}
}

// TestToldTestsAreWhatIsPrinted holds told_*_test.go to what a counterexample
// prints as a Go test. Those tests pass, since the real step has no fault.
func TestToldTestsAreWhatIsPrinted(t *testing.T) {
	for name, step := range map[string]stepper{"Epoch": forgetsEpoch, "Key": keepsKey, "Image": skipsImage, "Disable": disableKeepsKey, "Address": freesTwice} {
		_, err := explore.Run(lifeA(step).model(), explore.Limits{MaxBytes: 1 << 30})
		c, ok := errors.AsType[*explore.Counterexample[place, act]](err)
		if !ok {
			t.Fatalf("%s: not found: %v", name, err)
		}
		text, err := c.GoTest(source("TestTold" + name))
		if err != nil {
			t.Fatal(err)
		}
		statemachinetest.Golden(t, "told_"+strings.ToLower(name)+"_test.go", text)
	}
}

// inA is an act of model A by its name, for histories told again.
func inA(name string) act { return lifeA(lifecycle.Step).act(name) }

// source is how a counterexample of model A becomes a Go test.
func source(test string) explore.Source[act] {
	l := lifeA(lifecycle.Step)
	return explore.Source[act]{Package: "lifecycle_test", Test: test, Model: "lifeA(lifecycle.Step).model()",
		Imports: []string{"github.com/ingotmetal/ingot/statemachine/lifecycle"},
		Input:   func(in act) string { return fmt.Sprintf("inA(%q)", l.acts[in].name) }}
}
