package statemachinetest

import (
	"errors"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

type (
	pumpAt    = statemachine.At[pump.State, pump.On]
	pumpEvent = statemachine.Event[pump.On]
)

// wet is a pump's record: where it stands, and its fields.
type wet struct {
	pumpAt
	fields statemachine.Fields
}

// stepper has the shape of Subject.Step.
type stepper func(wet, pumpEvent, statemachine.Guard, time.Time) (wet, error)

var pumps = pump.Table()

// right keeps every law.
func right(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
	next, err := pumps.Step(rec.pumpAt, ev, holds, now)
	if err != nil {
		return rec, err
	}
	return wet{next, rec.fields &^ pumps.Drops(next.State)}, nil
}

// after makes a mutant that spoils a right step once it succeeded.
func after(spoil func(was wet, is *wet, ev pumpEvent)) func() stepper {
	return func() stepper {
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			next, err := right(rec, ev, holds, now)
			if err == nil {
				spoil(rec, &next, ev)
			}
			return next, err
		}
	}
}

// before makes a mutant that spoils what goes into a right step.
func before(spoil func(rec *wet, ev *pumpEvent, now *time.Time)) func() stepper {
	return func() stepper {
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			was := rec
			spoil(&rec, &ev, &now)
			next, err := right(rec, ev, holds, now)
			if err != nil {
				return was, err
			}
			return next, nil
		}
	}
}

// refusing makes a mutant that also refuses when bad says so.
func refusing(bad func(rec wet, ev pumpEvent, now time.Time) bool) func() stepper {
	return func() stepper {
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			if bad(rec, ev, now) {
				return rec, &statemachine.Refused{}
			}
			return right(rec, ev, holds, now)
		}
	}
}

// forgiving makes a mutant that turns some refusals into success.
func forgiving(good func(rec wet, ev pumpEvent) bool) func() stepper {
	return func() stepper {
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			next, err := right(rec, ev, holds, now)
			if good(rec, ev) {
				err = nil
			}
			return next, err
		}
	}
}

func entered(was wet, is *wet) bool { return was.Epoch != is.Epoch }

