package liveness_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/liveness"
	"pgregory.net/rapid"
)

const (
	gatewayGrace = 2 * time.Minute
	outageGrace  = 5 * time.Minute
	graceMax     = 15 * time.Minute
	theLease     = 40 * time.Second
)

func TestOnlyAnOutageLongerThan20sEarnsGrace(t *testing.T) {
	for away, want := range map[time.Duration]liveness.Instant{
		0:                        liveness.Never,
		20 * time.Second:         liveness.Never,
		20*time.Second + 1:       sec(400),
		24 * time.Hour:           sec(400),
		time.Duration(1<<63 - 1): sec(400), // a controller that cannot tell
	} {
		var g liveness.Graces
		g.Away(liveness.Windows{}, away, sec(100))
		if got := g.Until("gw-1"); got != want {
			t.Errorf("away for %s: until %d, want %d", away, got, want)
		}
	}
}

func TestGatewayGraceIsItsOwn(t *testing.T) {
	var g liveness.Graces
	g.GatewayLost(liveness.Windows{}, "gw-1", sec(100))
	g.GatewayLost(liveness.Windows{}, "", sec(100))
	for gateway, want := range map[string]liveness.Instant{"gw-1": sec(220), "gw-2": liveness.Never, "": liveness.Never} {
		if got := g.Until(gateway); got != want {
			t.Errorf("%q: until %d, want %d", gateway, got, want)
		}
	}
}

func TestGracesCombineByTheLongest(t *testing.T) {
	var g liveness.Graces
	var w liveness.Windows
	g.Away(w, time.Minute, sec(0))     // until 300
	g.GatewayLost(w, "gw-1", sec(100)) // until 220
	g.GatewayLost(w, "gw-2", sec(250)) // until 370
	for gateway, want := range map[string]liveness.Instant{"gw-1": sec(300), "gw-2": sec(370), "gw-3": sec(300)} {
		if got := g.Until(gateway); got != want {
			t.Errorf("%s: until %d, want %d", gateway, got, want)
		}
	}
}

func TestAShorterGraceShortensNone(t *testing.T) {
	var g liveness.Graces
	var w liveness.Windows
	g.Away(w, time.Minute, sec(0))
	g.Tick(w, sec(10), sec(25)) // a void, which ends with itself
	if got := g.Until(""); got != sec(300) {
		t.Errorf("until %d, want %d", got, sec(300))
	}
}

// A void earns no time after it, and still costs its own length.
func TestVoidsUseUpTheBoundToo(t *testing.T) {
	var g liveness.Graces
	for n := range 61 { // the first costs nothing, 60 more of 15 s cost 15 min
		if now := sec(float64(n * 15)); g.Bounded(now) {
			t.Fatalf("bounded after %d", n)
		}
		g.Tick(liveness.Windows{}, sec(float64(n*15)), sec(float64(n*15+15)))
	}
	if !g.Bounded(sec(61 * 15)) {
		t.Error("the last void earned nothing, and nobody says so")
	}
}

func TestNilGracesAreNone(t *testing.T) {
	var g *liveness.Graces
	if g.Until("gw-1") != liveness.Never || g.Bounded(sec(0)) {
		t.Error("nil graces hold something")
	}
}

// L3: a gap in the observer's own ticks.
func TestTick(t *testing.T) {
	tests := []struct {
		name          string
		previous, now liveness.Instant
		gap           time.Duration
		until         liveness.Instant
	}{
		{"the first sweep", liveness.Never, sec(100), 0, liveness.Never},
		{"on time", sec(95), sec(100), 0, liveness.Never},
		{"late, no tick missing", sec(90), sec(100), 0, liveness.Never},
		{"a tick is missing", sec(89.9), sec(100), 10100 * time.Millisecond, sec(100)},
		{"as long as an outage may be", sec(80), sec(100), 20 * time.Second, sec(100)},
		{"longer: the controller was away", sec(79), sec(100), 21 * time.Second, sec(400)},
		{"ticks out of order", sec(100), sec(95), 0, liveness.Never},
	}
	for _, tt := range tests {
		var g liveness.Graces
		if gap := g.Tick(liveness.Windows{}, tt.previous, tt.now); gap != tt.gap {
			t.Errorf("%s: a suspension of %s, want %s", tt.name, gap, tt.gap)
		}
		if got := g.Until(""); got != tt.until {
			t.Errorf("%s: until %d, want %d", tt.name, got, tt.until)
		}
	}
}

