package provision_test

import (
	"strings"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"pgregory.net/rapid"
)

// begin gives an event the deadline of a site.
func begin(n *node, d provision.Deadlines) edit {
	return func(e *provision.Event) { e.Within = d.Within(&n.Record, e) }
}

// attempts are the ways to open each attempt of MACH-5.
var attempts = []struct {
	name string
	from func(*testing.T) *node
	on   provision.Kind
	mode provision.Wipe
	want time.Duration // MACH-5's default
	own  provision.Deadlines
}{
	{"enrolling", func(*testing.T) *node { return newNode() }, provision.Enroll, "", 15 * time.Minute, provision.Deadlines{Enrolling: time.Minute}},
	{"enrolling of a zero record", func(*testing.T) *node { return &node{now: start} }, provision.Enroll, "", 15 * time.Minute, provision.Deadlines{Enrolling: time.Minute}},
	{"enrolling again", ready, provision.Manage, "", 15 * time.Minute, provision.Deadlines{Enrolling: time.Minute}},
	{"acceptance", func(*testing.T) *node { return newNode() }, provision.Join, "", 30 * time.Minute, provision.Deadlines{Acceptance: time.Minute}},
	{"acceptance again", adopted, provision.Adopt, "", 30 * time.Minute, provision.Deadlines{Acceptance: time.Minute}},
	{"inspecting", enrolling, provision.Succeeded, "", 45 * time.Minute, provision.Deadlines{Inspecting: time.Minute}},
	{"inspecting by hand", ready, provision.Inspect, "", 45 * time.Minute, provision.Deadlines{Inspecting: time.Minute}},
	{"commissioning", inspecting, provision.Succeeded, "", 6 * time.Hour, provision.Deadlines{Commissioning: time.Minute}},
	{"deploying", ready, provision.Deploy, "", 90 * time.Minute, provision.Deadlines{Deploying: time.Minute}},
	{"releasing", deployed, provision.Undeploy, "", 2 * time.Hour, provision.Deadlines{Releasing: time.Minute}},
	{"releasing, crypto-erase", deployed, provision.Undeploy, provision.CryptoErase, 2 * time.Hour, provision.Deadlines{Releasing: time.Minute}},
	{"releasing, secure-erase", deployed, provision.Undeploy, provision.SecureErase, 24 * time.Hour, provision.Deadlines{SecureErase: time.Minute, Releasing: time.Second}},
	{"rescue", deployed, provision.ToRescue, "", 30 * time.Minute, provision.Deadlines{Rescue: time.Minute, Unrescue: time.Second}},
	{"unrescue", rescued, provision.Unrescue, "", 30 * time.Minute, provision.Deadlines{Unrescue: time.Minute, Rescue: time.Second}},
	{"retiring", ready, provision.Retire, "", 24 * time.Hour, provision.Deadlines{Retiring: time.Minute}},
	{"recovered secure-erase", func(t *testing.T) *node { return releasing(t, provision.SecureErase).do(t, provision.Fail) }, provision.Recover, "",
		24 * time.Hour, provision.Deadlines{SecureErase: time.Minute, Releasing: time.Second}},
	{"recovered deploying", func(t *testing.T) *node { return deploying(t).do(t, provision.Fail) }, provision.Recover, provision.SecureErase,
		2 * time.Hour, provision.Deadlines{Releasing: time.Minute, SecureErase: time.Second}},
}

// MACH-5: every attempt ends by its default, or by the site's own.
func TestDeadlines(t *testing.T) {
	for _, a := range attempts {
		t.Run(a.name, func(t *testing.T) {
			for want, d := range map[time.Duration]provision.Deadlines{a.want: {}, time.Minute: a.own} {
				n := a.from(t)
				last := n.Epoch
				n.do(t, a.on, wipe(a.mode), begin(n, d))
				if got := n.Deadline.Sub(n.now); got != want || n.Epoch <= last {
					t.Errorf("epoch %d, due in %s, want %s", n.Epoch, got, want)
				}
			}
		})
	}
}

