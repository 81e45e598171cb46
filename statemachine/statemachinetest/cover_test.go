package statemachinetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

func TestCoverSaw(t *testing.T) {
	for _, tc := range []struct {
		from  pump.State
		on    pump.On
		holds statemachine.Guard
		to    pump.State
		legal bool
		rows  int
	}{
		{pump.None, pump.Install, pump.Wet, pump.Idle, true, 1},
		{pump.Idle, pump.Fill, pump.Wet, pump.Filling, true, 1},
		{pump.Idle, pump.Fill, pump.Dry, pump.Filling, false, 0},      // refused
		{pump.Idle, pump.Fill, pump.Wet, pump.Draining, false, 0},     // elsewhere
		{pump.None, pump.Install, pump.Wet, pump.None, false, 0},      // does not stay
		{pump.Serving, pump.Drained, pump.Wet, pump.Serving, true, 0}, // a repeat
		{"new", pump.Fill, pump.Wet, pump.Filling, false, 0},
		{pump.Idle, "explode", pump.Wet, pump.Idle, false, 0},
	} {
		cover := NewCover(pumps)
		all := len(cover.Missing())
		if got := cover.Saw(tc.from, tc.on, tc.holds, tc.to); got != tc.legal {
			t.Errorf("%+v: legal is %v", tc, got)
		}
		if n := all - len(cover.Missing()); n != tc.rows {
			t.Errorf("%+v: %d rows taken", tc, n)
		}
	}
}

func TestCoverRequireNamesMissingRows(t *testing.T) {
	cover := NewCover(pumps)
	cover.Saw(pump.Idle, pump.Fill, pump.Wet, pump.Filling)
	quiet := &recorder{TB: t}
	cover.Require(quiet)
	if !slices.Contains(quiet.errors, "pump: row never taken: idle --fill--> filling, primed") {
		t.Errorf("got %q", quiet.errors)
	}
	if text := strings.Join(quiet.errors, "\n"); strings.Contains(text, "wet, not primed") {
		t.Errorf("a taken row is missing: %s", text)
	}
}

func TestPairsYieldsEachOnce(t *testing.T) {
	seen := map[string]int{}
	for from, on := range Pairs(pumps) {
		seen[string(from)+" "+string(on)]++
	}
	if len(seen) != pumps.Size().Pairs {
		t.Errorf("%d pairs of %d", len(seen), pumps.Size().Pairs)
	}
	for pair, n := range seen {
		if n != 1 {
			t.Errorf("%s: %d times", pair, n)
		}
	}
	for range Pairs(pumps) {
		break
	}
}

// The kit's valuations and the engine's are written apart, and agree.
func TestValuationsAgreeWithTheEngine(t *testing.T) {
	mine := slices.Sorted(valuations(pumps.Spec().OneOf, pump.Primed|pump.Wet|pump.Dry))
	its := slices.Sorted(pumps.Valuations(pump.Idle, pump.Fill))
	if !slices.Equal(mine, its) {
		t.Errorf("kit %b, engine %b", mine, its)
	}
	for range valuations(nil, pump.Primed) {
		break
	}
}

func TestDefaultsListsWhatNobodyNamed(t *testing.T) {
	text := Defaults(pumps)
	for _, line := range []string{"idle install always: stay\n", "broken fill always: INVALID_STATE\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("lacks %q", line)
		}
	}
	if n := strings.Count(text, "\n"); n != pumps.Size().Default {
		t.Errorf("%d lines, %d pairs", n, pumps.Size().Default)
	}
	if strings.Contains(text, "none install") {
		t.Error("a named cell is listed")
	}
}