// L11: every kind of fault that never ends is bounded, and says so: a node that
// died before them is found unreachable in the end.
func TestEndlessFaultsAreBounded(t *testing.T) {
	tests := []struct {
		name     string
		up, away time.Duration
		gateway  bool
	}{
		{"a controller that crashes each minute", 30 * time.Second, 30 * time.Second, false},
		{"one that is up for its grace and no longer", outageGrace, 30 * time.Second, false},
		{"one that hardly ever runs", time.Second, time.Hour, false},
		{"one that never runs between its ticks", 0, 25 * time.Second, false},
		{"an observer that is always late", 0, 11 * time.Second, false},
		{"a gateway that flaps", 50 * time.Second, 0, true},
	}
	for _, tt := range tests {
		var g liveness.Graces
		var w liveness.Windows
		now, verdict := sec(0), liveness.Connected
		for n := 0; verdict != liveness.Unreachable; n++ {
			if n == 1000 {
				t.Errorf("%s: never judged", tt.name)
				break
			}
			back := now.Add(tt.away)
			if tt.gateway {
				g.GatewayLost(w, "gw-1", back)
			} else {
				g.Tick(w, now, back)
			}
			now = back.Add(tt.up)
			verdict = w.Judge(liveness.Observation{State: verdict, Disconnected: sec(0), Gateway: "gw-1"}, &g, now)
		}
		if !g.Bounded(now) {
			t.Errorf("%s: not reported", tt.name)
		}
	}
}

func TestABoundEndsWithItsChain(t *testing.T) {
	var g liveness.Graces
	var w liveness.Windows
	now := sec(0)
	for range 100 {
		now = now.Add(time.Minute)
		g.Away(w, 30*time.Second, now)
	}
	if !g.Bounded(now) || g.Until("") > now {
		t.Fatalf("100 crashes in 100 min are not bounded")
	}
	end := g.Until("")
	now = now.Add(time.Minute)
	if g.Away(w, 30*time.Second, now); g.Until("") != end {
		t.Error("a chain that has used up its graces earned another")
	}
	quiet := now.Add(outageGrace + theLease + 1)
	if g.Bounded(quiet) {
		t.Error("still reported when the chain is over")
	}
	g.Away(w, 21*time.Second, quiet.Add(21*time.Second))
	if got := g.Until("").Sub(quiet.Add(21 * time.Second)); got != outageGrace {
		t.Errorf("the next outage earns %s", got)
	}
}

func TestOneLongOutageCostsNoMoreThanAShortOne(t *testing.T) {
	var g liveness.Graces
	var w liveness.Windows
	g.Away(w, time.Minute, sec(0))
	g.Away(w, 2*time.Hour, sec(7210)) // began 10 s after the first ended
	if got := g.Until(""); got != sec(7510) {
		t.Errorf("until %d, want the whole 5 min", got)
	}
}

// L8, L9, L10: while no chain reaches its bound, the end of a grace is the
// latest of those that each fault earned alone.
func TestGracesAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g liveness.Graces
		var w liveness.Windows
		now := sec(0)
		site, own := liveness.Never, map[string]liveness.Instant{}
		for range rapid.IntRange(1, 2).Draw(t, "faults") { // two never reach the bound
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "pass")) * time.Second)
			if gw := rapid.SampledFrom(gateways).Draw(t, "lost"); gw != "" {
				g.GatewayLost(w, gw, now)
				own[gw] = max(own[gw], now.Add(gatewayGrace))
				continue
			}
			away := time.Duration(rapid.IntRange(0, 60).Draw(t, "away")) * time.Second
			g.Away(w, away, now)
			if away > 20*time.Second {
				site = max(site, now.Add(outageGrace))
			}
		}
		for _, gw := range gateways {
			got, want := g.Until(gw), max(site, own[gw])
			if got != want && !(got < now && want < now) { // a grace that is over may be forgotten
				t.Fatalf("%q: until %d, want %d", gw, got, want)
			}
		}
	})
}

