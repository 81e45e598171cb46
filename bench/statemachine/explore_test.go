package statemachine_test

import (
	"iter"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/explore"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// ask is one question to the provision table: an event under a valuation of
// the guards, with the newest epoch or the one before.
type ask struct {
	on    provision.Kind
	holds sm.Guard
	late  bool
}

// stand is what decides a machine's future: epochs as open or decided, times
// as none or later.
type stand struct {
	state provision.State
	ended provision.Kind
	by    provision.Kind
	open  bool
}

// provisionModel walks the provision axis by its table's own Step, under every
// valuation of every cell's guards.
func provisionModel() explore.Model[provision.At, ask, stand] {
	now := time.Unix(1_000_000, 0)
	asks := map[provision.State][]ask{}
	for st := range provision.Table.States() {
		for on := range provision.Table.Events() {
			for g := range provision.Table.Valuations(st.Name, on) {
				asks[st.Name] = append(asks[st.Name], ask{on, g, false}, ask{on, g, true})
			}
		}
	}
	return explore.Model[provision.At, ask, stand]{
		Name:  "provision",
		Start: []provision.At{{State: provision.Absent}},
		Inputs: func(at provision.At) iter.Seq[ask] {
			return func(yield func(ask) bool) {
				for _, a := range asks[at.State] {
					if !yield(a) {
						return
					}
				}
			}
		},
		Step: func(at provision.At, a ask) (provision.At, error) {
			ev := sm.Event[provision.Kind]{On: a.on, Epoch: at.Epoch, Next: at.Epoch + 1}
			if a.late {
				ev.Epoch = at.Before.Epoch
			}
			if a.on == provision.Expired {
				return provision.Table.Step(at, ev, a.holds, now.Add(sm.MaxDeadline))
			}
			return provision.Table.Step(at, ev, a.holds, now)
		},
		Key: func(at provision.At) stand {
			return stand{at.State, at.Ended, at.Before.By, provision.Table.Open(at)}
		},
	}
}

// BenchmarkExplore reports the transitions a second of the model checker over
// a machine's table Step.
func BenchmarkExplore(b *testing.B) {
	b.ReportAllocs()
	m, steps := provisionModel(), 0
	for b.Loop() {
		r, err := explore.Run(m, explore.Limits{})
		if err != nil || !r.Closed {
			b.Fatal(r, err)
		}
		steps = r.Steps
	}
	perOp := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(float64(steps)/perOp*1e3, "Mtransitions/s")
	b.ReportMetric(float64(steps), "transitions")
}
