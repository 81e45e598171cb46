package registration_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"pgregory.net/rapid"
)

// MACH-4, EDGE-7: a report that decided the newest attempt, or the one before,
// changes no field of the row when it comes again, whatever it brings and
// wherever the row has come to.
func TestRepeatsAreIdentities(t *testing.T) {
	states, kinds := slices.Collect(registration.Table.States()), slices.Collect(registration.Table.Events())
	reports := slices.DeleteFunc(kinds, func(on registration.Kind) bool { return !registration.Table.Reports(on) })
	rapid.Check(t, func(t *rapid.T) {
		r := registration.New()
		r.State, r.Epoch = rapid.SampledFrom(states).Draw(t, "state").Name, 8
		r = fill(r)
		r.OnceApproved, r.Settings.RootHash = rapid.Bool().Draw(t, "once"), "$y$old"
		if rapid.Bool().Draw(t, "open") {
			r.Deadline = start.Add(time.Hour)
		}
		e := bring(rapid.SampledFrom(reports).Draw(t, "report"), rapid.Uint64Range(0, 20).Draw(t, "next"))
		e.Epoch, e.Why, e.Sealed, e.AgentKey = 8, "told anew", "another bundle", otherKey
		e.Facts = sm.Guard(rapid.Uint32().Draw(t, "facts"))
		if rapid.Bool().Draw(t, "before") {
			e.Epoch = 7
			r.Before = sm.Decided[registration.Kind]{Epoch: 7, By: e.On}
		} else {
			r.Ended = e.On
		}
		now := start.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "minutes")) * time.Minute)
		next, err := registration.Step(r, e, now)
		if err != nil || !reflect.DeepEqual(next, r) {
			t.Fatalf("%s of epoch %d in %s: %v\nwas %+v\nis  %+v", e.On, e.Epoch, r.State, err, r, next)
		}
	})
}
