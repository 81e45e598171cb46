package liveness_test

import (
	"testing"
	"time"

	"github.com/ingotmetal/ingot/liveness"
	"pgregory.net/rapid"
)

const (
	c = liveness.Connected
	d = liveness.Disconnected
	u = liveness.Unreachable
	l = liveness.Lost
)

// Each row is one node at second 1000, by LIVE-6.
func TestJudge(t *testing.T) {
	const never = liveness.Never
	now := sec(1000)
	ago := func(s float64) liveness.Instant { return sec(1000 - s) }
	provider := &liveness.Pool{Kind: liveness.Provider, LostAfter: time.Minute}
	host := &liveness.Pool{Kind: liveness.VPSHost, LostAfter: time.Minute}
	metal := &liveness.Pool{Kind: "metal", LostAfter: time.Minute}
	type o = liveness.Observation
	tests := []struct {
		name string
		o    o
		want liveness.State
	}{
		{"never had certificate or session", o{}, d},
		{"whatever was recorded of it", o{State: u, Pool: provider, Since: ago(900)}, d},
		{"joined 40 s ago, first hello still queued (L13)", o{Issued: ago(40)}, d},
		{"joined longer ago than that", o{Issued: ago(40.1)}, u},
		{"a live session", o{State: d, Open: true, Connected: ago(90), Flushed: ago(5)}, c},
		{"its first flush is yet to come", o{State: d, Open: true, Connected: ago(12)}, c},
		{"last beat a lease ago", o{State: c, Open: true, Flushed: ago(40)}, c},
		{"a socket nobody beats on", o{State: c, Open: true, Flushed: ago(41)}, u},
		{"its gateway has not reported since (L12)", o{State: c, Open: true, Flushed: ago(90), AsOf: ago(60)}, c},
		{"it was silent when its gateway last reported", o{State: c, Open: true, Flushed: ago(90), AsOf: ago(49)}, u},
		{"a report from the future is of now", o{State: c, Open: true, Flushed: ago(40), AsOf: sec(2000)}, c},
		{"no gateway answers for a session that ended", o{State: c, Disconnected: ago(41), AsOf: ago(41)}, u},
		{"session over", o{State: c, Flushed: ago(7), Disconnected: ago(3)}, d},
		{"over for a lease", o{State: d, Flushed: ago(50), Disconnected: ago(40)}, d},
		{"over for longer", o{State: d, Flushed: ago(50), Disconnected: ago(40.1)}, u},
		{"seen again, then gone again, all between two sweeps", o{State: u, Since: ago(500), Disconnected: ago(10)}, d},
		{"a new session after unreachable", o{State: u, Open: true, Connected: ago(1)}, c},
		{"a new session after lost", o{State: l, Open: true, Connected: ago(1), Pool: host}, c},
		{"a new session beside an old session's flush", o{State: u, Open: true, Connected: ago(1), Flushed: ago(900)}, c},
		{"unreachable and still so", o{State: u, Since: ago(50), Disconnected: ago(90)}, u},
		{"unreachable for as long as its pool waits", o{State: u, Since: ago(60), Disconnected: ago(100), Pool: provider}, u},
		{"for longer, provider", o{State: u, Since: ago(61), Disconnected: ago(101), Pool: provider}, l},
		{"for longer, vps-host", o{State: u, Since: ago(61), Disconnected: ago(101), Pool: host}, l},
		{"for longer, metal", o{State: u, Since: ago(900), Disconnected: ago(940), Pool: metal}, u},
		{"for longer, pool waits for ever", o{State: u, Since: ago(900), Disconnected: ago(940), Pool: &liveness.Pool{Kind: liveness.Provider}}, u},
		{"nobody knows since when", o{State: u, Since: never, Disconnected: ago(940), Pool: host}, u},
		{"silent for ages, never found unreachable before", o{State: c, Disconnected: ago(940), Pool: host}, u},
		{"lost and still so", o{State: l, Since: ago(9), Disconnected: ago(200), Pool: host}, l},
		{"lost, moved to a metal pool", o{State: l, Since: ago(9), Disconnected: ago(200), Pool: metal}, u},
		{"lost, in no pool any more", o{State: l, Since: ago(9), Disconnected: ago(200)}, u},
		{"a state of a later version", o{State: "asleep", Disconnected: ago(900)}, "asleep"},
		{"even with a session", o{State: "asleep", Open: true, Flushed: now}, "asleep"},
	}
	for _, tt := range tests {
		if got := (liveness.Windows{}).Judge(tt.o, nil, now); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// L8: the loss of gw-1 at second 100 is worth 120 s and a lease to its own nodes.
func TestJudgeInGrace(t *testing.T) {
	var lost, away liveness.Graces
	lost.GatewayLost(liveness.Windows{}, "gw-1", sec(100))
	away.Away(liveness.Windows{}, time.Minute, sec(100))
	host := &liveness.Pool{Kind: liveness.VPSHost, LostAfter: time.Minute}
	type o = liveness.Observation
	tests := []struct {
		name string
		o    o
		g    *liveness.Graces
		at   float64
		want liveness.State
	}{
		{"its node, grace running", o{State: c, Disconnected: sec(100), Gateway: "gw-1"}, &lost, 220, d},
		{"its node, lease after the grace", o{State: d, Disconnected: sec(100), Gateway: "gw-1"}, &lost, 260, d},
		{"its node, both over", o{State: d, Disconnected: sec(100), Gateway: "gw-1"}, &lost, 261, u},
		{"a node seen later has nothing to add", o{State: d, Disconnected: sec(230), Gateway: "gw-1"}, &lost, 271, u},
		{"a node of another gateway", o{State: d, Disconnected: sec(100), Gateway: "gw-2"}, &lost, 141, u},
		{"a node that moved to another gateway", o{State: c, Disconnected: sec(110), Gateway: "gw-2"}, &lost, 151, u},
		{"a session open on paper only", o{State: c, Open: true, Flushed: sec(90), Gateway: "gw-1"}, &lost, 200, d},
		{"found unreachable before the fault", o{State: u, Since: sec(95), Disconnected: sec(50), Gateway: "gw-1"}, &lost, 110, u},
		{"seen again during it", o{State: u, Since: sec(95), Disconnected: sec(105), Gateway: "gw-1"}, &lost, 110, d},
		{"not yet lost, and put off", o{State: u, Since: sec(50), Disconnected: sec(9), Gateway: "gw-1", Pool: host}, &lost, 280, u},
		{"lost once its pool has waited anew", o{State: u, Since: sec(50), Disconnected: sec(9), Gateway: "gw-1", Pool: host}, &lost, 281, l},
		{"lost before is lost", o{State: l, Since: sec(50), Disconnected: sec(9), Gateway: "gw-1", Pool: host}, &lost, 110, l},
		{"after an outage, any node (L9)", o{State: c, Disconnected: sec(30), Gateway: "gw-2"}, &away, 440, d},
		{"a node without any gateway", o{State: d, Issued: sec(30)}, &away, 440, d},
		{"after its grace and a lease", o{State: d, Disconnected: sec(30)}, &away, 441, u},
	}
	for _, tt := range tests {
		if got := (liveness.Windows{}).Judge(tt.o, tt.g, sec(tt.at)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestJudgeByOtherWindows(t *testing.T) {
	w := liveness.Windows{Lease: time.Minute}
	o := liveness.Observation{State: c, Disconnected: sec(0)}
	if got := w.Judge(o, nil, sec(60)); got != d {
		t.Errorf("a minute into a lease of a minute: %s", got)
	}
	if got := w.Judge(o, nil, sec(60.1)); got != u {
		t.Errorf("past a lease of a minute: %s", got)
	}
}

// faults draws graces that a few faults before now have earned.
func faults(t *rapid.T, now liveness.Instant) *liveness.Graces {
	g := &liveness.Graces{}
	for range rapid.IntRange(0, 3).Draw(t, "faults") {
		at := now.Add(-time.Duration(rapid.IntRange(0, 500).Draw(t, "ago")) * time.Second)
		if rapid.Bool().Draw(t, "gateway lost") {
			g.GatewayLost(liveness.Windows{}, rapid.SampledFrom(gateways).Draw(t, "lost"), at)
			continue
		}
		g.Away(liveness.Windows{}, time.Duration(rapid.IntRange(0, 100).Draw(t, "away"))*time.Second, at)
	}
	return g
}

// L1: a verdict depends on differences of monotonic instants alone. The same
// node, on a clock that reads something else, is judged alike.
func TestNoClockReadingMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := sec(float64(rapid.IntRange(1000, 2000).Draw(t, "now")))
		shift := time.Duration(rapid.Int64Range(-1<<60, 1<<60).Draw(t, "shift"))
		o, g := observation(t, now), faults(t, now)
		there := o
		for _, i := range []*liveness.Instant{&there.Since, &there.AsOf, &there.Flushed, &there.Disconnected, &there.Connected, &there.Issued} {
			*i = i.Add(shift)
		}
		g2 := liveness.RestoreGraces(g.Rows(now), now.Add(shift))
		var w liveness.Windows
		if here, gone := w.Judge(o, g, now), w.Judge(there, g2, now.Add(shift)); here != gone {
			t.Fatalf("%q here, %q on a clock %s away", here, gone, shift)
		}
	})
}

// LIVE-6 as a whole, each line in turn, over any node and any faults.
func TestEveryVerdictKeepsItsMeaning(t *testing.T) {
	const lease = 40 * time.Second
	rapid.Check(t, func(t *rapid.T) {
		now := sec(1000)
		o, g := observation(t, now), faults(t, now)
		got := (liveness.Windows{}).Judge(o, g, now)
		age, lose := now.Sub(o.LastSeen()), o.Pool != nil && o.Pool.Validate() == nil && o.Pool.LostAfter > 0
		switch {
		case o.State == "asleep" && got != "asleep":
			t.Fatalf("acted on a state it does not know: %q", got)
		case o.State == "asleep":
		case got == c && !o.Open:
			t.Fatal("connected without a session")
		case o.Open && now.Sub(o.Connected) <= lease && got != c:
			t.Fatalf("a new session, and %q", got)
		case got == u && age <= lease:
			t.Fatalf("unreachable, seen %s ago", age)
		case (got == u || got == l) && o.LastSeen() == liveness.Never && !o.Open:
			t.Fatalf("%q and never seen", got)
		case got == u && now.Sub(g.Until(o.Gateway)) <= lease && !o.State.NoSchedule():
			t.Fatal("unreachable within grace plus lease")
		case got == l && (!lose || !o.State.NoSchedule()):
			t.Fatalf("lost out of %q in %+v", o.State, o.Pool)
		case got == d && age > lease && !o.Open && o.State.NoSchedule() && o.LastSeen() != liveness.Never:
			t.Fatal("a grace undid a verdict")
		}
	})
}

// L10: no grace ever makes a verdict worse.
func TestGraceNeverHarms(t *testing.T) {
	rank := map[liveness.State]int{c: 1, d: 2, u: 3, l: 4}
	rapid.Check(t, func(t *rapid.T) {
		now := sec(1000)
		o, g := observation(t, now), faults(t, now)
		var w liveness.Windows
		with, without := w.Judge(o, g, now), w.Judge(o, nil, now)
		if rank[with] > rank[without] {
			t.Fatalf("%q with a grace, %q without", with, without)
		}
	})
}

// L4, L7: a node that was paused is unreachable, and its next beat makes it
// connected at once, whatever was recorded.
func TestOneBeatConnects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := sec(1000)
		o, g := observation(t, now), faults(t, now)
		if o.State == "asleep" {
			o.State = l
		}
		o.Open, o.Flushed, o.AsOf = true, now, now
		if got := (liveness.Windows{}).Judge(o, g, now); got != c {
			t.Fatalf("beating and %q", got)
		}
	})
}
