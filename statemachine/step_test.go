package statemachine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

type (
	at    = statemachine.At[pump.State, pump.On]
	event = statemachine.Event[pump.On]

	decided = statemachine.Decided[pump.On]
)

var start = time.Unix(1000, 0)

// A call to Step, and what must come of it. Where code is set, that is the
// refusal's.
type call struct {
	name  string
	at    at
	ev    event
	after time.Duration // since start
	want  at
	code  string
}

// filling is the first attempt, from start on; draining the second.
var (
	idle     = at{State: pump.Idle}
	filling  = at{State: pump.Filling, Epoch: 1, Deadline: start.Add(pump.FillTime)}
	draining = at{State: pump.Draining, Epoch: 2, Deadline: start.Add(pump.DrainTime), Before: decided{1, pump.Filled}}
	serving  = at{State: pump.Serving, Epoch: 2, Ended: pump.Drained, Before: decided{1, pump.Filled}}
	flushing = at{State: pump.Serving, Epoch: 3, Deadline: start.Add(pump.FlushTime), Before: decided{2, pump.Drained}}
	failed   = at{State: pump.Idle, Epoch: 1, Ended: pump.Failed}
)

// left is serving after its flush came to an end.
func left(state pump.State, by pump.On) at {
	return at{State: state, Epoch: 3, Ended: by, Before: decided{2, pump.Drained}}
}

