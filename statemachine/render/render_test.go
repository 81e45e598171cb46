package render_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/internal/pump"
	"github.com/ingotmetal/ingot/statemachine/render"
	"github.com/ingotmetal/ingot/statemachine/statemachinetest"
)

type spec = statemachine.Spec[pump.State, pump.On]

func TestPageOfThePump(t *testing.T) {
	statemachinetest.Golden(t, "testdata/pump.md", render.Page(pump.Table()))
}

// The same table renders the same, however often.
func TestPageIsDeterministic(t *testing.T) {
	first := render.Page(pump.Table())
	for range 20 {
		if again := render.Page(pump.Table()); again != first {
			t.Fatal("two pages of one table differ")
		}
	}
}

// Whatever a page claims must change with the table.
func TestPageShowsEveryChange(t *testing.T) {
	page := render.Page(pump.Table())
	for name, change := range map[string]func(*statemachine.Spec[pump.State, pump.On]){
		"deadline":        func(s *spec) { s.States[2].Deadline++ },
		"actuators":       func(s *spec) { s.States[2].Drives = statemachine.Disks },
		"fields":          func(s *spec) { s.States[2].Holds = pump.Filter },
		"meaning":         func(s *spec) { s.States[2].Means = "" },
		"target":          func(s *spec) { s.Rules[4].To = pump.Broken },
		"reason":          func(s *spec) { s.Rules[5].Why = "no" },
		"reason of move":  func(s *spec) { s.Rules[0].Why = "new" },
		"requirement":     func(s *spec) { s.Rules[0].Req = "PUMP-0" },
		"code":            func(s *spec) { s.Rules[5].Refuse = statemachine.Denied },
		"effect, opens":   func(s *spec) { s.Rules[10].Opens++ },
		"effect, ends":    func(s *spec) { s.Rules[17].Ends = "" },
		"effect, forgets": func(s *spec) { s.Rules[22].Forget = false },
		"start":           func(s *spec) { s.Start = append(s.Start, pump.Idle) },
		"guard":           func(s *spec) { s.Guards[0] = "ready" },
		"report":          func(s *spec) { s.Reports = s.Reports[1:] },
		"group":           func(s *spec) { s.Guards = append(s.Guards, "x", "y"); s.OneOf = append(s.OneOf, 24) },
		"kind":            func(s *spec) { s.States[5].Kind = statemachine.Stable },
	} {
		t.Run(name, func(t *testing.T) {
			spec := pump.Spec()
			change(&spec)
			table, err := statemachine.New(spec)
			if err != nil {
				t.Fatal(err)
			}
			if render.Page(table) == page {
				t.Error("the page does not show it")
			}
		})
	}
}

// columns counts the cells of a Markdown table's row.
func columns(row string) int {
	return strings.Count(strings.ReplaceAll(row, `\|`, ""), "|") - 1
}

// Every table of a page is rectangular, whatever its text.
func TestTablesAreRectangular(t *testing.T) {
	odd := pump.Spec()
	odd.States[1].Means, odd.Rules[5].Why, odd.Rules[0].Req = "a|b", "||", "|\n|"
	for _, table := range []*statemachine.Table[pump.State, pump.On]{pump.Table(), statemachine.Must(odd)} {
		width, tables := 0, 0
		for line := range strings.Lines(render.Page(table)) {
			switch {
			case !strings.HasPrefix(line, "|"):
				width = 0
			case width == 0:
				width, tables = columns(line), tables+1
			case columns(line) != width:
				t.Errorf("%d columns, not %d: %s", columns(line), width, line)
			}
		}
		if tables != 6 {
			t.Errorf("%d tables, want 6", tables)
		}
	}
}

// section is the rows of a page's table under a heading.
func section(page, title string) (rows []string) {
	_, rest, _ := strings.Cut(page, "\n## "+title+"\n\n")
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		rows = append(rows, strings.TrimSpace(line))
	}
	if len(rows) < 2 {
		return nil
	}
	return rows[2:] // without the head
}

