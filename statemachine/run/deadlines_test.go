package run_test

import (
	"strings"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// MACH-5: a run ends by its action's default, or by the site's own deadline.
func TestSiteDeadlines(t *testing.T) {
	own := run.Deadlines{Provision: time.Minute, Attest: 2 * time.Minute, Wipe: 3 * time.Minute}
	for action, want := range map[run.Action][2]time.Duration{
		run.Provision: {90 * time.Minute, time.Minute}, run.Attest: {30 * time.Minute, 2 * time.Minute}, run.Wipe: {24 * time.Hour, 3 * time.Minute},
	} {
		for i, site := range []run.Deadlines{{}, own} {
			d := waiting(t, action)
			d.do(t, run.Begin, func(e *run.Event) { e.Within = site.Within(&d.Record) })
			if got := d.Deadline.Sub(d.now); got != want[i] {
				t.Errorf("%s ends in %s, want %s", action, got, want[i])
			}
		}
	}
	d := newDevice()
	if got := own.Within(&d.Record); got != 0 {
		t.Errorf("a run of no action ends in %s", got)
	}
}

func TestSiteDeadlinesAreChecked(t *testing.T) {
	for name, field := range map[string]func(*run.Deadlines) *time.Duration{
		"provision": func(d *run.Deadlines) *time.Duration { return &d.Provision },
		"attest":    func(d *run.Deadlines) *time.Duration { return &d.Attest },
		"wipe":      func(d *run.Deadlines) *time.Duration { return &d.Wipe },
	} {
		for value, bad := range map[time.Duration]bool{-1: true, 0: false, 1: false, sm.MaxDeadline: false, sm.MaxDeadline + 1: true} {
			var d run.Deadlines
			*field(&d) = value
			err := d.Check()
			if (err != nil) != bad || bad && (codeOf(err) != "INVALID_CONFIG" || !strings.Contains(err.Error(), name)) {
				t.Errorf("%s of %s: %v", name, value, err)
			}
		}
	}
}
