package statemachinetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

// Where the steps of this file begin, and what decided what.
var (
	noon     = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	due      = noon.Add(pump.FillTime)
	idle     = wet{pumpAt: pumpAt{State: pump.Idle, Epoch: 4}}
	filling  = wet{pumpAt{State: pump.Filling, Epoch: 5, Deadline: due}, pump.Level}
	draining = wet{pumpAt: pumpAt{State: pump.Draining, Epoch: 6, Deadline: noon.Add(pump.DrainTime), Before: was(5, pump.Filled)}}
	failed   = wet{pumpAt: pumpAt{State: pump.Idle, Epoch: 5, Ended: pump.Failed}}
	serving  = wet{pumpAt: pumpAt{State: pump.Serving, Epoch: 6, Ended: pump.Drained, Before: was(5, pump.Filled)}}
	broken   = wet{pumpAt: pumpAt{State: pump.Broken, Epoch: 6}}
)

func was(epoch uint64, by pump.On) statemachine.Decided[pump.On] {
	return statemachine.Decided[pump.On]{Epoch: epoch, By: by}
}

// with is r after a change.
func (r wet) with(change func(*wet)) wet {
	change(&r)
	return r
}

var refused error = &statemachine.Refused{}

// A verdict is one step that some Step answered, right or wrong, and the laws
// that it breaks. Steps were chosen by hand: no engine has a say in them.
type verdict struct {
	name   string
	before wet
	ev     pumpEvent
	after  wet
	err    error
	breaks []string
}

