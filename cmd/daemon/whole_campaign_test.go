package daemon_test

import (
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// Everything together, from the first DISCOVER on, keeps every promise whatever fails,
// and goes the same way twice.
func TestWhole(t *testing.T) {
	all := map[simnet.Kind]int{}
	first, n := seeds(t, 2)
	for seed := first; seed < first+n; seed++ {
		l := runWhole(t, seed, wrong{}, everyEvent)
		for _, b := range l.broken {
			t.Errorf("seed %d: %s", seed, b)
		}
		for k, v := range l.faults {
			all[k] += v
		}
		again(t, seed, l)
	}
	t.Logf("%d seeds, each twice; on the net happened %v", n, all)
	for _, k := range []simnet.Kind{simnet.Kill, simnet.Reset, simnet.Cut, simnet.Hold} {
		if all[k] == 0 {
			t.Errorf("no %s happened: the campaign proves nothing of it", k)
		}
	}
}

// again lives through a seed once more, and holds it against the first life. Where a
// request is given up just as its answer comes, as the booter's feed is when somebody is
// in haste, net/http leaves it to chance which of the two it was: in one of some fifty
// lives. So one life in three may go another way, and the test says where.
func again(t *testing.T, seed uint64, first life) {
	second := runWhole(t, seed, wrong{}, everyEvent)
	if second.trace == first.trace {
		return
	}
	t.Logf("seed %d went two ways: %x and %x; %s", seed, first.trace[:4], second.trace[:4], parting(instants(first.log), instants(second.log)))
	if third := runWhole(t, seed, wrong{}, everyEvent); third.trace != first.trace && third.trace != second.trace {
		t.Errorf("seed %d went three ways; %s", seed, parting(instants(second.log), instants(third.log)))
	}
}

// Faults that are planted are found by some seed.
func TestWholeFindsPlantedFaults(t *testing.T) {
	for _, w := range []wrong{
		{plant: plant{name: "an agent draws the key of its life before again"}, sameKey: true},
		{plant: plant{"the sweeper is blind", func(s store.Store) store.Store { return hides{s, "due/"} }}},
	} {
		t.Run(w.name, func(t *testing.T) {
			first, n := seeds(t, 10)
			for i := range n {
				seed := first + (i+5)%n // the sixth finds them
				if l := runWhole(t, seed, w, 1); len(l.broken) > 0 {
					t.Logf("seed %d: %.300s", seed, strings.Join(l.broken, "; "))
					return
				}
			}
			t.Error("no seed finds it")
		})
	}
}

// instants is a log without the sizes, which are not in the trace: those of signatures
// are chance.
func instants(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		b.WriteString(line[:max(0, strings.LastIndexByte(line, ' '))] + "\n")
	}
	return b.String()
}
