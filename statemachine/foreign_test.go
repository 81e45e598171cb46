package statemachine_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

// Records and events come from stores and wires. Whatever they say, a step
// either leads to a state of the table or changes nothing.
func FuzzStep(f *testing.F) {
	f.Add("idle", "fill", "", "", uint64(0), uint64(0), uint64(0), uint64(1), int64(0), int64(0), uint32(3))
	f.Add("filling", "filled", "", "", uint64(1), uint64(0), uint64(1), uint64(2), int64(600), int64(0), uint32(2))
	f.Add("draining", "filled", "", "filled", uint64(2), uint64(1), uint64(1), uint64(3), int64(600), int64(0), uint32(2))
	f.Add("broken", "filled", "", "filled", uint64(2), uint64(1), uint64(1), uint64(3), int64(0), int64(0), uint32(2))
	f.Add("idle", "fill", "failed", "filled", uint64(2), uint64(3), uint64(0), uint64(3), int64(0), int64(0), uint32(2))
	f.Add("serving", "drained", "drained", "", uint64(2), uint64(0), uint64(2), uint64(0), int64(0), int64(0), uint32(4))
	f.Add("", "", "", "", uint64(0), uint64(0), uint64(0), uint64(0), int64(0), int64(-1), uint32(0))
	f.Add("filling\x00", "timeout", "x", "y", uint64(9), uint64(9), uint64(9), uint64(9), int64(-9), int64(9), uint32(1<<31))
	table := pump.Table()
	f.Fuzz(func(t *testing.T, state, on, ended, by string, epoch, before, reported, next uint64, deadline, within int64, holds uint32) {
		was := at{State: pump.State(state), Epoch: epoch, Ended: pump.On(ended), Before: decided{before, pump.On(by)}}
		if deadline != 0 {
			was.Deadline = start.Add(time.Duration(deadline))
		}
		ev := event{On: pump.On(on), Epoch: reported, Next: next, Within: time.Duration(within)}
		is, err := table.Step(was, ev, statemachine.Guard(holds), start)
		switch {
		case err != nil && (is != was || codeOf(err) == ""):
			t.Errorf("refused with %v, and now %+v", err, is)
		case err == nil && !table.Knows(is.State):
			t.Errorf("it leads to %q", is.State)
		case err == nil && is.Epoch < was.Epoch && is.State != pump.None:
			t.Errorf("epoch %d after %d", is.Epoch, was.Epoch)
		case table.Repeats(was, ev) && (err != nil || is != was):
			t.Errorf("a repeat had an effect: %+v, %v", is, err)
		case err == nil && is.Before != was.Before && is.Before != decided{} && (is.Before.Epoch != was.Epoch || is.Epoch == was.Epoch):
			t.Errorf("%+v remembers %+v", is, is.Before)
		}
	})
}

// Names of a newer version survive every event that this one knows.
func TestUnknownStatesSurvive(t *testing.T) {
	table := pump.Table()
	for _, state := range []pump.State{"", "Idle", "idle ", "idl", "filling2", "\xff"} {
		for on := range table.Events() {
			was := at{State: state, Epoch: 3, Deadline: start, Ended: on}
			if is, err := table.Step(was, event{On: on, Epoch: 3, Next: 4}, pump.Wet, start.Add(time.Hour)); is != was || codeOf(err) != "INVALID_STATE" {
				t.Errorf("%q, %s: %+v, %v", state, on, is, err)
			}
			if next, err := table.Next(state, on, pump.Wet); next != state || codeOf(err) != "INVALID_STATE" {
				t.Errorf("%q, %s: %q, %v", state, on, next, err)
			}
		}
	}
}

// One table serves many at once, and its refusals are the same for all.
func TestConcurrentUse(t *testing.T) {
	table := pump.Table()
	want, _ := table.Next(pump.Idle, pump.Drained, pump.Wet)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				got, err := table.Next(pump.Idle, pump.Drained, pump.Wet)
				if got != want || codeOf(err) != "INVALID_STATE" || !slices.Equal(table.Legal(pump.Broken), []string{"install", "stop", "scrap", "remove"}) {
					t.Errorf("%s, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}
