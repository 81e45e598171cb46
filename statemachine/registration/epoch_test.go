package registration_test

import (
	"reflect"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// A story is a way to a row and a report that comes to it late, again or out
// of order (MACH-4, EDGE-6, EDGE-7). Epoch 1 is the first setup, 2 the second.
type story struct {
	name   string
	row    func(t *testing.T) *row
	report registration.Kind
	epoch  uint64
	code   sm.Code // empty: success without effect
}

func TestReportsOfPastAttempts(t *testing.T) {
	reset := facts(registration.Image)
	failed := func(t *testing.T) *row { return drained(t).do(t, registration.SetupFailed) }
	second := func(t *testing.T) *row { return failed(t).do(t, registration.ApproveSetup) }
	twice := func(t *testing.T) *row { return second(t).do(t, registration.SetupFailed) }
	third := func(t *testing.T) *row { return twice(t).do(t, registration.ApproveSetup) }
	overdue := func(t *testing.T) *row { r := drained(t); r.now = r.Deadline; return r }
	expired := func(t *testing.T) *row { return overdue(t).do(t, registration.SetupExpired) }
	promoted := func(t *testing.T) *row { return drained(t).do(t, registration.Refresh) }
	preempted := func(t *testing.T) *row { return drained(t).do(t, registration.Preempt) }
	supplanted := func(t *testing.T) *row { return settingUp(t).do(t, registration.Announce, session(otherKey)) }
	disabled := func(t *testing.T) *row { return installed(t).do(t, registration.Disable) }
	rearmed := func(t *testing.T) *row { return disabled(t).do(t, registration.Register) }
	wiped := func(t *testing.T) *row { return installed(t).do(t, registration.FactoryReset, reset) }
	deleted := func(t *testing.T) *row { return disabled(t).do(t, registration.Delete) }
	anew := func(t *testing.T) *row { return deleted(t).do(t, registration.Announce, facts(registration.Admitted)) }
	complete, fail := registration.SetupComplete, registration.SetupFailed

	for _, s := range []story{
		{"complete, again", installed, complete, 1, ""},
		{"complete, then failed", installed, fail, 1, sm.Conflict},
		{"failed, again", failed, fail, 1, ""},
		{"failed, then complete", failed, complete, 1, sm.Conflict},
		{"promoted by refresh, then complete", promoted, complete, 1, ""},
		{"promoted by refresh, then failed", promoted, fail, 1, sm.Conflict},
		{"expired, then failed", expired, fail, 1, ""},
		{"expired, then complete", expired, complete, 1, sm.Conflict},
		{"preempted, then failed", preempted, fail, 1, ""},
		{"preempted, then complete", preempted, complete, 1, sm.Conflict},
		{"ended by another key, then failed", supplanted, fail, 1, ""},
		{"ended by another key, then complete", supplanted, complete, 1, sm.Conflict},

		{"the first attempt's failure in the second, again", second, fail, 1, ""},
		{"the first attempt's failure after the second's", twice, fail, 1, ""},
		{"the second attempt's failure, again", twice, fail, 2, ""},
		{"the first attempt's failure in the third", third, fail, 1, sm.Conflict},
		{"the first attempt's success in the second", second, complete, 1, sm.Conflict},
		{"the first attempt's drain in the second", second, registration.Drain, 1, sm.Conflict},
		{"an attempt that never was", drained, complete, 2, sm.Conflict},
		{"no attempt named", drained, complete, 0, sm.Conflict},
		{"no attempt named, failed", drained, fail, 0, sm.Conflict},
		{"complete before the drain", settingUp, complete, 1, sm.Conflict},

		{"disabled, then complete again", disabled, complete, 1, ""},
		{"re-armed, then complete again", rearmed, complete, 1, sm.Conflict},
		{"reset, then complete again", wiped, complete, 1, sm.Conflict},
		{"deleted, then complete again", deleted, complete, 1, sm.Conflict},
		{"deleted and announced, then complete again", anew, complete, 1, sm.Conflict},
		{"before any attempt", awaiting, complete, 0, sm.Conflict},
		{"pending, epoch 0", pending, fail, 0, sm.Conflict},
	} {
		t.Run(s.name, func(t *testing.T) {
			r := s.row(t)
			if s.code != "" {
				r.refused(t, s.code, s.report, epoch(s.epoch))
				return
			}
			before := r.Record
			if r.do(t, s.report, epoch(s.epoch), why("another")); !reflect.DeepEqual(r.Record, before) {
				t.Errorf("the repeat had an effect:\n%+v\n%+v", before, r.Record)
			}
		})
	}
}

// EDGE-6: between the deadline and the reconciler's commit, reports and
// refresh of the right epoch are accepted, and then nothing is left to expire.
func TestReportsAfterTheDeadline(t *testing.T) {
	for on, want := range map[registration.Kind]registration.State{
		registration.SetupComplete: registration.Approved, registration.Refresh: registration.Approved, registration.SetupFailed: registration.AwaitingSetup,
	} {
		r := drained(t)
		r.now = r.Deadline.Add(longAfter)
		if r.do(t, on); r.State != want {
			t.Errorf("%s came to %s", on, r.State)
		}
		r.refused(t, sm.InvalidState, registration.SetupExpired)
	}
}

// longAfter is longer than any setup.
const longAfter = 8 * registration.SetupDeadline

// SET-12: nothing expires early, and a setup without a deadline expires at
// once.
func TestExpiry(t *testing.T) {
	r := drained(t)
	r.now = r.Deadline.Add(-1)
	r.refused(t, sm.Conflict, registration.SetupExpired)
	r = drained(t)
	r.Deadline = newRow().Deadline // none
	if r.do(t, registration.SetupExpired); r.State != registration.AwaitingSetup {
		t.Error(r.State)
	}
}

// EDGE-7: an attempt needs an epoch above all before it.
func TestEpochsOnlyGrow(t *testing.T) {
	r := drained(t).do(t, registration.SetupFailed)
	for _, next := range []uint64{0, 1} {
		r.refused(t, sm.InvalidInput, registration.ApproveSetup, func(e *registration.Event) { e.Next = next })
	}
	if r.do(t, registration.ApproveSetup, func(e *registration.Event) { e.Next = 40 }); r.Epoch != 40 {
		t.Errorf("epoch %d", r.Epoch)
	}
}
