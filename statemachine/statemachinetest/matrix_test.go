package statemachinetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

// expected is what the pump must do, written from PUMP-1 to PUMP-9.
var expected = []statemachinetest.Row{
	{"none", "install", "", "idle", "PUMP-1"},
	{"* -none", "install", "", "stay", "PUMP-1"},

	{"idle", "fill", "primed", "filling", "PUMP-2"},
	{"idle", "fill", "not primed, wet", "filling", "PUMP-3"},
	{"idle", "fill", "not primed, dry", "CONFLICT", "PUMP-2"},
	{"* -idle", "fill", "", "INVALID_STATE", "PUMP-2"},

	{"filling", "filled", "", "draining", "PUMP-4"},
	{"* -filling", "filled", "", "INVALID_STATE"},
	{"draining", "drained", "", "serving", "PUMP-4"},
	{"* -draining", "drained", "", "INVALID_STATE"},

	{"serving", "flush flushed", "", "stay", "PUMP-5"},
	{"* -serving", "flush", "", "INVALID_STATE", "PUMP-5"},
	{"* -serving", "flushed", "", "INVALID_STATE"},

	{"filling draining", "failed", "", "idle", "PUMP-6"},
	{"serving", "failed", "", "stay", "PUMP-6"},
	{"none idle broken", "failed", "", "INVALID_STATE"},
	{"filling draining serving", "stop", "", "idle", "PUMP-7"},
	{"none idle broken", "stop", "", "stay", "PUMP-7"},
	{"filling draining", "timeout", "", "idle", "PUMP-8"},
	{"serving", "timeout", "", "stay", "PUMP-8"},
	{"none idle broken", "timeout", "", "CONFLICT", "PUMP-8"},

	{"idle serving broken", "scrap", "", "broken", "PUMP-9"},
	{"none filling draining", "scrap", "", "INVALID_STATE", "PUMP-9"},
	{"none idle broken", "remove", "", "none", "PUMP-9"},
	{"filling draining serving", "remove", "", "INVALID_STATE", "PUMP-9"},
}

func TestMatrixAgrees(t *testing.T) {
	statemachinetest.Matrix(t, pump.Table(), expected)
}

// Each change of the matrix must be told, and told of the right cell.
func TestDiffFindsEveryKindOfDifference(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func([]statemachinetest.Row) []statemachinetest.Row
		want   string
	}{
		{"outcome", swap(0, 3, "stay"), "none, install: the table says idle by PUMP-1; row 0 wants stay by PUMP-1"},
		{"code", swap(4, 3, "INVALID_STATE"), "idle, fill, {dry}: the table says CONFLICT by PUMP-2; row 4 wants INVALID_STATE by PUMP-2"},
		{"requirement", swap(3, 4, "PUMP-2"), "idle, fill, {wet}: the table says filling by PUMP-3; row 3 wants filling by PUMP-2"},
		{"row missing", func(rows []statemachinetest.Row) []statemachinetest.Row { return rows[1:] }, "none, install: 0 rows [] decide it; the table says idle by PUMP-1"},
		{"pair twice", swap(1, 0, "*"), "none, install: 2 rows [0 1] decide it"},
		{"valuation twice", swap(2, 2, ""), "idle, fill, {wet}: 2 rows [2 3] decide it"},
		{"guard that the cell does not use", swap(0, 2, "primed"), "none, install: 0 rows [] decide it"},
		{"unreachable row", swap(3, 2, "not wet, not dry"), "row 3 {idle | fill | not wet, not dry | filling | PUMP-3}: no valuation reaches this row"},
		{"unknown state", swap(0, 0, "nowhere"), `there is no state "nowhere"`},
		{"unknown event", swap(0, 1, "instal"), `there is no event "instal"`},
		{"unknown guard", swap(2, 2, "prime"), `there is no guard "prime"`},
		{"contradiction", swap(2, 2, "primed, not primed"), `it wants "primed" and not "primed"`},
		{"unknown outcome", swap(0, 3, "idel"), `"idel" is no state`},
		{"no outcome", swap(0, 3, ""), `"" is no state`},
		{"no state", swap(0, 0, "none -none"), "it names no state"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			diff := statemachinetest.Diff(pump.Table(), tc.change(slices.Clone(expected)))
			if !strings.Contains(strings.Join(diff, "\n"), tc.want) {
				t.Errorf("got %q\nwant %q among them", diff, tc.want)
			}
		})
	}
}