var calls = []call{
	{name: "entering in flight opens an attempt", at: idle, ev: event{On: pump.Fill, Next: 1}, want: filling},
	{name: "the event may bring a shorter deadline", at: idle, ev: event{On: pump.Fill, Next: 1, Within: time.Second},
		want: at{State: pump.Filling, Epoch: 1, Deadline: start.Add(time.Second)}},
	{name: "or a longer one", at: idle, ev: event{On: pump.Fill, Next: 1, Within: time.Hour},
		want: at{State: pump.Filling, Epoch: 1, Deadline: start.Add(time.Hour)}},
	{name: "but not over the limit", at: idle, ev: event{On: pump.Fill, Next: 1, Within: statemachine.MaxDeadline + 1}, code: "INVALID_INPUT"},
	{name: "nor in the past", at: idle, ev: event{On: pump.Fill, Next: 1, Within: -1}, code: "INVALID_INPUT"},
	{name: "an attempt needs an epoch", at: idle, ev: event{On: pump.Fill}, code: "INVALID_INPUT"},
	{name: "above the last one", at: failed, ev: event{On: pump.Fill, Next: 1}, code: "INVALID_INPUT"},
	{name: "any epoch above will do", at: failed, ev: event{On: pump.Fill, Next: 9},
		want: at{State: pump.Filling, Epoch: 9, Deadline: start.Add(pump.FillTime), Before: decided{1, pump.Failed}}},

	{name: "a report moves from attempt to attempt", at: filling, ev: event{On: pump.Filled, Epoch: 1, Next: 2}, want: draining},
	{name: "which needs an epoch too", at: filling, ev: event{On: pump.Filled, Epoch: 1, Next: 1}, code: "INVALID_INPUT"},
	{name: "a report ends the attempt as itself", at: draining, ev: event{On: pump.Drained, Epoch: 2}, want: serving},
	{name: "its repeat changes nothing", at: serving, ev: event{On: pump.Drained, Epoch: 2}, want: serving},
	{name: "another report of that epoch is stale", at: serving, ev: event{On: pump.Failed, Epoch: 2}, code: "CONFLICT"},
	{name: "a repeat of another epoch is refused", at: serving, ev: event{On: pump.Drained, Epoch: 1}, code: "INVALID_STATE"},
	{name: "a repeat is known while the next attempt is open", at: draining, ev: event{On: pump.Filled, Epoch: 1}, want: draining},
	{name: "and when that has ended too", at: serving, ev: event{On: pump.Filled, Epoch: 1}, want: serving},
	{name: "but not after another one", at: flushing, ev: event{On: pump.Filled, Epoch: 1}, code: "INVALID_STATE"},
	{name: "an order's decision is repeated there as well", at: at{State: pump.Filling, Epoch: 9, Deadline: start, Before: decided{1, pump.Failed}},
		ev: event{On: pump.Failed, Epoch: 1}, want: at{State: pump.Filling, Epoch: 9, Deadline: start, Before: decided{1, pump.Failed}}},
	{name: "the report before, with the new epoch, is no repeat", at: draining, ev: event{On: pump.Filled, Epoch: 2}, code: "INVALID_STATE"},
	{name: "what is remembered of epoch zero is no attempt", at: at{State: pump.Filling, Epoch: 1, Deadline: start, Before: decided{0, pump.Filled}},
		ev: event{On: pump.Filled}, code: "CONFLICT"},
	{name: "an order is never a repeat", at: at{State: pump.Broken, Epoch: 2, Before: decided{1, pump.Fill}},
		ev: event{On: pump.Fill, Epoch: 1}, code: "INVALID_STATE"},
	{name: "a repeat is known in later states", at: at{State: pump.Idle, Epoch: 2, Ended: pump.Drained},
		ev: event{On: pump.Drained, Epoch: 2}, want: at{State: pump.Idle, Epoch: 2, Ended: pump.Drained}},
	{name: "no repeat in a state that is unknown", at: at{State: "new", Epoch: 2, Ended: pump.Drained},
		ev: event{On: pump.Drained, Epoch: 2}, code: "INVALID_STATE"},
	{name: "an older report is stale", at: draining, ev: event{On: pump.Failed, Epoch: 1}, code: "CONFLICT"},
	{name: "a report from the future is stale", at: draining, ev: event{On: pump.Drained, Epoch: 3}, code: "CONFLICT"},
	{name: "a report without an epoch is stale", at: draining, ev: event{On: pump.Drained}, code: "CONFLICT"},
	{name: "even in an attempt without one", at: at{State: pump.Draining}, ev: event{On: pump.Drained}, code: "CONFLICT"},

	{name: "an early expiry is refused", at: filling, ev: event{On: pump.Timeout}, after: pump.FillTime - 1, code: "CONFLICT"},
	{name: "an expiry on time is not", at: filling, ev: event{On: pump.Timeout}, after: pump.FillTime, want: failed},
	{name: "no deadline in flight is overdue", at: at{State: pump.Filling, Epoch: 1}, ev: event{On: pump.Timeout}, want: failed},
	{name: "an expired attempt knows its report", at: failed, ev: event{On: pump.Failed, Epoch: 1}, want: failed},
	{name: "and no other", at: failed, ev: event{On: pump.Filled, Epoch: 1}, code: "INVALID_STATE"},
	{name: "an overdue report counts until expiry", at: draining, ev: event{On: pump.Drained, Epoch: 2}, after: time.Hour, want: serving},

	{name: "an order ends the attempt as a report", at: filling, ev: event{On: pump.Stop}, want: failed},
	{name: "an order without an attempt ends none", at: serving, ev: event{On: pump.Stop},
		want: at{State: pump.Idle, Epoch: 2, Ended: pump.Drained, Before: decided{1, pump.Filled}}},

	{name: "a rule opens an attempt in a stable state", at: serving, ev: event{On: pump.Flush, Next: 3}, want: flushing},
	{name: "which needs an epoch as well", at: serving, ev: event{On: pump.Flush, Next: 2}, code: "INVALID_INPUT"},
	{name: "and may be opened anew", at: flushing, ev: event{On: pump.Flush, Next: 4}, after: time.Second,
		want: at{State: pump.Serving, Epoch: 4, Deadline: start.Add(time.Second + pump.FlushTime), Before: decided{2, pump.Drained}}},
	{name: "its report ends it", at: flushing, ev: event{On: pump.Flushed, Epoch: 3}, want: left(pump.Serving, pump.Flushed)},
	{name: "its expiry ends it", at: flushing, ev: event{On: pump.Timeout}, after: pump.FlushTime, want: left(pump.Serving, pump.Failed)},
	{name: "not too early", at: flushing, ev: event{On: pump.Timeout}, code: "CONFLICT"},
	{name: "without an attempt no expiry", at: serving, ev: event{On: pump.Timeout}, after: time.Hour, code: "CONFLICT"},
	{name: "without an attempt no report", at: at{State: pump.Serving, Epoch: 3}, ev: event{On: pump.Flushed, Epoch: 3}, code: "CONFLICT"},
	{name: "a move ends it", at: flushing, ev: event{On: pump.Stop}, want: left(pump.Idle, pump.Failed)},
	{name: "a stay leaves it", at: flushing, ev: event{On: pump.Install}, want: flushing},
	{name: "a stay leaves one in flight", at: filling, ev: event{On: pump.Install}, want: filling},
	{name: "a state without expiry has no attempt", at: at{State: pump.Idle, Epoch: 1, Deadline: start},
		ev: event{On: pump.Failed, Epoch: 1}, code: "INVALID_STATE"},

	{name: "forgetting keeps only the epoch", at: failed, ev: event{On: pump.Scrap}, want: at{State: pump.Broken, Epoch: 1}},
	{name: "forgetting ends an attempt", at: flushing, ev: event{On: pump.Scrap}, want: at{State: pump.Broken, Epoch: 3}},
	{name: "of both attempts", at: serving, ev: event{On: pump.Scrap}, want: at{State: pump.Broken, Epoch: 2}},
	{name: "a repeat is stale then", at: at{State: pump.Broken, Epoch: 1}, ev: event{On: pump.Failed, Epoch: 1}, code: "INVALID_STATE"},
	{name: "absence keeps nothing", at: failed, ev: event{On: pump.Remove}, want: at{State: pump.None}},

	{name: "a rule refuses", at: filling, ev: event{On: pump.Scrap}, code: "INVALID_STATE"},
	{name: "an unknown state is left alone", at: at{State: "new", Epoch: 4, Deadline: start}, ev: event{On: pump.Timeout}, after: time.Hour, code: "INVALID_STATE"},
	{name: "an empty state is left alone", at: at{}, ev: event{On: pump.Install}, code: "INVALID_STATE"},
	{name: "an unknown event", at: filling, ev: event{On: "explode", Epoch: 1, Next: 2}, code: "INVALID_INPUT"},
}

