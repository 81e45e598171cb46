package statemachine_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
	"pgregory.net/rapid"
)

// moment is one line of a story: after a while something happens, and the
// machine stands there.
type moment struct {
	wait  time.Duration
	ev    event
	state pump.State
	epoch uint64
	open  bool
	code  string
}

// live tells a story from at on.
func live(t *testing.T, at at, story []moment) {
	t.Helper()
	table, now := pump.Table(), start
	for n, m := range story {
		now = now.Add(m.wait)
		next, err := table.Step(at, m.ev, pump.Wet, now)
		if next.State != m.state || next.Epoch != m.epoch || table.Open(next) != m.open || codeOf(err) != m.code {
			t.Fatalf("line %d, %s: got %+v, %v; want %+v", n, m.ev.On, next, err, m)
		}
		at = next
	}
}

func TestLifeOfAPump(t *testing.T) {
	live(t, at{State: pump.None}, []moment{
		{0, event{On: pump.Install}, pump.Idle, 0, false, ""},
		{0, event{On: pump.Fill, Next: 11}, pump.Filling, 11, true, ""},
		{time.Minute, event{On: pump.Filled, Epoch: 11, Next: 12}, pump.Draining, 12, true, ""},
		{time.Minute, event{On: pump.Drained, Epoch: 12}, pump.Serving, 12, false, ""},
		{time.Hour, event{On: pump.Flush, Next: 30}, pump.Serving, 30, true, ""},
		{time.Second, event{On: pump.Flushed, Epoch: 30}, pump.Serving, 30, false, ""},
		{time.Hour, event{On: pump.Stop}, pump.Idle, 30, false, ""},
		{time.Hour, event{On: pump.Remove}, pump.None, 0, false, ""},
	})
}

// The answer to a report was lost. The agent sends it again, before and after
// others have moved the machine on.
func TestLostAnswer(t *testing.T) {
	live(t, at{State: pump.Draining, Epoch: 12, Deadline: start.Add(time.Hour)}, []moment{
		{0, event{On: pump.Drained, Epoch: 12}, pump.Serving, 12, false, ""},
		{0, event{On: pump.Drained, Epoch: 12}, pump.Serving, 12, false, ""},
		{0, event{On: pump.Stop}, pump.Idle, 12, false, ""},
		{0, event{On: pump.Drained, Epoch: 12}, pump.Idle, 12, false, ""},
		{0, event{On: pump.Fill, Next: 13}, pump.Filling, 13, true, ""},
		{0, event{On: pump.Drained, Epoch: 12}, pump.Filling, 13, true, ""},
		{0, event{On: pump.Failed, Epoch: 12}, pump.Filling, 13, true, "CONFLICT"},
		{0, event{On: pump.Filled, Epoch: 13, Next: 14}, pump.Draining, 14, true, ""},
		{0, event{On: pump.Drained, Epoch: 12}, pump.Draining, 14, true, "CONFLICT"},
	})
}

// The report that opens the next attempt is the likeliest to lose its answer:
// the agent is told to reboot into it. Its repeat finds the next one open.
func TestLostAnswerBetweenAttempts(t *testing.T) {
	live(t, at{State: pump.Filling, Epoch: 1, Deadline: start.Add(time.Hour)}, []moment{
		{0, event{On: pump.Filled, Epoch: 1, Next: 2}, pump.Draining, 2, true, ""},
		{0, event{On: pump.Filled, Epoch: 1, Next: 3}, pump.Draining, 2, true, ""},
		{0, event{On: pump.Failed, Epoch: 1}, pump.Draining, 2, true, "CONFLICT"},
		{0, event{On: pump.Drained, Epoch: 2}, pump.Serving, 2, false, ""},
		{0, event{On: pump.Filled, Epoch: 1, Next: 3}, pump.Serving, 2, false, ""},
		{0, event{On: pump.Drained, Epoch: 2}, pump.Serving, 2, false, ""},
		{0, event{On: pump.Scrap}, pump.Broken, 2, false, ""},
		{0, event{On: pump.Filled, Epoch: 1, Next: 3}, pump.Broken, 2, false, "INVALID_STATE"},
	})
}