// A secure erase gets its 24 hours even where a site shortened releasing.
func TestSecureEraseIsNotShortened(t *testing.T) {
	n := deployed(t)
	n.do(t, provision.Undeploy, wipe(provision.SecureErase), begin(n, provision.Deadlines{Releasing: time.Minute}))
	if got := n.Deadline.Sub(n.now); got != provision.SecureEraseDeadline {
		t.Errorf("due in %s", got)
	}
}

// What opens no attempt gets no deadline from a site.
func TestNoDeadlineWithoutAttempt(t *testing.T) {
	all := provision.Deadlines{Enrolling: 1, Acceptance: 1, Inspecting: 1, Commissioning: 1, Deploying: 1, Releasing: 1, SecureErase: 1, Rescue: 1, Unrescue: 1, Retiring: 1}
	for _, n := range []*node{ready(t), deployed(t), adopted(t), retired(t)} {
		e := bring(provision.PowerVerb, 9)
		if got := all.Within(&n.Record, &e); got != 0 {
			t.Errorf("power in %s within %s", n.State, got)
		}
	}
	n := newNode()
	if n.do(t, provision.Join, facts(provision.Held), begin(n, all)); !n.Deadline.IsZero() {
		t.Errorf("a queued run is due at %s", n.Deadline)
	}
}

func TestDeadlinesAreChecked(t *testing.T) {
	if err := new(provision.Deadlines).Check(); err != nil {
		t.Error(err)
	}
	fields := map[string]func(*provision.Deadlines) *time.Duration{
		"enrolling":     func(d *provision.Deadlines) *time.Duration { return &d.Enrolling },
		"adopting":      func(d *provision.Deadlines) *time.Duration { return &d.Acceptance },
		"inspecting":    func(d *provision.Deadlines) *time.Duration { return &d.Inspecting },
		"commissioning": func(d *provision.Deadlines) *time.Duration { return &d.Commissioning },
		"deploying":     func(d *provision.Deadlines) *time.Duration { return &d.Deploying },
		"releasing":     func(d *provision.Deadlines) *time.Duration { return &d.Releasing },
		"releasing ":    func(d *provision.Deadlines) *time.Duration { return &d.SecureErase },
		"rescue":        func(d *provision.Deadlines) *time.Duration { return &d.Rescue },
		"rescue ":       func(d *provision.Deadlines) *time.Duration { return &d.Unrescue },
		"retiring":      func(d *provision.Deadlines) *time.Duration { return &d.Retiring },
	}
	for name, field := range fields {
		for value, bad := range map[time.Duration]bool{-1: true, 0: false, 1: false, sm.MaxDeadline: false, sm.MaxDeadline + 1: true} {
			var d provision.Deadlines
			*field(&d) = value
			err := d.Check()
			if (err != nil) != bad || bad && (codeOf(err) != "INVALID_CONFIG" || !strings.Contains(err.Error(), strings.TrimSpace(name))) {
				t.Errorf("%s of %s: %v", name, value, err)
			}
		}
	}
}

func TestWipeModesAreKnown(t *testing.T) {
	for _, w := range []provision.Wipe{"none", "quick", "secure-erase", "crypto-erase"} {
		if !w.Valid() {
			t.Errorf("%s is not valid", w)
		}
	}
	for _, w := range []provision.Wipe{"", "Quick", "erase", "quick "} {
		if w.Valid() {
			t.Errorf("%q is valid", w)
		}
	}
}

// What is stored reads back; what is not its own form is refused and clears.
func TestHashText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h, back provision.Hash
		copy(h[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash"))
		text, err := h.MarshalText()
		if err2 := back.UnmarshalText(text); back != h || err != nil || err2 != nil {
			t.Fatalf("%x came back as %x: %v, %v", h, back, err, err2)
		}
	})
	var h provision.Hash
	if text, _ := h.MarshalText(); len(text) != 0 || h.UnmarshalText(nil) != nil {
		t.Errorf("the zero hash is %q", text)
	}
	for _, text := range []string{"1", strings.Repeat("0", 63) + "g", strings.Repeat("1", 65)} {
		h := proof
		if err := h.UnmarshalText([]byte(text)); codeOf(err) != "INVALID_INPUT" || h != (provision.Hash{}) {
			t.Errorf("%q: %v, %x", text, err, h)
		}
	}
}
