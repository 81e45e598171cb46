package statemachinetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
	"pgregory.net/rapid"
)

// What may go wrong beside one report, written out.
func TestMishapsOfAReport(t *testing.T) {
	ev := pumpEvent{On: pump.Drained, Epoch: 6, Next: 7}
	plain := []pumpEvent{
		ev,
		{On: pump.Drained, Epoch: 0, Next: 7},
		{On: pump.Drained, Epoch: 7, Next: 7},
		{On: pump.Drained, Epoch: 5, Next: 7},
		{On: pump.Drained, Epoch: 6, Next: 6},
		{On: pump.Drained, Epoch: 6, Next: 7, Within: time.Second},
		{On: "no-such-event", Epoch: 6, Next: 7},
	}
	again, before := pumpEvent{On: pump.Drained, Epoch: 6, Next: 7}, pumpEvent{On: pump.Filled, Epoch: 5, Next: 7}
	for _, tc := range []struct {
		name string
		at   pumpAt
		want []pumpEvent
	}{
		{"nothing was decided", pumpAt{State: pump.Filling, Epoch: 6}, plain},
		{"the attempt before was", draining.pumpAt, append(slices.Clip(plain), before)},
		{"this one was too", serving.pumpAt, append(slices.Clip(plain), again, before)},
	} {
		if got := mishaps(ev, tc.at); !slices.Equal(got, tc.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tc.name, got, tc.want)
		}
	}
	if got := mishaps(pumpEvent{On: pump.Fill, Next: 1}, pumpAt{State: pump.Idle}); got[3].Epoch != 0 {
		t.Errorf("an epoch below zero: %+v", got[3])
	}
}

// What is drawn is a cell of where the record stands, a report that decided
// one of its attempts, or an event that nobody knows.
func TestAimKnowsWhereItStands(t *testing.T) {
	s := pumpSubject(right)
	rapid.Check(t, func(t *rapid.T) {
		d := newDriver(&s, nil, NewCover(pumps))
		at := rapid.SampledFrom([]wet{idle, filling, draining, failed, serving, broken}).Draw(t, "record").pumpAt
		switch cell := d.aim(t, at); {
		case cell.On == "no-such-event":
		case cell.From == "":
			if cell.On != at.Ended && cell.On != at.Before.By {
				t.Fatalf("%s decided nothing of %+v", cell.On, at)
			}
		case cell.From != at.State:
			t.Fatalf("a cell of %s in %s", cell.From, at.State)
		}
	})
}

// Time never runs back, and does not pass a deadline without stopping there.
func TestTimePasses(t *testing.T) {
	s := pumpSubject(right)
	rapid.Check(t, func(t *rapid.T) {
		d := newDriver(&s, nil, NewCover(pumps))
		at := pumpAt{State: pump.Filling, Epoch: 1, Deadline: epochZero.Add(pump.FillTime)}
		for range 20 {
			was := d.now
			d.pass(t, at)
			if d.now.Before(was) {
				t.Fatalf("from %s to %s", was, d.now)
			}
			if was.Before(at.Deadline) && d.now.After(at.Deadline) && !was.Equal(at.Deadline.Add(-1)) {
				t.Fatalf("from %s to %s, past %s", was, d.now, at.Deadline)
			}
		}
	})
}

// A picky Step may refuse what its table accepts. That is all it may do.
func TestPickyKeepsTheOtherLaws(t *testing.T) {
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", "0s")
	never := func(rec wet, _ pumpEvent, _ statemachine.Guard, _ time.Time) (wet, error) {
		return rec, &statemachine.Refused{}
	}
	for _, tc := range []struct {
		name  string
		step  stepper
		fails bool
	}{
		{"it refuses all but repeats, of which there are none", never, false},
		{"without a code", func(rec wet, ev pumpEvent, g statemachine.Guard, now time.Time) (wet, error) {
			return rec, errors.New("no")
		}, true},
		{"with an effect", func(rec wet, ev pumpEvent, g statemachine.Guard, now time.Time) (wet, error) {
			rec.Epoch++
			return rec, &statemachine.Refused{}
		}, true},
		{"it refuses repeats", refusing(func(rec wet, ev pumpEvent, _ time.Time) bool { return rec.Ended != "" && ev.On == rec.Ended })(), true},
	} {
		s := pumpSubject(tc.step)
		s.Picky = true
		quiet := &recorder{TB: t}
		quiet.run(func() { Machine(quiet, s) })
		if quiet.failed != tc.fails {
			t.Errorf("%s: failed is %v: %q", tc.name, quiet.failed, quiet.errors)
		}
	}
}

// Records are compared as their owner says: a field that is none of the
// machine's may differ from call to call.
func TestEqualIsTheOwners(t *testing.T) {
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", "0s")
	calls := statemachine.Fields(0)
	s := pumpSubject(func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
		next, err := right(rec, ev, holds, now)
		calls++
		next.fields |= calls << 8 // a log of its own
		return next, err
	})
	s.Fields = nil
	quiet := &recorder{TB: t}
	if quiet.run(func() { Machine(quiet, s) }); !quiet.failed {
		t.Error("two calls that differ went unnoticed")
	}
	s.Equal = func(a, b wet) bool { return a.pumpAt == b.pumpAt && a.fields&0xff == b.fields&0xff }
	Machine(t, s).Require(t)
}