// Every row counts: without it, or with another outcome, the matrix differs, and
// says so of a state and an event that the row names.
func TestDiffNeedsEveryRow(t *testing.T) {
	about := func(lines []string, row statemachinetest.Row) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			from, rest, _ := strings.Cut(line, ", ")
			on, _, _ := strings.Cut(strings.ReplaceAll(rest, ",", ":"), ":")
			return (strings.Contains(row[0], from) || strings.Contains(row[0], "*")) && slices.Contains(strings.Fields(row[1]), on)
		})
	}
	for n, row := range expected {
		if diff := statemachinetest.Diff(pump.Table(), slices.Delete(slices.Clone(expected), n, n+1)); !about(diff, row) {
			t.Errorf("without row %d %q: %q", n, row, diff)
		}
		for _, other := range []string{"stay", "broken", "ACCESS_DENIED"} {
			rows := slices.Clone(expected)
			rows[n][3] = other
			diff := statemachinetest.Diff(pump.Table(), rows)
			if same := row[3] == other || row[0] == "broken" && other == "broken" && row[3] == "stay"; !same && !about(diff, row) {
				t.Errorf("row %d %q with %s: %q", n, row, other, diff)
			}
		}
	}
}

// A failing matrix fails its test once a difference, and logs the table's size
// in any case.
func TestMatrixFailsOnceADifference(t *testing.T) {
	quiet := &counter{TB: t}
	statemachinetest.Matrix(quiet, pump.Table(), expected)
	if quiet.errors != 0 || quiet.logs != 1 {
		t.Errorf("a right matrix: %d errors, %d logs", quiet.errors, quiet.logs)
	}
	statemachinetest.Matrix(quiet, pump.Table(), swap(0, 3, "stay")(slices.Clone(expected)))
	if quiet.errors != 1 || quiet.logs != 2 {
		t.Errorf("a wrong row: %d errors, %d logs", quiet.errors, quiet.logs)
	}
}

// counter counts what it is told.
type counter struct {
	testing.TB
	errors, logs int
}

func (c *counter) Helper()             {}
func (c *counter) Error(...any)        { c.errors++ }
func (c *counter) Logf(string, ...any) { c.logs++ }

func swap(row, column int, text string) func([]statemachinetest.Row) []statemachinetest.Row {
	return func(rows []statemachinetest.Row) []statemachinetest.Row {
		rows[row][column] = text
		return rows
	}
}

// A table that changes under an unchanged matrix must be told as well.
func TestDiffFindsEveryChangedRule(t *testing.T) {
	for n, rule := range pump.Spec().Rules {
		spec := pump.Spec()
		spec.Rules[n].Req = "PUMP-99"
		table, err := statemachine.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		if len(statemachinetest.Diff(table, expected)) == 0 {
			t.Errorf("rule %d (%s): a changed requirement went unnoticed", n, rule.On)
		}
	}
}

func ExampleDiff() {
	rows := []statemachinetest.Row{
		{"closed", "open", "", "open", "DOOR-1"},
		{"open", "open", "", "CONFLICT"},
		{"*", "close", "not blocked", "closed", "DOOR-2"},
		{"open", "close", "blocked", "CONFLICT", "DOOR-2"},
	}
	for _, line := range statemachinetest.Diff(door(), rows) {
		fmt.Println(line)
	}
	// Output:
	// closed, close: the table says stay; row 2 wants closed by DOOR-2
	// closed, close, {blocked}: 0 rows [] decide it; the table says stay
	// open, open: the table says stay; row 1 wants CONFLICT
}

type doorAt = statemachine.At[string, string]

// door opens and closes.
func door() *statemachine.Table[string, string] {
	type rule = statemachine.Rule[string, string]
	return statemachine.Must(statemachine.Spec[string, string]{
		Name: "door", Start: []string{"closed"}, Guards: []string{"blocked"},
		States: []statemachine.State[string, string]{
			{Name: "closed", Kind: statemachine.Stable}, {Name: "open", Kind: statemachine.Stable}},
		Rules: []rule{
			{On: "open", From: []string{"closed"}, To: "open", Req: "DOOR-1"},
			{On: "open", Stay: true},
			{On: "close", From: []string{"open"}, When: statemachine.When{Not: 1}, To: "closed", Req: "DOOR-2"},
			{On: "close", From: []string{"open"}, When: statemachine.When{If: 1}, Refuse: statemachine.Conflict, Why: "blocked", Req: "DOOR-2"},
			{On: "close", Stay: true},
		},
	})
}
