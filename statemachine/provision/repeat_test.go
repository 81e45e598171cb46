package provision_test

import (
	"slices"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"pgregory.net/rapid"
)

// MACH-4, EDGE-7: a report that decided the newest attempt, or the one before,
// changes no field of the axis when it comes again, whatever it brings and
// wherever the machine has come to. Evidence of a wipe decides nothing and so
// has no repeat: a record that says otherwise is drawn all the same.
func TestRepeatsAreIdentities(t *testing.T) {
	states, kinds := slices.Collect(provision.Table.States()), slices.Collect(provision.Table.Events())
	reports := slices.DeleteFunc(kinds, func(on provision.Kind) bool { return !provision.Table.Reports(on) })
	rapid.Check(t, func(t *rapid.T) {
		r := provision.New()
		r.State, r.Epoch = rapid.SampledFrom(states).Draw(t, "state").Name, 8
		r = fill(r)
		if holds := ^provision.Table.Drops(r.State); holds&provision.FieldActivity != 0 {
			r.Activity = rapid.SampledFrom([]provision.Activity{"", provision.Acceptance, provision.RescueBoot, provision.Return}).Draw(t, "activity")
		}
		if rapid.Bool().Draw(t, "open") {
			r.Deadline = start.Add(time.Hour)
		}
		e := bring(rapid.SampledFrom(reports).Draw(t, "report"), rapid.Uint64Range(0, 20).Draw(t, "next"))
		e.Epoch, e.Why, e.By, e.Proof = 8, "told anew", "eve", provision.Hash{9}
		e.Facts = sm.Guard(rapid.Uint32().Draw(t, "facts"))
		if rapid.Bool().Draw(t, "before") {
			e.Epoch = 7
			r.Before = sm.Decided[provision.Kind]{Epoch: 7, By: e.On}
		} else {
			r.Ended = e.On
		}
		if next, err := provision.Step(r, e, start.Add(2*time.Hour)); err != nil || next != r {
			t.Fatalf("%s of epoch %d in %s: %v\nwas %+v\nis  %+v", e.On, e.Epoch, r.State, err, r, next)
		}
	})
}