func TestStep(t *testing.T) {
	table := pump.Table()
	for _, tc := range calls {
		t.Run(strings.ReplaceAll(tc.name, " ", "_"), func(t *testing.T) {
			if tc.code != "" {
				tc.want = tc.at
			}
			got, err := table.Step(tc.at, tc.ev, pump.Wet|pump.Primed, start.Add(tc.after))
			if got != tc.want || codeOf(err) != tc.code {
				t.Errorf("got  %+v, %v\nwant %+v, %s", got, err, tc.want, tc.code)
			}
		})
	}
}

func codeOf(err error) string {
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return coded.Code()
	}
	return ""
}

// A refusal is something that a person can act on.
func TestRefusedTellsWhatIsLegal(t *testing.T) {
	table := pump.Table()
	for _, tc := range []struct {
		at    at
		ev    event
		holds statemachine.Guard
		want  string
	}{
		{idle, event{On: pump.Fill}, pump.Dry, "pump: fill is refused in idle: a dry pump must be primed (PUMP-2); legal: install, fill, stop, scrap, remove"},
		{filling, event{On: pump.Timeout}, pump.Wet, "pump: timeout is refused in filling: no attempt is overdue (MACH-4); legal: install, filled, failed, stop, timeout"},
		{filling, event{On: pump.Filled, Epoch: 7}, pump.Wet, "pump: filled is refused in filling: the report names an attempt that is not the open one; stop that one, its reports are void (MACH-4); legal: install, filled, failed, stop, timeout"},
		{filling, event{On: "burn"}, pump.Wet, "pump: burn is refused in filling: there is no such event; legal: install, filled, failed, stop, timeout"},
		{at{State: "new"}, event{On: pump.Stop}, pump.Wet, "pump: stop is refused in new: this version does not know the state, and leaves it alone (EDGE-18)"},
		{idle, event{On: pump.Fill}, 0, "pump: fill is refused in idle: the guards contradict each other: exactly one of a group must hold"},
		{idle, event{On: pump.Fill, Next: 0}, pump.Wet, "pump: fill is refused in idle: an attempt needs an epoch above 0 and a deadline of at most 720h0m0s; this brings 0 and 0s (EDGE-7)"},
	} {
		if _, err := table.Step(tc.at, tc.ev, tc.holds, start); err == nil || err.Error() != tc.want {
			t.Errorf("got  %v\nwant %s", err, tc.want)
		}
	}
}

func TestDue(t *testing.T) {
	table := pump.Table()
	for _, tc := range []struct {
		at       at
		deadline time.Time
		open     bool
	}{
		{idle, time.Time{}, false},
		{filling, start.Add(pump.FillTime), true},
		{at{State: pump.Filling}, time.Time{}, true}, // at once
		{serving, time.Time{}, false},
		{flushing, start.Add(pump.FlushTime), true},
		{at{State: pump.Idle, Deadline: start}, time.Time{}, false},
		{at{State: "new", Deadline: start}, time.Time{}, false},
	} {
		deadline, on, open := table.Due(tc.at)
		if open != tc.open || table.Open(tc.at) != tc.open || !deadline.Equal(tc.deadline) || open != (on == pump.Timeout) {
			t.Errorf("%+v: due %s by %q, %v; want %s, %v", tc.at, deadline, on, open, tc.deadline, tc.open)
		}
	}
}