// L10, L11 over any series of outages: no fault shortens a grace, and what runs
// of a chain's graces while the controller is up stays within the bound.
func TestChainsStayWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g liveness.Graces
		var w liveness.Windows
		var ran time.Duration
		back, last := sec(0), liveness.Never
		for range rapid.IntRange(1, 60).Draw(t, "outages") {
			up := time.Duration(rapid.IntRange(0, 339).Draw(t, "up")) * time.Second // never lets a chain end
			away := time.Duration(rapid.IntRange(21, 600).Draw(t, "away")) * time.Second
			from := back.Add(up)
			if last != liveness.Never {
				ran += max(0, min(from, last).Sub(back))
			}
			back = from.Add(away)
			g.Away(w, away, back)
			if g.Until("") < last {
				t.Fatal("a fault shortened a grace")
			}
			last = g.Until("")
			if left := last.Sub(back); left > outageGrace {
				t.Fatalf("one outage earned %s", left)
			}
			if total := ran + max(0, last.Sub(back)); total > graceMax {
				t.Fatalf("the chain earned %s", total)
			}
		}
	})
}

// The same losses, with the controller's memory carried over a restart and onto
// another clock before each, give the same graces.
func TestGracesSurviveRestarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kept, carried := &liveness.Graces{}, &liveness.Graces{}
		var w liveness.Windows
		kept.Away(w, time.Minute, sec(0))
		carried.Away(w, time.Minute, sec(0))
		now, clock := sec(0), sec(0)
		for range rapid.IntRange(1, 60).Draw(t, "losses") {
			pass := time.Duration(rapid.IntRange(0, 60).Draw(t, "pass")) * time.Second
			now, clock = now.Add(pass), clock.Add(pass)
			next := sec(float64(rapid.IntRange(0, 9999).Draw(t, "clock")))
			carried, clock = liveness.RestoreGraces(carried.Rows(clock), next), next
			gw := rapid.SampledFrom(gateways).Draw(t, "lost")
			kept.GatewayLost(w, gw, now)
			carried.GatewayLost(w, gw, clock)
			if kept.Bounded(now) != carried.Bounded(clock) {
				t.Fatalf("bounded: %t, after a restart %t", kept.Bounded(now), carried.Bounded(clock))
			}
			for _, gw := range gateways {
				a, b := kept.Until(gw).Sub(now), carried.Until(gw).Sub(clock)
				if max(0, a) != max(0, b) {
					t.Fatalf("%q: %s left, after a restart %s", gw, a, b)
				}
			}
		}
	})
}

func TestRowsOfTheSiteComeFirst(t *testing.T) {
	var g liveness.Graces
	var w liveness.Windows
	g.GatewayLost(w, "gw-2", sec(100))
	g.GatewayLost(w, "gw-1", sec(100))
	g.Away(w, time.Minute, sec(100))
	var names []string
	for _, r := range g.Rows(sec(250)) { // the gateways' graces are over, their chains are not
		names = append(names, r.Gateway)
	}
	if want := []string{"", "gw-1", "gw-2"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if rows := g.Rows(sec(1000)); len(rows) != 0 {
		t.Errorf("chains that are over are stored: %+v", rows)
	}
}

func ExampleGraces_Rows() {
	var g liveness.Graces
	g.Away(liveness.Windows{}, time.Minute, liveness.At(0))
	for _, r := range g.Rows(liveness.At(time.Minute)) {
		fmt.Printf("%q: %s left, %s used\n", r.Gateway, r.Left, r.Used)
	}
	// Output: "": 4m0s left, 1m0s used
}