// mutants break the laws, each at least once, each as an honest mistake might.
var mutants = []struct {
	law, name string
	step      func() stepper // fresh, for those that remember
}{
	{"a refusal changes nothing", "the state is written before the check", func() stepper {
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			next, err := right(rec, ev, holds, now)
			if err != nil {
				next.Ended = ev.On
			}
			return next, err
		}
	}},
	{"a refusal changes nothing", "fields are cleared although it is refused", func() stepper {
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			next, err := right(rec, ev, holds, now)
			if err != nil {
				next.fields = 0
			}
			return next, err
		}
	}},
	{"a refusal has a code", "errors are bare text", func() stepper {
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			next, err := right(rec, ev, holds, now)
			if err != nil {
				err = errors.New("bad state")
			}
			return next, err
		}
	}},
	{"the same call decides the same", "it counts its calls", func() stepper {
		calls := 0
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			calls++
			next, err := right(rec, ev, holds, now)
			if err == nil {
				next.Deadline = next.Deadline.Add(time.Duration(calls))
			}
			return next, err
		}
	}},
	{"an unknown state or event is refused", "unknown states are ignored", forgiving(func(rec wet, _ pumpEvent) bool { return !pumps.Knows(rec.State) })},
	{"an unknown state or event is refused", "unknown events are ignored", forgiving(func(_ wet, ev pumpEvent) bool { return ev.On == "no-such-event" })},
	{"what the table refuses is refused", "refusals are ignored", forgiving(func(_ wet, ev pumpEvent) bool { return ev.On == pump.Scrap })},
	{"what the table accepts is accepted", "an event is forgotten", refusing(func(_ wet, ev pumpEvent, _ time.Time) bool { return ev.On == pump.Stop })},
	{"what the table accepts is accepted", "overdue reports are refused", refusing(func(rec wet, ev pumpEvent, now time.Time) bool {
		return pumps.Reports(ev.On) && pumps.Open(rec.pumpAt) && !now.Before(rec.Deadline)
	})},
	{"what the table accepts is accepted", "expiry waits too long", refusing(func(rec wet, ev pumpEvent, now time.Time) bool {
		return ev.On == pump.Timeout && !now.After(rec.Deadline)
	})},
	{"a step lands where the table says", "scrap goes nowhere", after(func(was wet, is *wet, ev pumpEvent) {
		if ev.On == pump.Scrap {
			is.State = was.State
		}
	})},
	{"a step lands where the table says", "a success does nothing", func() stepper {
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			_, err := right(rec, ev, holds, now)
			return rec, err
		}
	}},
	{"epochs only grow, to the one that came", "it counts by itself", after(func(was wet, is *wet, _ pumpEvent) {
		if entered(was, is) {
			is.Epoch = was.Epoch + 2
		}
	})},
	{"epochs only grow, to the one that came", "an ended attempt loses its epoch", after(func(was wet, is *wet, _ pumpEvent) {
		if was.Deadline != is.Deadline && is.Deadline.IsZero() {
			is.Epoch = 0
		}
	})},
	{"entering in flight opens an attempt", "the old epoch is kept", after(func(was wet, is *wet, _ pumpEvent) { is.Epoch = was.Epoch })},
	{"entering in flight opens an attempt", "the event's deadline is ignored", before(func(_ *wet, ev *pumpEvent, _ *time.Time) { ev.Within = 0 })},
	{"entering in flight opens an attempt", "any epoch will do", before(func(rec *wet, ev *pumpEvent, _ *time.Time) {
		if ev.On == pump.Fill || ev.On == pump.Flush {
			rec.Epoch = 0
		}
	})},
	{"an attempt in flight has a deadline", "a stay clears it", after(func(was wet, is *wet, _ pumpEvent) {
		if was.State == is.State {
			is.Deadline = time.Time{}
		}
	})},
	{"an attempt ends with its state", "the deadline stays behind", after(func(was wet, is *wet, _ pumpEvent) {
		if is.Deadline.IsZero() {
			is.Deadline = was.Deadline
		}
	})},
	{"a stale report has no effect", "epochs are not compared", before(func(rec *wet, ev *pumpEvent, _ *time.Time) { ev.Epoch = rec.Epoch })},
	{"a stale report has no effect", "a report without epoch is taken", before(func(rec *wet, ev *pumpEvent, _ *time.Time) {
		if ev.Epoch == 0 {
			ev.Epoch = rec.Epoch
		}
	})},
	{"a repeated report succeeds without effect", "repeats are refused", before(func(rec *wet, _ *pumpEvent, _ *time.Time) { rec.Ended = "" })},
	{"a repeated report succeeds without effect", "only the newest attempt is repeated", before(func(rec *wet, ev *pumpEvent, _ *time.Time) {
		if ev.Epoch != rec.Epoch {
			rec.Before = statemachine.Decided[pump.On]{}
		}
	})},
	{"a repeated report succeeds without effect", "a repeat of the attempt before clears a field", after(func(was wet, is *wet, ev pumpEvent) {
		if ev.On == was.Before.By && ev.Epoch == was.Before.Epoch {
			is.fields = 0
		}
	})},
	{"a repeated report succeeds without effect", "a repeat ends the attempt after it", after(func(was wet, is *wet, ev pumpEvent) {
		if ev.On == was.Before.By && ev.Epoch == was.Before.Epoch {
			is.Ended, is.Deadline = ev.On, time.Time{}
		}
	})},
	{"a repeated report succeeds without effect", "repeats clear a field", after(func(was wet, is *wet, ev pumpEvent) {
		if ev.On == was.Ended {
			is.fields = 0
		}
	})},
	{"a decided attempt knows its report", "an order does not end as a report", after(func(_ wet, is *wet, ev pumpEvent) {
		if ev.On == pump.Stop {
			is.Ended = ""
		}
	})},
	{"a decided attempt knows its report", "nothing is forgotten", after(func(was wet, is *wet, ev pumpEvent) {
		if ev.On == pump.Scrap {
			is.Ended = was.Ended
		}
	})},
	{"a decided attempt knows its report", "an order ends what is not open", after(func(was wet, is *wet, ev pumpEvent) {
		if was.State == pump.Serving && ev.On == pump.Stop {
			is.Ended = pump.Failed
		}
	})},
	{"the decided attempt before is remembered", "Before is forgotten", after(func(was wet, is *wet, _ pumpEvent) {
		if entered(was, is) {
			is.Before = statemachine.Decided[pump.On]{}
		}
	})},
	{"the decided attempt before is remembered", "it is forgotten when the newest ends", after(func(was wet, is *wet, _ pumpEvent) {
		if is.Ended != "" {
			is.Before = statemachine.Decided[pump.On]{}
		}
	})},
	{"the decided attempt before is remembered", "Forget keeps it", after(func(was wet, is *wet, ev pumpEvent) {
		if ev.On == pump.Scrap {
			is.Before = was.Before
		}
	})},
	{"the decided attempt before is remembered", "absence keeps it", after(func(was wet, is *wet, _ pumpEvent) {
		if is.State == pump.None {
			is.Before = was.Before
		}
	})},
	{"the decided attempt before is remembered", "an undecided one takes its place", after(func(was wet, is *wet, _ pumpEvent) {
		if entered(was, is) && was.Ended == "" {
			is.Before = statemachine.Decided[pump.On]{Epoch: was.Epoch}
		}
	})},
	{"the decided attempt before is remembered", "it has the new epoch", after(func(was wet, is *wet, _ pumpEvent) {
		if entered(was, is) && is.Before.By != "" {
			is.Before.Epoch = is.Epoch
		}
	})},
	{"expiry waits for the deadline", "whoever says so is believed", before(func(_ *wet, ev *pumpEvent, now *time.Time) {
		if ev.On == pump.Timeout {
			*now = now.Add(time.Hour)
		}
	})},
	{"a state has only the fields that it may hold", "nothing is cleared", func() stepper {
		return func(rec wet, ev pumpEvent, holds statemachine.Guard, now time.Time) (wet, error) {
			next, err := pumps.Step(rec.pumpAt, ev, holds, now)
			return wet{next, rec.fields}, err
		}
	}},
}

