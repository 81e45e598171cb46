package render_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
	"github.com/ingotmetal/ingot/statemachine/render"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
	"pgregory.net/rapid"
)

// cells splits a row of a Markdown table.
func cells(row string) (out []string) {
	for c := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|") {
		out = append(out, strings.TrimSpace(c))
	}
	return out
}

// demand compares the rows of a section with those that were written by hand.
func demand(t *testing.T, page, title string, want [][]string) {
	t.Helper()
	rows := section(page, title)
	if len(rows) != len(want) {
		t.Errorf("%s has %d rows, want %d", title, len(rows), len(want))
		return
	}
	for n, row := range rows {
		if got := cells(row); !slices.Equal(got, want[n]) {
			t.Errorf("%s, row %d:\ngot  %q\nwant %q", title, n, got, want[n])
		}
	}
}

// A reader of the page learns of each state what PUMP says of it.
func TestStatesSayWhatMayHappenInThem(t *testing.T) {
	demand(t, render.Page(pump.Table()), "States", [][]string{
		{"none", "absent, start", "", "", "none", "", "no pump"},
		{"idle", "stable", "", "", "none", "filter", "stands still"},
		{"filling", "in-flight", "10m0s", "timeout", "power", "level, filter", "takes water"},
		{"draining", "in-flight", "5m0s", "timeout", "power", "level, filter", "lets the first water go"},
		{"serving", "stable", "", "timeout", "power", "level, filter", "gives water"},
		{"broken", "terminal", "", "", "none", "", "waits for removal"},
	})
}

// Defaults are resolved: a rule says in which states it decides, not only that
// it decides the rest.
func TestMovesAndStaysSayWhere(t *testing.T) {
	page := render.Page(pump.Table())
	demand(t, page, "Moves", [][]string{
		{"install", "none", "", "idle", "", "", "PUMP-1"},
		{"fill", "idle", "primed", "filling", "", "", "PUMP-2"},
		{"fill", "idle", "wet, not primed", "filling", "", "", "PUMP-3"},
		{"filled", "filling", "", "draining", "", "", "PUMP-4"},
		{"drained", "draining", "", "serving", "", "", "PUMP-4"},
		{"failed", "filling, draining", "", "idle", "", "", "PUMP-6"},
		{"stop", "filling, draining, serving", "", "idle", "ends the attempt as failed", "", "PUMP-7"},
		{"timeout", "filling, draining", "", "idle", "ends the attempt as failed", "", "PUMP-8"},
		{"scrap", "idle, serving", "", "broken", "forgets past attempts", "", "PUMP-9"},
		{"remove", "idle, broken", "", "none", "", "", "PUMP-9"},
	})
	demand(t, page, "Stays", [][]string{
		{"install", "by default: idle, filling, draining, serving, broken", "", "", "", "PUMP-1"},
		{"flush", "serving", "", "opens an attempt of 30s", "", "PUMP-5"},
		{"flushed", "serving", "", "ends the attempt as flushed", "", "PUMP-5"},
		{"failed", "serving", "", "ends the attempt as failed", "", "PUMP-6"},
		{"stop", "by default: none, idle, broken", "", "", "", "PUMP-7"},
		{"timeout", "serving", "", "ends the attempt as failed", "", "PUMP-8"},
		{"scrap", "broken", "", "", "", "PUMP-9"},
		{"remove", "none", "", "", "", "PUMP-9"},
	})
}

// A refusal's row has the words that its caller is given.
func TestRefusalsSayWhatCallersAreTold(t *testing.T) {
	table := pump.Table()
	rows := section(render.Page(table), "Refusals")
	for c := range table.Cells() {
		if c.Refused == nil {
			continue
		}
		told := slices.ContainsFunc(rows, func(row string) bool {
			got := cells(row)
			states := strings.Split(strings.TrimPrefix(got[1], "by default: "), ", ")
			return got[0] == string(c.On) && slices.Contains(states, string(c.From)) &&
				got[3] == c.Refused.Code() && got[4] == c.Refused.Why && got[5] == c.Refused.Req
		})
		if !told {
			t.Errorf("no row tells that %s is refused in %s: %v", c.On, c.From, c.Refused)
		}
	}
}

// The page's list of defaults is the kit's, gathered by event.
func TestDefaultsAreThoseOfTheKit(t *testing.T) {
	table, got := pump.Table(), map[string]bool{}
	for _, row := range section(render.Page(table), "Decided by default") {
		c := cells(row)
		for _, from := range strings.Split(c[1], ", ") {
			got[from+" "+c[0]+" always: "+c[2]] = true
		}
	}
	for line := range strings.Lines(statemachinetest.Defaults(table)) {
		if line = strings.TrimSpace(line); !got[line] {
			t.Errorf("the page lacks %q", line)
		}
		delete(got, line)
	}
	if len(got) > 0 {
		t.Errorf("the page has more: %v", got)
	}
}

