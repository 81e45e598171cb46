package render

import (
	"fmt"
	"strings"

	"github.com/ingotmetal/ingot/statemachine"
)

// Mermaid draws the moves of a table as a Mermaid stateDiagram-v2, guards in
// brackets. All moves between the same two states share one arrow. States
// have short identifiers and their names as labels, since Mermaid takes a
// hyphen in an identifier for the beginning of an arrow.
func Mermaid[S, E ~string](table *statemachine.Table[S, E]) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	ids := map[S]string{}
	for st := range table.States() {
		ids[st.Name] = fmt.Sprint("s", len(ids))
		fmt.Fprintf(&b, "    state \"%s\" as %s\n", label(string(st.Name)), ids[st.Name])
	}
	for _, st := range table.Spec().Start {
		fmt.Fprintf(&b, "    [*] --> %s\n", ids[st])
	}
	for _, a := range arrows(table) {
		fmt.Fprintf(&b, "    %s --> %s : %s\n", ids[a.from], ids[a.to], strings.Join(a.labels, "<br/>"))
	}
	for st := range table.States() {
		if st.Kind == statemachine.Terminal {
			fmt.Fprintf(&b, "    %s --> [*]\n", ids[st.Name])
		}
	}
	return b.String()
}

// arrow is all moves between two states.
type arrow[S ~string] struct {
	from, to S
	labels   []string
}

// arrows gathers the moves in table order. Stays and refusals are no arrows: they
// would hide the way that a record goes.
func arrows[S, E ~string](table *statemachine.Table[S, E]) (out []arrow[S]) {
	at := map[[2]S]int{}
	for m := range table.Moves() {
		ends := [2]S{m.From, m.To}
		n, ok := at[ends]
		if !ok {
			n = len(out)
			at[ends], out = n, append(out, arrow[S]{from: m.From, to: m.To})
		}
		text := label(string(m.On))
		if m.When != (statemachine.When{}) {
			text += " [" + label(table.WhenNames(m.When)) + "]"
		}
		out[n].labels = append(out[n].labels, text)
	}
	return out
}

// label writes what Mermaid would take for syntax as its entity codes, such as
// #58; for a colon (Mermaid's flowchart syntax, "entity codes"). What is safe is
// listed, not what is not: the grammar grows.
func label(s string) string {
	var b strings.Builder
	for _, r := range s {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" -_.,/()", r)
		if plain {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
