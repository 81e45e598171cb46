package statemachinetest

import (
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

// trial is one call that a drive made.
type trial struct {
	rec   wet
	ev    pumpEvent
	holds statemachine.Guard
	now   time.Time
}

// trials records all calls of a drive of the right step.
func trials(t *testing.T, drive func(t testing.TB, s Subject[wet, pump.State, pump.On])) (out []trial) {
	t.Helper()
	drive(t, pumpSubject(func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
		out = append(out, trial{rec, ev, holds, now})
		return right(rec, ev, holds, now)
	}))
	return out
}

// report reports whether a trial is a report in a known state.
func (c trial) report() bool { return pumps.Reports(c.ev.On) && pumps.Knows(c.rec.State) }

// hazards are what reaches a control plane sooner or later. A law that is never
// shown its hazard proves nothing.
var hazards = []struct {
	name string
	is   func(trial) bool
}{
	{"a report in time", func(c trial) bool {
		return c.report() && c.ev.Epoch == c.rec.Epoch && pumps.Open(c.rec.pumpAt) && c.now.Before(c.rec.Deadline)
	}},
	{"an overdue report", func(c trial) bool {
		return c.report() && c.ev.Epoch == c.rec.Epoch && pumps.Open(c.rec.pumpAt) && !c.now.Before(c.rec.Deadline)
	}},
	{"a report of no epoch", func(c trial) bool { return c.report() && c.ev.Epoch == 0 && pumps.Open(c.rec.pumpAt) }},
	{"a report of the epoch to come", func(c trial) bool { return c.report() && c.ev.Epoch == c.rec.Epoch+1 }},
	{"a report of the last epoch that was not decided so", func(c trial) bool {
		return c.report() && c.rec.Before.By != "" && c.ev.Epoch == c.rec.Before.Epoch && c.ev.On != c.rec.Before.By
	}},
	{"the report that decided the attempt", func(c trial) bool {
		return c.report() && c.rec.Ended != "" && c.ev.On == c.rec.Ended && c.ev.Epoch == c.rec.Epoch
	}},
	{"the report that decided the attempt before, in the next one", func(c trial) bool {
		return c.report() && pumps.Open(c.rec.pumpAt) && c.rec.Before.By == c.ev.On && c.ev.Epoch == c.rec.Before.Epoch && c.ev.Epoch != 0
	}},
	{"that report when the next one has ended too", func(c trial) bool {
		return c.report() && c.rec.Ended != "" && c.rec.Before.By == c.ev.On && c.ev.Epoch == c.rec.Before.Epoch && c.ev.Epoch != 0
	}},
	{"a report after all was forgotten", func(c trial) bool { return c.report() && c.rec.State == pump.Broken && c.ev.Epoch == c.rec.Epoch }},
	{"an early expiry", func(c trial) bool {
		return c.ev.On == pump.Timeout && pumps.Open(c.rec.pumpAt) && c.now.Before(c.rec.Deadline)
	}},
	{"an expiry on the deadline", func(c trial) bool {
		return c.ev.On == pump.Timeout && pumps.Open(c.rec.pumpAt) && c.now.Equal(c.rec.Deadline)
	}},
	{"an expiry of nothing", func(c trial) bool {
		return c.ev.On == pump.Timeout && c.rec.State == pump.Serving && !pumps.Open(c.rec.pumpAt)
	}},
	{"a used epoch for a new attempt", func(c trial) bool {
		return c.ev.On == pump.Fill && c.rec.State == pump.Idle && c.ev.Next <= c.rec.Epoch
	}},
	{"a deadline of the event's own", func(c trial) bool { return c.ev.On == pump.Fill && c.ev.Within > 0 }},
	{"an attempt opened over an open one", func(c trial) bool {
		return c.ev.On == pump.Flush && c.rec.State == pump.Serving && pumps.Open(c.rec.pumpAt)
	}},
	{"an unknown event", func(c trial) bool { return c.ev.On == "no-such-event" }},
	{"an unknown state", func(c trial) bool { return !pumps.Knows(c.rec.State) }},
	{"a field to clear", func(c trial) bool { return c.ev.On == pump.Stop && c.rec.fields&pump.Level != 0 }},
}

// The tour shows its subject every hazard, and no seed has a say in it. Random
// events come on top.
func TestTourTriesEveryHazard(t *testing.T) {
	calls := trials(t, func(t testing.TB, s Subject[wet, pump.State, pump.On]) {
		if err := tour(&s, Laws[wet, pump.State, pump.On](), NewCover(pumps)); err != nil {
			t.Error(err)
		}
	})
	for _, h := range hazards {
		if !slices.ContainsFunc(calls, h.is) {
			t.Errorf("never tried: %s", h.name)
		}
	}
}

// Each call is made twice, with the same arguments: the second tells whether
// the first changed anything but its result.
func TestEachStepIsTakenTwice(t *testing.T) {
	set(t, "rapid.checks", "3")
	calls := trials(t, func(t testing.TB, s Subject[wet, pump.State, pump.On]) { Machine(t, s) })
	if len(calls)%2 != 0 {
		t.Fatalf("%d calls", len(calls))
	}
	for n := 0; n < len(calls); n += 2 {
		if calls[n] != calls[n+1] {
			t.Fatalf("call %d: %+v, then %+v", n, calls[n], calls[n+1])
		}
	}
}

// Guards that a drive wants to hold never contradict each other: of wet and
// dry one holds, in every call on a known state.
func TestDriveWishesForPossibleGuards(t *testing.T) {
	set(t, "rapid.checks", "20")
	for _, c := range trials(t, func(t testing.TB, s Subject[wet, pump.State, pump.On]) { Machine(t, s) }) {
		if both := c.holds & (pump.Wet | pump.Dry); pumps.Knows(c.rec.State) && (both == 0 || both == pump.Wet|pump.Dry) {
			t.Fatalf("%s in %s with {%s}", c.ev.On, c.rec.State, pumps.GuardNames(c.holds))
		}
	}
}

// Runs share nothing: each begins at the start, at the same time, with epoch
// one to come.
func TestEachRunBeginsAnew(t *testing.T) {
	set(t, "rapid.checks", "10")
	begun := 0
	s := pumpSubject(right)
	start := s.Start
	s.Start = func() wet { begun++; return start() }
	var first []trial
	s.Step = func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
		if rec.State == pump.None && ev.On == pump.Install && rec.Epoch == 0 {
			first = append(first, trial{rec, ev, holds, now})
		}
		return right(rec, ev, holds, now)
	}
	Machine(t, s)
	if begun < 10 {
		t.Errorf("%d fresh records for a tour and ten runs", begun)
	}
	if !slices.ContainsFunc(first, func(c trial) bool { return c.now.Equal(epochZero) && c.ev.Next == 1 }) {
		t.Error("no run began at the start of time")
	}
}
