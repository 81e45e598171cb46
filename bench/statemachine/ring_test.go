package statemachine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/looplab/fsm"
	"github.com/qmuntal/stateless"

	"github.com/ingotmetal/ingot/statemachine"
)

// The ring: off, starting, on and stopping, each left by one event of its own.
// "start" needs the guard "armed". Every other pair is refused.
var (
	states = []string{"off", "starting", "on", "stopping"}
	events = []string{"start", "started", "stop", "stopped"}
)

const armed statemachine.Guard = 1

func ring() *statemachine.Table[string, string] {
	s := statemachine.Spec[string, string]{Name: "ring", Start: states[:1], Guards: []string{"armed"}}
	for i, name := range states {
		s.States = append(s.States, statemachine.State[string, string]{Name: name, Kind: statemachine.Stable})
		move := statemachine.Rule[string, string]{On: events[i], From: []string{name}, To: states[(i+1)%len(states)]}
		if i == 0 {
			move.When.If = armed
			refuse := statemachine.Rule[string, string]{On: events[i], From: []string{name}, Refuse: statemachine.Conflict, Why: "it is not armed"}
			refuse.When.Not = armed
			s.Rules = append(s.Rules, refuse)
		}
		s.Rules = append(s.Rules, move, statemachine.Rule[string, string]{On: events[i], Refuse: statemachine.InvalidState, Why: "not from here"})
	}
	return statemachine.Must(s)
}

// looplab has no guards: a callback before the event cancels it.
func looplab(isArmed *bool) *fsm.FSM {
	var desc fsm.Events
	for i, name := range states {
		desc = append(desc, fsm.EventDesc{Name: events[i], Src: []string{name}, Dst: states[(i+1)%len(states)]})
	}
	return fsm.NewFSM(states[0], desc, fsm.Callbacks{"before_start": func(_ context.Context, e *fsm.Event) {
		if !*isArmed {
			e.Cancel()
		}
	}})
}

func qmuntal(isArmed *bool) *stateless.StateMachine {
	m := stateless.NewStateMachine(states[0])
	for i, name := range states {
		to := states[(i+1)%len(states)]
		if i == 0 {
			m.Configure(name).Permit(events[i], to, func(context.Context, ...any) bool { return *isArmed })
			continue
		}
		m.Configure(name).Permit(events[i], to)
	}
	return m
}

// Every pair, armed and not, comes to the same on all sides.
func TestParity(t *testing.T) {
	table, ctx := ring(), context.Background()
	for _, isArmed := range []bool{false, true} {
		for i, from := range states {
			for _, on := range events {
				var holds statemachine.Guard
				if isArmed {
					holds = armed
				}
				want, err := table.Next(from, on, holds)

				looplab := looplab(&isArmed)
				looplab.SetState(from)
				lerr := looplab.Event(ctx, on)
				if looplab.Current() != want || (lerr == nil) != (err == nil) {
					t.Errorf("%s, %s, %v: ingot %s, %v; looplab %s, %v", from, on, isArmed, want, err, looplab.Current(), lerr)
				}

				got, qerr := fire(t, i, on, isArmed)
				if got != want || (qerr == nil) != (err == nil) {
					t.Errorf("%s, %s, %v: ingot %s, %v; stateless %s, %v", from, on, isArmed, want, err, got, qerr)
				}
			}
		}
	}
}

// fire leads a stateless machine to the i-th state and fires on there.
func fire(t *testing.T, i int, on string, isArmed bool) (any, error) {
	t.Helper()
	lead := true
	m := qmuntal(&lead)
	for _, e := range events[:i] {
		if err := m.Fire(e); err != nil {
			t.Fatal(err)
		}
	}
	lead = isArmed
	err := m.Fire(on)
	return m.MustState(), err
}

// stored are names as a store hands them out: equal to the constants, in other
// memory.
func stored(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.Clone(name)
	}
	return out
}

// BenchmarkNext goes round the ring, one event an operation.
func BenchmarkNext(b *testing.B) {
	on := stored(events)
	b.Run("ingot", func(b *testing.B) {
		table, at, n := ring(), strings.Clone("off"), 0
		b.ReportAllocs()
		for b.Loop() {
			next, err := table.Next(at, on[n&3], armed)
			if err != nil {
				b.Fatal(err)
			}
			at, n = next, n+1
		}
	})
	b.Run("looplab", func(b *testing.B) {
		isArmed, ctx, n := true, context.Background(), 0
		m := looplab(&isArmed)
		b.ReportAllocs()
		for b.Loop() {
			if err := m.Event(ctx, on[n&3]); err != nil {
				b.Fatal(err)
			}
			n++
		}
	})
	b.Run("stateless", func(b *testing.B) {
		isArmed, n := true, 0
		m := qmuntal(&isArmed)
		b.ReportAllocs()
		for b.Loop() {
			if err := m.Fire(on[n&3]); err != nil {
				b.Fatal(err)
			}
			n++
		}
	})
}

// BenchmarkStep does the same with ingot's attempts, which peers do not have.
func BenchmarkStep(b *testing.B) {
	on := stored(events)
	b.Run("ingot", func(b *testing.B) {
		table, n, now := ring(), 0, time.Unix(0, 0)
		at := statemachine.At[string, string]{State: strings.Clone("off")}
		b.ReportAllocs()
		for b.Loop() {
			next, err := table.Step(at, statemachine.Event[string]{On: on[n&3]}, armed, now)
			if err != nil {
				b.Fatal(err)
			}
			at, n = next, n+1
		}
	})
}