var verdicts = []verdict{
	{"a fill", idle, pumpEvent{On: pump.Fill, Next: 5}, filling, nil, nil},
	{"a fill with the epoch of the last", idle, pumpEvent{On: pump.Fill, Next: 4}, filling.with(func(r *wet) { r.Epoch = 4 }), nil,
		[]string{"entering in flight opens an attempt"}},
	{"a fill with an epoch of its own", idle, pumpEvent{On: pump.Fill, Next: 5}, filling.with(func(r *wet) { r.Epoch = 9 }), nil,
		[]string{"epochs only grow, to the one that came"}},
	{"a fill without a deadline", idle, pumpEvent{On: pump.Fill, Next: 5}, filling.with(func(r *wet) { r.Deadline = time.Time{} }), nil,
		[]string{"entering in flight opens an attempt", "an attempt in flight has a deadline"}},
	{"a fill that forgets what was before", failed, pumpEvent{On: pump.Fill, Next: 6}, filling.with(func(r *wet) { r.Epoch = 6 }), nil,
		[]string{"the decided attempt before is remembered"}},
	{"a fill that remembers it", failed, pumpEvent{On: pump.Fill, Next: 6}, filling.with(func(r *wet) { r.Epoch, r.Before = 6, was(5, pump.Failed) }), nil, nil},
	{"a fill that is refused", idle, pumpEvent{On: pump.Fill, Next: 5}, idle, refused, []string{"what the table accepts is accepted"}},
	{"a fill with a used epoch that is refused", idle, pumpEvent{On: pump.Fill, Next: 4}, idle, refused, nil},

	{"a report", filling, pumpEvent{On: pump.Filled, Epoch: 5, Next: 6}, draining, nil, nil},
	{"a report whose attempt is lost", filling, pumpEvent{On: pump.Filled, Epoch: 5, Next: 6}, draining.with(func(r *wet) { r.Before = was(0, "") }), nil,
		[]string{"the decided attempt before is remembered"}},
	{"a report of no epoch", filling, pumpEvent{On: pump.Filled, Next: 6}, draining, nil, []string{"a stale report has no effect"}},
	{"a report of no epoch, refused", filling, pumpEvent{On: pump.Filled, Next: 6}, filling, refused, nil},
	{"its repeat", draining, pumpEvent{On: pump.Filled, Epoch: 5}, draining, nil, nil},
	{"its repeat, refused", draining, pumpEvent{On: pump.Filled, Epoch: 5}, draining, refused, []string{"a repeated report succeeds without effect"}},
	{"its repeat, taken for the new one's", draining, pumpEvent{On: pump.Filled, Epoch: 5}, serving, nil, []string{"a repeated report succeeds without effect"}},
	{"its repeat after the next report", serving, pumpEvent{On: pump.Filled, Epoch: 5}, serving, nil, nil},
	{"its repeat when all is forgotten", broken, pumpEvent{On: pump.Filled, Epoch: 5}, broken, nil,
		[]string{"what the table refuses is refused", "a stale report has no effect"}},
	{"another report of its epoch", draining, pumpEvent{On: pump.Failed, Epoch: 5},
		draining.with(func(r *wet) { r.State, r.Deadline, r.Ended = pump.Idle, time.Time{}, pump.Failed }), nil, []string{"a stale report has no effect"}},

	{"an end that forgets its report", draining, pumpEvent{On: pump.Drained, Epoch: 6}, serving.with(func(r *wet) { r.Ended = "" }), nil,
		[]string{"a decided attempt knows its report"}},
	{"an end that keeps its deadline", draining, pumpEvent{On: pump.Drained, Epoch: 6}, serving.with(func(r *wet) { r.Deadline = due }), nil,
		[]string{"an attempt ends with its state"}},
	{"an order that ends nothing", serving, pumpEvent{On: pump.Stop}, serving.with(func(r *wet) { r.State = pump.Idle }), nil, nil},
	{"a scrap", serving, pumpEvent{On: pump.Scrap}, broken, nil, nil},
	{"a scrap that remembers the last", serving, pumpEvent{On: pump.Scrap}, broken.with(func(r *wet) { r.Ended = pump.Drained }), nil,
		[]string{"a decided attempt knows its report"}},
	{"a scrap that remembers the one before", serving, pumpEvent{On: pump.Scrap}, broken.with(func(r *wet) { r.Before = was(5, pump.Filled) }), nil,
		[]string{"the decided attempt before is remembered"}},
	{"a scrap that keeps a field", serving, pumpEvent{On: pump.Scrap}, broken.with(func(r *wet) { r.fields = pump.Level }), nil,
		[]string{"a state has only the fields that it may hold"}},
	{"a removal", idle, pumpEvent{On: pump.Remove}, wet{pumpAt: pumpAt{State: pump.None}}, nil, nil},
	{"a removal that keeps the epoch", idle, pumpEvent{On: pump.Remove}, wet{pumpAt: pumpAt{State: pump.None, Epoch: 4}}, nil, nil},

	{"an early expiry", filling, pumpEvent{On: pump.Timeout}, failed, nil, []string{"expiry waits for the deadline"}},
	{"an early expiry, refused", filling, pumpEvent{On: pump.Timeout}, filling, refused, nil},
	{"an expiry of nothing", serving, pumpEvent{On: pump.Timeout}, serving, nil, []string{"expiry waits for the deadline"}},
	{"an unknown event", idle, pumpEvent{On: "explode"}, idle, nil, []string{"an unknown state or event is refused"}},
	{"an unknown state", wet{pumpAt: pumpAt{State: "new"}}, pumpEvent{On: pump.Stop}, wet{pumpAt: pumpAt{State: "new"}}, nil,
		[]string{"an unknown state or event is refused"}},
	{"a landing elsewhere", idle, pumpEvent{On: pump.Scrap}, idle, nil, []string{"a step lands where the table says"}},
	{"a refusal ignored", broken, pumpEvent{On: pump.Flush, Next: 7}, broken, nil, []string{"what the table refuses is refused"}},
	{"a refusal with an effect", filling, pumpEvent{On: pump.Scrap}, filling.with(func(r *wet) { r.fields = 0 }), refused, []string{"a refusal changes nothing"}},
	{"a refusal without a code", filling, pumpEvent{On: pump.Scrap}, filling, errors.New("no"), []string{"a refusal has a code"}},
}

// Each law judges what it speaks of and leaves the rest alone: a step breaks
// these laws and no other.
func TestLawsJudgeByHand(t *testing.T) {
	s := pumpSubject(right)
	for _, v := range verdicts {
		t.Run(strings.ReplaceAll(v.name, " ", "_"), func(t *testing.T) {
			k := Taken[wet, pump.State, pump.On]{Subject: &s, Before: v.before, Was: v.before.pumpAt, After: v.after, Is: v.after.pumpAt,
				Event: v.ev, Holds: pump.Wet, Now: noon, Err: v.err, Again: v.after, ErrAgain: v.err}
			k.Cell, k.Known = pumps.Cell(v.before.State, v.ev.On, pump.Wet)
			for _, law := range Laws[wet, pump.State, pump.On]() {
				err := law.Check(k)
				if broken := slices.Contains(v.breaks, law.Name); broken != (err != nil) {
					t.Errorf("%s: %v, want broken: %v", law.Name, err, broken)
				}
			}
		})
	}
}
