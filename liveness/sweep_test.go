package liveness_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/liveness"
	"pgregory.net/rapid"
)

type change = liveness.Change[int]

// sweep runs one pass on time over os and returns its changes.
func sweep(t liveness.Tick, os []liveness.Observation) ([]change, liveness.Report) {
	seq, rep := liveness.Sweep(t, each(os))
	return slices.Collect(seq), rep
}

// onTime is a tick that follows the one before as it should.
func onTime(now liveness.Instant) liveness.Tick {
	return liveness.Tick{Graces: &liveness.Graces{}, Previous: now.Add(-5 * time.Second), Now: now}
}

// rack is n nodes of a domain, recorded connected, silent for an age.
func rack(domain liveness.Domain, n int, age time.Duration, now liveness.Instant) []liveness.Observation {
	os := make([]liveness.Observation, n)
	for i := range os {
		os[i] = liveness.Observation{State: c, Open: true, Flushed: now.Add(-age), Domain: domain}
	}
	return os
}

func TestSweepYieldsOnlyChanges(t *testing.T) {
	now := sec(1000)
	os := []liveness.Observation{
		{State: c, Open: true, Flushed: sec(995)},
		{State: c, Disconnected: sec(990)},
		{State: u, Disconnected: sec(90)},
		{State: l, Open: true, Connected: now},
		{Issued: sec(990)},
		{State: "asleep"},
		{State: d, Disconnected: sec(900)},
	}
	got, rep := sweep(onTime(now), os)
	want := []change{{1, c, d}, {3, l, c}, {4, "", d}, {6, d, u}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if rep.Nodes != 7 || rep.Unknown != 1 || rep.Held != 0 || rep.Suspended != 0 || rep.Bounded || rep.Frozen != nil {
		t.Errorf("%+v", rep)
	}
}

// JOINT-8, L6, L7: which changes set and clear the scheduling reason.
func TestChangesOfTheSchedulingReason(t *testing.T) {
	all := []liveness.State{"", c, d, u, l}
	away := map[liveness.State]bool{u: true, l: true}
	for _, from := range all {
		for _, to := range all {
			ch := change{0, from, to}
			if ch.SetsNoSchedule() != (!away[from] && away[to]) || ch.ClearsNoSchedule() != (away[from] && !away[to]) {
				t.Errorf("%s to %s: sets %t, clears %t", from, to, ch.SetsNoSchedule(), ch.ClearsNoSchedule())
			}
		}
	}
}

func TestSweepStopsWhenAsked(t *testing.T) {
	now := sec(1000)
	seq, _ := liveness.Sweep(onTime(now), each(make([]liveness.Observation, 9)))
	n := 0
	for range seq {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d changes after a break at 2", n)
	}
}

// L23: domain 1 has 20 nodes of which some go silent.
func TestFreeze(t *testing.T) {
	now := sec(1000)
	dead := time.Minute
	join := func(parts ...[]liveness.Observation) []liveness.Observation { return slices.Concat(parts...) }
	recorded := func(os []liveness.Observation, s liveness.State) []liveness.Observation {
		for i := range os {
			os[i].State, os[i].Open = s, false
		}
		return os
	}
	tests := []struct {
		name    string
		os      []liveness.Observation
		tick    func(*liveness.Tick)
		frozen  []liveness.Freeze
		held, u int // held back, found unreachable
	}{
		{"half of a domain", join(rack(1, 10, dead, now), rack(1, 10, 0, now)), nil, nil, 0, 10},
		{"more than half", join(rack(1, 11, dead, now), rack(1, 9, 0, now)), nil, []liveness.Freeze{{Domain: 1, Silent: 11, Nodes: 20}}, 11, 0},
		{"another domain is not concerned", join(rack(1, 20, dead, now), rack(2, 20, 0, now), rack(2, 3, dead, now)), nil, []liveness.Freeze{{Domain: 1, Silent: 20, Nodes: 20}}, 20, 3},
		{"two domains, in order", join(rack(7, 4, dead, now), rack(3, 4, dead, now)), nil, []liveness.Freeze{{Domain: 3, Silent: 4, Nodes: 4}, {Domain: 7, Silent: 4, Nodes: 4}}, 8, 0},
		{"too few to tell", rack(1, 2, dead, now), nil, nil, 0, 2},
		{"about to pass their lease", join(rack(1, 3, dead, now), rack(1, 9, 31*time.Second, now), rack(1, 8, 0, now)), nil, []liveness.Freeze{{Domain: 1, Silent: 12, Nodes: 20}}, 3, 0},
		{"late, a whole beat left", join(rack(1, 3, dead, now), rack(1, 9, 30*time.Second, now), rack(1, 8, 0, now)), nil, nil, 0, 3},
		{"dead for long, then one more", join(recorded(rack(1, 15, dead, now), u), rack(1, 1, dead, now), rack(1, 4, 0, now)), nil, nil, 0, 1},
		{"nodes never seen do not thin it out", join(rack(1, 4, dead, now), make([]liveness.Observation, 20), rack(0, 4, dead, now)), nil, []liveness.Freeze{{Domain: 0, Silent: 4, Nodes: 4}, {Domain: 1, Silent: 4, Nodes: 4}}, 8, 0},
		{"confirmed by someone", rack(1, 20, dead, now), func(t *liveness.Tick) { t.Confirmed = map[liveness.Domain]bool{1: true} }, nil, 0, 20},
		{"turned off", rack(1, 20, dead, now), func(t *liveness.Tick) { t.Windows.DomainShare = 100 }, nil, 0, 20},
		{"set lower", join(rack(1, 5, dead, now), rack(1, 15, 0, now)), func(t *liveness.Tick) { t.Windows.DomainShare = 20 }, []liveness.Freeze{{Domain: 1, Silent: 5, Nodes: 20}}, 5, 0},
		{"a larger least number", rack(1, 20, dead, now), func(t *liveness.Tick) { t.Windows.DomainMin = 21 }, nil, 0, 20},
		{"in a grace none is silent", rack(1, 20, dead, now), func(t *liveness.Tick) { t.Graces.Away(t.Windows, dead, now) }, nil, 0, 0},
	}
	for _, tt := range tests {
		tick := onTime(now)
		if tt.tick != nil {
			tt.tick(&tick)
		}
		got, rep := sweep(tick, tt.os)
		found := 0
		for _, ch := range got {
			if ch.SetsNoSchedule() {
				found++
			}
		}
		if !slices.Equal(rep.Frozen, tt.frozen) || rep.Held != tt.held || found != tt.u {
			t.Errorf("%s: frozen %v, %d held, %d unreachable; want %v, %d, %d", tt.name, rep.Frozen, rep.Held, found, tt.frozen, tt.held, tt.u)
		}
	}
}

// A frozen node without a live session is not called connected either.
func TestFrozenNodesAreDisconnected(t *testing.T) {
	now := sec(1000)
	os := rack(0, 5, time.Minute, now)
	os[1].State = d
	os[2].State, os[2].Since, os[2].Pool = u, sec(1), &liveness.Pool{Kind: liveness.Provider, LostAfter: 1}
	os[3].State = ""
	os[4].State = l // in a pool that has no lost nodes any more: a change for the better
	got, rep := sweep(onTime(now), os)
	if want := []change{{0, c, d}, {3, "", d}, {4, l, u}}; !slices.Equal(got, want) || rep.Held != 4 {
		t.Errorf("%v, %d held; want %v", got, rep.Held, want)
	}
}

func TestFreezeEndsWhenNodesAreBack(t *testing.T) {
	now := sec(1000)
	os := rack(0, 4, time.Minute, now)
	for i := range 3 {
		os[i].State, os[i].Flushed = d, now
	}
	got, rep := sweep(onTime(now), os)
	if want := []change{{0, d, c}, {1, d, c}, {2, d, c}, {3, c, u}}; !slices.Equal(got, want) || len(rep.Frozen) != 0 {
		t.Errorf("%v, %+v", got, rep)
	}
}

// L3: what passed while the observer was stopped counts against nobody.
func TestSuspendedSweep(t *testing.T) {
	now := sec(1000)
	var g liveness.Graces
	os := rack(0, 9, 45*time.Second, now)
	os[0].Flushed = now // else the domain would freeze in the end
	for i := 4; i < 9; i++ {
		os[i].Flushed = now
	}
	got, rep := sweep(liveness.Tick{Graces: &g, Previous: sec(985), Now: now}, os)
	if rep.Suspended != 15*time.Second || len(got) != 3 || slices.ContainsFunc(got, change.SetsNoSchedule) {
		t.Errorf("%v, %+v", got, rep)
	}
	// The next tick is on time: the void is remembered, and a lease later over.
	if got, rep = sweep(liveness.Tick{Graces: &g, Previous: now, Now: sec(1005)}, os); rep.Suspended != 0 || slices.ContainsFunc(got, change.SetsNoSchedule) {
		t.Errorf("%v, %+v", got, rep)
	}
	for i := 4; i < 9; i++ {
		os[i].Flushed = sec(1041)
	}
	os[0].Flushed = sec(1041)
	got, _ = sweep(liveness.Tick{Graces: &g, Previous: sec(1036), Now: sec(1041)}, os)
	if n := len(got); n != 3 || !got[0].SetsNoSchedule() {
		t.Errorf("%v, want three unreachable", got)
	}
}

func TestSuspensionCountsWithoutGracesToo(t *testing.T) {
	now := sec(1000)
	got, rep := sweep(liveness.Tick{Previous: sec(900), Now: now}, rack(0, 2, 99*time.Second, now))
	if rep.Suspended != 100*time.Second || slices.ContainsFunc(got, change.SetsNoSchedule) {
		t.Errorf("%v, %+v", got, rep)
	}
}

func TestSweepReportsABoundedGrace(t *testing.T) {
	tick := onTime(sec(0))
	for n := range 100 {
		tick.Now = sec(float64(n * 60))
		tick.Graces.Away(tick.Windows, 30*time.Second, tick.Now)
	}
	tick.Previous = tick.Now.Add(-5 * time.Second)
	if _, rep := sweep(tick, nil); !rep.Bounded {
		t.Error("not reported")
	}
}

// LIVE-1, LIVE-6: the sweep and the check of one node never differ, but where a
// domain is frozen; there the sweep's verdict is no worse than disconnected or
// what was recorded.
func TestSweepAgreesWithJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := sec(1000)
		os := make([]liveness.Observation, rapid.IntRange(0, 12).Draw(t, "nodes"))
		for i := range os {
			os[i] = observation(t, now)
		}
		before := slices.Clone(os)
		tick := onTime(now)
		tick.Graces = faults(t, now)
		changes, rep := sweep(tick, os)
		if !slices.Equal(os, before) {
			t.Fatal("it changed an observation")
		}
		swept := map[int]liveness.State{}
		for _, ch := range changes {
			if ch.From != os[ch.Node].State || ch.From == ch.To {
				t.Fatalf("%+v is no change from %q", ch, os[ch.Node].State)
			}
			swept[ch.Node] = ch.To
		}
		for i, o := range os {
			got, ok := swept[i]
			if !ok {
				got = o.State
			}
			want := tick.Windows.Judge(o, tick.Graces, now)
			frozen := slices.ContainsFunc(rep.Frozen, func(f liveness.Freeze) bool { return f.Domain == o.Domain })
			switch {
			case got == want:
				if frozen && want.NoSchedule() && want != o.State && o.State != l {
					t.Fatalf("a frozen domain's node went from %q to %q", o.State, got)
				}
			case !frozen || !want.NoSchedule():
				t.Fatalf("the sweep says %q, the check %q", got, want)
			case got != o.State && got != d:
				t.Fatalf("held back from %q at %q, was %q", want, got, o.State)
			}
		}
	})
}

// Sweep reads its nodes once.
func TestSweepReadsNodesOnce(t *testing.T) {
	read := 0
	var nodes iter.Seq2[string, *liveness.Observation] = func(yield func(string, *liveness.Observation) bool) {
		read++
		yield("a", &liveness.Observation{})
	}
	seq, _ := liveness.Sweep(onTime(sec(1000)), nodes)
	for range 2 {
		if got := fmt.Sprint(slices.Collect(seq)); got != "[{a  disconnected}]" {
			t.Error(got)
		}
	}
	if read != 1 {
		t.Errorf("read %d times", read)
	}
}