// Each state, rule and event has its row, each in its section.
func TestPageHoldsAllOfTheTable(t *testing.T) {
	table := pump.Table()
	page, n := render.Page(table), table.Size()
	if got := len(section(page, "States")); got != n.States {
		t.Errorf("%d states of %d", got, n.States)
	}
	if got := len(section(page, "Moves")) + len(section(page, "Stays")) + len(section(page, "Refusals")); got != n.Rules {
		t.Errorf("%d rules of %d", got, n.Rules)
	}
	if got := len(section(page, "Matrix")); got != n.Events {
		t.Errorf("%d events of %d", got, n.Events)
	}
	defaults := 0
	for _, row := range section(page, "Decided by default") {
		defaults += 1 + strings.Count(strings.Split(row, "|")[2], ",")
	}
	if defaults != n.Default {
		t.Errorf("%d default pairs of %d", defaults, n.Default)
	}
}

// The matrix says what the table answers.
func TestMatrixSaysWhatTheTableSays(t *testing.T) {
	table := pump.Table()
	var states []pump.State
	for st := range table.States() {
		states = append(states, st.Name)
	}
	for _, row := range section(render.Page(table), "Matrix") {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		for i, from := range states {
			for _, g := range []statemachine.Guard{pump.Wet, pump.Dry, pump.Wet | pump.Primed, pump.Dry | pump.Primed} {
				to, err := table.Next(from, pump.On(cells[0]), g)
				want := string(to)
				switch {
				case err != nil:
					want = "-"
				case to == from:
					want = "stay"
				}
				if !slices.Contains(strings.Split(cells[i+1], " or "), want) {
					t.Errorf("%s, %s, %b: the matrix says %q, the table %q", from, cells[0], g, cells[i+1], want)
				}
			}
		}
	}
}

// The diagram has every move once, and nothing but moves.
func TestMermaidHasEveryMove(t *testing.T) {
	table := pump.Table()
	var want, got int
	for range table.Moves() {
		want++
	}
	for line := range strings.Lines(render.Mermaid(table)) {
		if _, labels, ok := strings.Cut(line, " : "); ok {
			got += 1 + strings.Count(labels, "<br/>")
		}
	}
	if got != want {
		t.Errorf("%d moves of %d", got, want)
	}
}

// Text from a spec must not break out of its place.
func TestTextIsEscaped(t *testing.T) {
	spec := pump.Spec()
	spec.States[1].Means = "a|b\n| <script> `x` *y* |"
	spec.Guards[0] = "odd: name; --> x"
	table := statemachine.Must(spec)
	if page := render.Page(table); !strings.Contains(page, "a\\|b \\| &lt;script> \\`x\\` \\*y\\* \\| |\n") {
		t.Errorf("not escaped: %s", page)
	}
	if text := render.Mermaid(table); !strings.Contains(text, "fill [odd#58; name#59; --#62; x]") {
		t.Errorf("not escaped: %s", text)
	}
}

func ExampleMermaid() {
	fmt.Print(render.Mermaid(statemachine.Must(statemachine.Spec[string, string]{
		Name: "lamp", Start: []string{"off"}, Guards: []string{"powered"},
		States: []statemachine.State[string, string]{
			{Name: "off", Kind: statemachine.Stable}, {Name: "on", Kind: statemachine.Stable}, {Name: "burnt", Kind: statemachine.Terminal}},
		Rules: []statemachine.Rule[string, string]{
			{On: "press", From: []string{"off"}, When: statemachine.When{If: 1}, To: "on"},
			{On: "press", From: []string{"off"}, When: statemachine.When{Not: 1}, Stay: true},
			{On: "press", From: []string{"on"}, To: "off"},
			{On: "press", Refuse: statemachine.InvalidState, Why: "it is burnt"},
			{On: "burn", From: []string{"on"}, To: "burnt"},
			{On: "burn", Stay: true},
		},
	})))
	// Output:
	// stateDiagram-v2
	//     state "off" as s0
	//     state "on" as s1
	//     state "burnt" as s2
	//     [*] --> s0
	//     s0 --> s1 : press [powered]
	//     s1 --> s0 : press
	//     s1 --> s2 : burn
	//     s2 --> [*]
}
