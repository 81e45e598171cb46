package render_test

import (
	"fmt"
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
		"report":          func(s *spec) { s.Reports = append(s.Reports, pump.Scrap) },
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
