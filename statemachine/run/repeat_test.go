package run_test

import (
	"slices"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/run"
	"pgregory.net/rapid"
)

// anyRecord draws a run in some state beside a retirement at some step, each
// with an attempt 8 that may be open.
func anyRecord(t *rapid.T) run.Record {
	r := run.New()
	r.State = rapid.SampledFrom(slices.Collect(run.Table.States())).Draw(t, "state").Name
	r.Retire.State = rapid.SampledFrom(slices.Collect(run.Retirement.States())).Draw(t, "step").Name
	r.Epoch, r.Retire.Epoch = 8, 8
	r.Action = rapid.SampledFrom([]run.Action{run.Provision, run.Attest, run.Wipe}).Draw(t, "action")
	r.Next, r.Reason, r.Serial = run.Attest, "it waits", "S1"
	if rapid.Bool().Draw(t, "open") {
		r.Deadline, r.Retire.Deadline = time.Unix(100, 0), time.Unix(100, 0)
	}
	return r
}

// reports are the events of a table that name an attempt.
func reports[S, E ~string](table *sm.Table[S, E]) []E {
	return slices.DeleteFunc(slices.Collect(table.Events()), func(on E) bool { return !table.Reports(on) })
}

// decide makes on the report that decided the newest attempt, or the one
// before, and returns its epoch.
func decide[S, E ~string](t *rapid.T, at *sm.At[S, E], on E) uint64 {
	if rapid.Bool().Draw(t, "before") {
		at.Before = sm.Decided[E]{Epoch: 7, By: on}
		return 7
	}
	at.Ended = on
	return at.Epoch
}

// MACH-4, EDGE-7: a report that decided the newest attempt, or the one before,
// changes nothing when it comes again: neither the run nor the retirement
// beside it, nor the disk that either may write.
func TestRepeatsAreIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord(t)
		e := run.Event{Action: run.Wipe, Serial: "S2", Why: "told anew", Facts: sm.Guard(rapid.Uint32().Draw(t, "facts"))}
		e.On = rapid.SampledFrom(reports(run.Table)).Draw(t, "report")
		e.Epoch, e.Next = decide(t, &r.At, e.On), 9
		if next, err := run.Step(r, e, time.Unix(200, 0)); err != nil || next != r {
			t.Fatalf("%s of epoch %d in %s: %v\nwas %+v\nis  %+v", e.On, e.Epoch, r.State, err, r, next)
		}
	})
}

// The same holds for the steps of a retirement (RUN-9).
func TestRepeatsOfStepsAreIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord(t)
		e := run.RetireEvent{Serial: "S2", Facts: sm.Guard(rapid.Uint32().Draw(t, "facts"))}
		e.On = rapid.SampledFrom(reports(run.Retirement)).Draw(t, "report")
		e.Epoch, e.Next = decide(t, &r.Retire, e.On), 9
		if next, err := run.StepRetire(r, e, time.Unix(200, 0)); err != nil || next != r {
			t.Fatalf("%s of epoch %d in %s: %v\nwas %+v\nis  %+v", e.On, e.Epoch, r.Retire.State, err, r, next)
		}
	})
}
