package statemachine_test

import (
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
)

func TestSize(t *testing.T) {
	want := statemachine.Size{States: 6, Events: 11, Rules: 28, Pairs: 66, Cells: 68, Default: 45}
	if got := pump.Table().Size(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Cells partition the valuations of each pair.
func TestExactlyOneCellHolds(t *testing.T) {
	table := pump.Table()
	for st := range table.States() {
		for on := range table.Events() {
			for g := range table.Valuations(st.Name, on) {
				n := 0
				for c := range table.Cells() {
					if c.From == st.Name && c.On == on && c.When.Holds(g) {
						n++
					}
				}
				if n != 1 {
					t.Errorf("%s, %s, %b: %d cells", st.Name, on, g, n)
				}
			}
		}
	}
}

func TestValuationsKeepGroups(t *testing.T) {
	got := slices.Sorted(pump.Table().Valuations(pump.Idle, pump.Fill))
	want := []statemachine.Guard{pump.Wet, pump.Wet | pump.Primed, pump.Dry, pump.Dry | pump.Primed}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %b, want %b", got, want)
	}
	if n := len(slices.Collect(pump.Table().Valuations("new", pump.Fill))); n != 0 {
		t.Errorf("an unknown state has %d valuations", n)
	}
}

func TestMovesChangeTheState(t *testing.T) {
	n := 0
	for c := range pump.Table().Moves() {
		n++
		if c.From == c.To || c.Refused != nil || c.Stays {
			t.Errorf("no move: %+v", c)
		}
	}
	if n != 16 {
		t.Errorf("%d moves, want 16", n)
	}
}

func TestCellTellsItsRule(t *testing.T) {
	table := pump.Table()
	c, ok := table.Cell(pump.Serving, pump.Flush, pump.Wet)
	if !ok || !c.Stays || c.Opens != pump.FlushTime || c.Rule != 10 || c.Default {
		t.Errorf("flush in serving: %+v", c)
	}
	c, ok = table.Cell(pump.Idle, pump.Stop, pump.Wet)
	if !ok || !c.Stays || c.Ends != "" || !c.Default {
		t.Errorf("stop in idle: %+v", c)
	}
	for _, unknown := range []struct {
		from  pump.State
		on    pump.On
		holds statemachine.Guard
	}{{"new", pump.Stop, 0}, {pump.Idle, "explode", 0}, {pump.Idle, pump.Fill, 0}} {
		if c, ok := table.Cell(unknown.from, unknown.on, unknown.holds); ok {
			t.Errorf("%+v has a cell: %+v", unknown, c)
		}
	}
}

// Iterators stop when their loop does.
func TestIteratorsStop(t *testing.T) {
	table := pump.Table()
	for range table.Cells() {
		break
	}
	for range table.Moves() {
		break
	}
	for range table.Events() {
		break
	}
	for range table.Valuations(pump.Idle, pump.Fill) {
		break
	}
}

func TestDrivesAndDrops(t *testing.T) {
	table := pump.Table()
	for _, tc := range []struct {
		state  pump.State
		drives string
		drops  string
	}{
		{pump.None, "none", "level,filter"},
		{pump.Idle, "none", "level"},
		{pump.Filling, "power", ""},
		{"new", "none", ""},
	} {
		if got := table.Drives(tc.state).String(); got != tc.drives {
			t.Errorf("%s drives %s, want %s", tc.state, got, tc.drives)
		}
		if got := table.FieldNames(table.Drops(tc.state)); got != tc.drops {
			t.Errorf("%s drops %q, want %q", tc.state, got, tc.drops)
		}
	}
	if !table.Knows(pump.Idle) || table.Knows("new") || table.Knows("") {
		t.Error("knows the wrong states")
	}
	if !table.Reports(pump.Filled) || table.Reports(pump.Fill) || table.Reports("explode") {
		t.Error("takes the wrong events for reports")
	}
	if table.Legal("new") != nil {
		t.Error("something is legal in an unknown state")
	}
}

func TestNames(t *testing.T) {
	table := pump.Table()
	for _, tc := range []struct{ got, want string }{
		{table.WhenNames(when{}), "always"},
		{table.WhenNames(when{If: pump.Primed | pump.Wet, Not: pump.Dry}), "primed, wet, not dry"},
		{table.GuardNames(pump.Primed | 8), "primed,undeclared"},
		{(statemachine.Power | statemachine.BootOrder | statemachine.Disks).String(), "power, boot order, disks"},
		{statemachine.InFlight.String(), "in-flight"},
		{statemachine.Kind(9).String(), "invalid"},
		{table.Name(), "pump"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