func pumpSubject(step stepper) Subject[wet, pump.State, pump.On] {
	return Subject[wet, pump.State, pump.On]{
		Table: pumps, Step: step,
		Start:  func() wet { return wet{pumpAt: pumpAt{State: pump.None}} },
		At:     func(rec wet) pumpAt { return rec.pumpAt },
		In:     func(s pump.State) wet { return wet{pumpAt: pumpAt{State: s}} },
		Fields: func(rec wet) statemachine.Fields { return rec.fields },
		Fill: func(rec wet) wet {
			rec.fields = (pump.Level | pump.Filter) &^ pumps.Drops(rec.State)
			return rec
		},
	}
}

// Each mutant must be found by its law alone.
func TestEachLawFindsItsMutants(t *testing.T) {
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", "0s")
	laws := Laws[wet, pump.State, pump.On]()
	tried := map[string]bool{}
	for _, m := range mutants {
		t.Run(m.law+"/"+m.name, func(t *testing.T) {
			n := slices.IndexFunc(laws, func(l Law[wet, pump.State, pump.On]) bool { return l.Name == m.law })
			tried[m.law] = true
			if n < 0 || !fails(t, m.step(), laws[n:n+1]) {
				t.Error("it went unnoticed")
			}
		})
	}
	for _, law := range laws {
		if !tried[law.Name] {
			t.Errorf("no mutant breaks the law %q", law.Name)
		}
	}
}

func TestTheRightStepKeepsAllLaws(t *testing.T) {
	if fails(t, right, Laws[wet, pump.State, pump.On]()) {
		t.Error("a right step is refused")
	}
}

// set gives a flag a value for the length of a test.
func set(t *testing.T, name, value string) {
	f := flag.Lookup(name)
	was := f.Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(name, was) })
}

// fails drives a step and reports whether the drive failed.
func fails(t *testing.T, step stepper, laws []Law[wet, pump.State, pump.On]) bool {
	quiet := &recorder{TB: t}
	quiet.run(func() { drive(quiet, pumpSubject(step), laws) })
	return quiet.failed
}

// recorder is a test that keeps its failure to itself.
type recorder struct {
	testing.TB
	failed bool
	errors []string
}

// run runs f in a goroutine of its own, which FailNow ends.
func (r *recorder) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}
