package placement_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/placement"
	"pgregory.net/rapid"
)

func TestAllocationByHand(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name              string
		in                placement.Allocation
		open, live, holds bool
	}{
		{"without an end", placement.Allocation{Agent: placement.Stopped}, true, true, true},
		{"before its end", placement.Allocation{End: now.Add(1), Agent: placement.Stopped}, true, true, true},
		{"at its end", placement.Allocation{End: now, Agent: placement.Stopped}, true, false, false},
		{"overdue and running", placement.Allocation{End: now.Add(-1), Agent: placement.Running}, true, false, true},
		{"overdue, node away", placement.Allocation{End: now.Add(-1)}, true, false, true},
		{"overdue, of a newer version", placement.Allocation{End: now.Add(-1), Agent: 9}, true, false, true},
		{"released before its end", placement.Allocation{End: now.Add(1), Released: true, Agent: placement.Running}, false, false, false},
		{"released", placement.Allocation{Released: true}, false, false, false},
	} {
		if got := c.in.Open(); got != c.open {
			t.Errorf("%s: open %t", c.name, got)
		}
		if got := c.in.Live(now); got != c.live {
			t.Errorf("%s: live %t", c.name, got)
		}
		if got := c.in.HoldsDrain(now); got != c.holds {
			t.Errorf("%s: holds the drain %t", c.name, got)
		}
	}
}

// A drain never ends over live work, never sleeps past an end or five minutes,
// and always moves time forward, so it never spins.
func TestDrainWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(100_000, 0)
		all := rapid.SliceOf(rapid.Custom(func(t *rapid.T) placement.Allocation {
			a := placement.Allocation{Released: rapid.Bool().Draw(t, "released"), Agent: placement.Sight(rapid.IntRange(0, 2).Draw(t, "agent"))}
			if rapid.Bool().Draw(t, "ends") {
				a.End = now.Add(time.Duration(rapid.IntRange(-900, 900).Draw(t, "end")) * time.Second)
			}
			return a
		})).Draw(t, "allocations")
		left, again := placement.DrainWait(slices.Values(all), now)
		var holding int
		for _, a := range all {
			if a.Live(now) && !a.HoldsDrain(now) || a.HoldsDrain(now) && !a.Open() {
				t.Fatalf("live, holding, open do not follow: %+v", a)
			}
			if a.HoldsDrain(now) {
				holding++
			}
			if a.Live(now) && !a.End.IsZero() && again.After(a.End) {
				t.Fatalf("sleeps until %v, past %v", again, a.End)
			}
		}
		switch {
		case left != holding:
			t.Fatalf("waits for %d, want %d", left, holding)
		case left == 0 && !again.IsZero():
			t.Fatal("done, and yet looks again")
		case left > 0 && (!again.After(now) || again.After(now.Add(placement.Recheck))):
			t.Fatalf("looks again after %v", again.Sub(now))
		}
	})
}
