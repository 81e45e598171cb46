package render

import (
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/statemachine"
)

// refusal marks an outcome that refuses, in a matrix: refusals are most of it, and
// should not drown the rest.
const refusal = "-"

// matrix shows every pair: events down, states across. Lifecycles have more
// events than states, and a page scrolls down.
func (p *page[S, E]) matrix() {
	columns := []string{"Event"}
	for st := range p.table.States() {
		columns = append(columns, string(st.Name))
	}
	p.head("Matrix", columns...)
	for on := range p.table.Events() {
		row := []string{string(on)}
		for st := range p.table.States() {
			row = append(row, strings.Join(p.outcomes(st.Name, on), " or "))
		}
		p.row(row...)
	}
	p.line("\nA name is the next state, `%s` a refusal; guards choose where there are several.", refusal)
}

// outcomes lists what a pair may come to, each once, in the order of rules. Under
// which guards is left to the sections above: a cell has room for a word.
func (p *page[S, E]) outcomes(from S, on E) (out []string) {
	for c := range p.table.Cells() {
		if c.From != from || c.On != on {
			continue
		}
		if to := outcome(c); !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return out
}

// outcome is what a cell comes to, in a word.
func outcome[S, E ~string](c statemachine.Cell[S, E]) string {
	switch {
	case c.Refused != nil:
		return refusal
	case c.Stays:
		return "stay"
	}
	return string(c.To)
}

// defaults lists, by event, the states that no rule of the event names. An event
// whose rules name every state has no row.
func (p *page[S, E]) defaults() {
	p.head("Decided by default", "Event", "States", "Outcome")
	for on := range p.table.Events() {
		states, outcomes := p.byDefault(on)
		if len(states) > 0 {
			p.row(string(on), strings.Join(states, ", "), strings.Join(outcomes, " or "))
		}
	}
}

// byDefault gathers what an event's default decides: the states, and each outcome
// once.
func (p *page[S, E]) byDefault(on E) (states, outcomes []string) {
	for c := range p.table.Cells() {
		if c.On != on || !c.Default {
			continue
		}
		states, outcomes = add(states, string(c.From)), add(outcomes, plainly(c))
	}
	return states, outcomes
}

// plainly is outcome with a refusal's code in place of the mark.
func plainly[S, E ~string](c statemachine.Cell[S, E]) string {
	if c.Refused != nil {
		return c.Refused.Code()
	}
	return outcome(c)
}

// add appends s unless it is there.
func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
