package statemachine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

// question is one call, with names that do not share the constants' memory:
// a store hands out such names.
type question struct {
	at    statemachine.At[pump.State, pump.On]
	ev    statemachine.Event[pump.On]
	holds statemachine.Guard
}

func ask(from pump.State, epoch uint64, on pump.On, holds statemachine.Guard) question {
	return question{
		at:    statemachine.At[pump.State, pump.On]{State: pump.State(strings.Clone(string(from))), Epoch: 7, Deadline: time.Unix(100, 0)},
		ev:    statemachine.Event[pump.On]{On: pump.On(strings.Clone(string(on))), Epoch: epoch, Next: 8},
		holds: holds,
	}
}

// questions mixes moves, stays, refusals, guarded cells and late reports.
func questions() []question {
	return []question{
		ask(pump.None, 0, pump.Install, pump.Dry),
		ask(pump.Idle, 0, pump.Fill, pump.Dry|pump.Primed),
		ask(pump.Idle, 0, pump.Fill, pump.Dry),
		ask(pump.Idle, 0, pump.Fill, pump.Wet),
		ask(pump.Filling, 7, pump.Filled, pump.Wet),
		ask(pump.Draining, 7, pump.Drained, pump.Wet),
		ask(pump.Draining, 6, pump.Failed, pump.Wet),
		ask(pump.Serving, 0, pump.Flush, pump.Wet),
	}
}

func BenchmarkNext(b *testing.B) {
	table, qs, n := pump.Table(), questions(), 0
	b.ReportAllocs()
	for b.Loop() {
		q := &qs[n&7]
		n++
		table.Next(q.at.State, q.ev.On, q.holds)
	}
}

func BenchmarkStep(b *testing.B) {
	table, qs, now, n := pump.Table(), questions(), time.Unix(50, 0), 0
	b.ReportAllocs()
	for b.Loop() {
		q := &qs[n&7]
		n++
		table.Step(q.at, q.ev, q.holds, now)
	}
}