// What a table does not have, its page does not mention.
func TestPlainTableHasAPlainPage(t *testing.T) {
	page := render.Page(statemachine.Must(statemachine.Spec[string, string]{
		Name: "switch", Start: []string{"off"},
		States: []statemachine.State[string, string]{{Name: "off", Kind: statemachine.Stable}, {Name: "on", Kind: statemachine.Stable}},
		Rules:  []statemachine.Rule[string, string]{{On: "press", From: []string{"off"}, To: "on"}, {On: "press", From: []string{"on"}, To: "off"}},
	}))
	for _, word := range []string{"Reports", "Guards", "Exactly one"} {
		if strings.Contains(page, word) {
			t.Errorf("it speaks of %q:\n%s", word, page)
		}
	}
	for _, empty := range []string{"Stays", "Refusals", "Decided by default"} {
		if rows := section(page, empty); len(rows) != 0 {
			t.Errorf("%s has rows: %q", empty, rows)
		}
	}
}

// nasty draws text that would break out of a cell, a label or a line.
func nasty(t *rapid.T, what string) string {
	return rapid.StringOfN(rapid.SampledFrom([]rune("a |`*<>\\\n\r:;[]\"#-é")), 1, 12, 60).Draw(t, what)
}

// arrow is what a line of a diagram may look like.
var arrow = regexp.MustCompile(`^(stateDiagram-v2|    state "[^"\n]*" as s\d+|    (\[\*\]|s\d+) --> (\[\*\]|s\d+)( : .*)?)$`)

// Whatever a vendor writes, the page keeps its shape: the same headings, as
// many rows, and a diagram of which each line is one.
func TestNastyTextKeepsTheShape(t *testing.T) {
	shape := func(page string) (out []string) {
		for line := range strings.Lines(page) {
			switch {
			case strings.HasPrefix(line, "## "):
				out = append(out, line)
			case strings.HasPrefix(line, "|"):
				out = append(out, fmt.Sprint(columns(strings.ReplaceAll(line, `\\`, ""))))
			}
		}
		return out
	}
	plain := shape(render.Page(pump.Table()))
	rapid.Check(t, func(t *rapid.T) {
		s := pump.Spec()
		for i := range s.States {
			s.States[i].Means = nasty(t, "means")
		}
		for i := range s.Rules {
			s.Rules[i].Why, s.Rules[i].Req = nasty(t, "why"), nasty(t, "req")
		}
		s.Guards[0], s.Fields[1] = "g"+nasty(t, "guard"), "f"+nasty(t, "field")
		table := statemachine.Must(s)
		if got := shape(render.Page(table)); !slices.Equal(got, plain) {
			t.Fatalf("got  %q\nwant %q", got, plain)
		}
		for line := range strings.Lines(render.Mermaid(table)) {
			if !arrow.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Fatalf("the diagram has the line %q", line)
			}
		}
	})
}

// Every arrow of a diagram leads between states that were declared before it,
// from each start and to the end of each terminal state.
func TestMermaidDeclaresWhatItUses(t *testing.T) {
	spec := pump.Spec()
	spec.Start = append(spec.Start, pump.Filling)
	spec.States[2].Deadline = time.Hour
	declared, starts, ends := map[string]string{}, []string{}, []string{}
	for line := range strings.Lines(render.Mermaid(statemachine.Must(spec))) {
		words := strings.Fields(line)
		switch {
		case words[0] == "state":
			declared[words[3]] = strings.Trim(words[1], `"`)
		case words[0] == "[*]":
			starts = append(starts, declared[words[2]])
		case len(words) > 2 && words[2] == "[*]":
			ends = append(ends, declared[words[0]])
		case len(words) > 2 && (declared[words[0]] == "" || declared[words[2]] == ""):
			t.Errorf("undeclared: %s", line)
		}
	}
	if len(declared) != len(spec.States) || !slices.Equal(starts, []string{"none", "filling"}) || !slices.Equal(ends, []string{"broken"}) {
		t.Errorf("declared %v, starts %q, ends %q", declared, starts, ends)
	}
}

// The matrix of a page is what most people look at.
func ExamplePage() {
	page := render.Page(statemachine.Must(statemachine.Spec[string, string]{
		Name: "lamp", Start: []string{"off"},
		States: []statemachine.State[string, string]{{Name: "off", Kind: statemachine.Stable}, {Name: "on", Kind: statemachine.Stable}},
		Rules: []statemachine.Rule[string, string]{
			{On: "press", From: []string{"off"}, To: "on"},
			{On: "press", From: []string{"on"}, To: "off"},
			{On: "dim", From: []string{"on"}, Stay: true},
			{On: "dim", Refuse: statemachine.InvalidState, Why: "it is dark"},
		},
	}))
	_, matrix, _ := strings.Cut(page, "## Matrix\n\n")
	for line := range strings.Lines(matrix) {
		if line == "\n" {
			break
		}
		fmt.Print(line)
	}
	// Output:
	// | Event | off | on |
	// | --- | --- | --- |
	// | press | on | off |
	// | dim | - | stay |
}
