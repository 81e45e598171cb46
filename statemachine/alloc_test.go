package statemachine_test

import (
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

// Deciding allocates nothing, whether it moves, stays or refuses, with names
// from anywhere.
func TestNoAllocations(t *testing.T) {
	table, now := pump.Table(), time.Unix(50, 0)
	qs := append(questions(),
		ask(pump.Filling, 0, pump.Timeout, pump.Wet), // too early
		ask(pump.Idle, 0, pump.Drained, pump.Wet),    // refused
	)
	for _, q := range qs {
		if n := testing.AllocsPerRun(100, func() { table.Next(q.at.State, q.ev.On, q.holds) }); n != 0 {
			t.Errorf("Next(%s, %s): %v allocations", q.at.State, q.ev.On, n)
		}
		if n := testing.AllocsPerRun(100, func() { table.Step(q.at, q.ev, q.holds, now) }); n != 0 {
			t.Errorf("Step(%s, %s): %v allocations", q.at.State, q.ev.On, n)
		}
		if n := testing.AllocsPerRun(100, func() { table.Due(q.at) }); n != 0 {
			t.Errorf("Due(%s): %v allocations", q.at.State, n)
		}
	}
}