// A record that begins again remembers nothing of the life before.
func TestLostAnswerAcrossLives(t *testing.T) {
	live(t, at{State: pump.Filling, Epoch: 1, Deadline: start.Add(time.Hour)}, []moment{
		{0, event{On: pump.Failed, Epoch: 1}, pump.Idle, 1, false, ""},
		{0, event{On: pump.Remove}, pump.None, 0, false, ""},
		{0, event{On: pump.Failed, Epoch: 1}, pump.None, 0, false, "INVALID_STATE"},
		{0, event{On: pump.Install}, pump.Idle, 0, false, ""},
		{0, event{On: pump.Fill, Next: 2}, pump.Filling, 2, true, ""},
		{0, event{On: pump.Failed, Epoch: 1}, pump.Filling, 2, true, "CONFLICT"},
	})
}

// An attempt was given up, and its agent comes back late. Whoever reports
// what was decided anyway succeeds; whoever reports otherwise does not.
func TestLateAgent(t *testing.T) {
	live(t, at{State: pump.Filling, Epoch: 11, Deadline: start.Add(time.Minute)}, []moment{
		{time.Minute - 1, event{On: pump.Timeout}, pump.Filling, 11, true, "CONFLICT"},
		{1, event{On: pump.Timeout}, pump.Idle, 11, false, ""},
		{time.Second, event{On: pump.Failed, Epoch: 11}, pump.Idle, 11, false, ""},
		{time.Second, event{On: pump.Filled, Epoch: 11, Next: 12}, pump.Idle, 11, false, "INVALID_STATE"},
		{time.Second, event{On: pump.Timeout}, pump.Idle, 11, false, "CONFLICT"},
		{time.Second, event{On: pump.Scrap}, pump.Broken, 11, false, ""},
		{time.Second, event{On: pump.Failed, Epoch: 11}, pump.Broken, 11, false, "INVALID_STATE"},
	})
}

// Two orders race. The second finds the attempt of the first, and leaves it.
func TestRacingOrders(t *testing.T) {
	live(t, at{State: pump.Idle}, []moment{
		{0, event{On: pump.Fill, Next: 5}, pump.Filling, 5, true, ""},
		{0, event{On: pump.Fill, Next: 6}, pump.Filling, 5, true, "INVALID_STATE"},
		{0, event{On: pump.Scrap}, pump.Filling, 5, true, "INVALID_STATE"},
		{0, event{On: pump.Stop}, pump.Idle, 5, false, ""},
		{0, event{On: pump.Stop}, pump.Idle, 5, false, ""},
		{0, event{On: pump.Fill, Next: 5}, pump.Idle, 5, false, "INVALID_INPUT"},
		{0, event{On: pump.Fill, Next: 6}, pump.Filling, 6, true, ""},
	})
}

// What a store keeps of an attempt decides as the attempt itself does.
func TestAttemptSurvivesAStore(t *testing.T) {
	table := pump.Table()
	for _, was := range []at{idle, filling, draining, flushing, failed, {State: pump.Filling, Epoch: 3}} {
		raw, err := json.Marshal(was)
		if err != nil {
			t.Fatal(err)
		}
		var is at
		if err := json.Unmarshal(raw, &is); err != nil {
			t.Fatal(err)
		}
		for on := range table.Events() {
			for _, epoch := range []uint64{was.Epoch, was.Before.Epoch} {
				ev := event{On: on, Epoch: epoch, Next: was.Epoch + 1}
				a, aerr := table.Step(was, ev, pump.Wet, start.Add(pump.FillTime))
				b, berr := table.Step(is, ev, pump.Wet, start.Add(pump.FillTime))
				same := a.Deadline.Equal(b.Deadline)
				if a.Deadline = b.Deadline; !same || a != b || codeOf(aerr) != codeOf(berr) {
					t.Errorf("%s in %s: %+v, %v; after a store %+v, %v", on, was.State, a, aerr, b, berr)
				}
			}
		}
	}
}

// The laws of every table hold for drawn ones, and each of their rows can be
// taken.
func TestDrawnTablesKeepTheLaws(t *testing.T) {
	spec := rapid.Custom(draw)
	for seed := range 10 {
		table := statemachine.Must(spec.Example(seed))
		statemachinetest.Machine(t, statemachinetest.Bare(table)).Require(t)
	}
}
