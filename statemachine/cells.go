package statemachine

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// Cell is one decided row of the table: what a state does with an event when
// the guards satisfy When. A state and event have one Cell or more, and
// exactly one of them applies to any valuation.
type Cell[S, E ~string] struct {
	From    S
	On      E
	When    When
	To      S    // From where it stays or refuses
	Stays   bool // accepted, without a move
	Refused *Refused
	Ends    E // the report as which an open attempt ends; empty where it goes on
	Opens   time.Duration
	Forgets bool // as Rule.Forget
	Rule    int  // position in Spec.Rules
	Default bool // decided by a rule without From
}

// Cells yields every cell in table order: by state, then by event.
func (t *Table[S, E]) Cells() iter.Seq[Cell[S, E]] {
	return func(yield func(Cell[S, E]) bool) {
		for i := range t.cells {
			for ch := range t.cells[i].choices() {
				if !yield(t.cellOf(i, ch)) {
					return
				}
			}
		}
	}
}

// cellOf is the public face of a choice in the i-th cell. It is made anew each
// time: what a caller does with it cannot reach the table.
func (t *Table[S, E]) cellOf(i int, ch *choice[S, E]) Cell[S, E] {
	from := t.spec.States[i/t.width].Name
	return Cell[S, E]{From: from, On: E(t.names[i%t.width]), When: ch.when, To: ch.to,
		Stays: ch.refused == nil && ch.to == from, Refused: ch.refused, Ends: ch.ends,
		Opens: ch.opens, Forgets: ch.forget, Rule: int(ch.rule), Default: ch.fallback}
}

// Moves yields the cells that change the state.
func (t *Table[S, E]) Moves() iter.Seq[Cell[S, E]] {
	return func(yield func(Cell[S, E]) bool) {
		for c := range t.Cells() {
			if c.Refused == nil && c.To != c.From && !yield(c) {
				return
			}
		}
	}
}

// Cell is the cell that decides from, on and holds.
func (t *Table[S, E]) Cell(from S, on E, holds Guard) (Cell[S, E], bool) {
	i, j := t.states.of(string(from)), t.events.of(string(on))
	if i|j < 0 {
		return Cell[S, E]{}, false
	}
	n := i*t.width + j
	for ch := range t.cells[n].choices() {
		if ch.when.Holds(holds) {
			return t.cellOf(n, ch), true
		}
	}
	return Cell[S, E]{}, false
}

// choices yields the choices of a cell in the order of their rules.
func (c *cell[S, E]) choices() iter.Seq[*choice[S, E]] {
	return func(yield func(*choice[S, E]) bool) {
		if !yield(&c.first) {
			return
		}
		for i := range c.more {
			if !yield(&c.more[i]) {
				return
			}
		}
	}
}

// Legal lists the events that s accepts under some valuation, in table order;
// nil where s is unknown.
func (t *Table[S, E]) Legal(s S) []string {
	if i := t.states.of(string(s)); i >= 0 {
		return t.accepted(i)
	}
	return nil
}

// accepted lists the events that a state accepts under some valuation.
func (t *Table[S, E]) accepted(state int) []string {
	var legal []string
	for j, on := range t.names {
		for ch := range t.cells[state*t.width+j].choices() {
			if ch.refused == nil {
				legal = append(legal, on)
				break
			}
		}
	}
	return legal
}

// Size counts a table. Default is the number to watch when a state is added.
type Size struct{ States, Events, Rules, Pairs, Cells, Default int }

// Size counts states, events and rules, the pairs of a state and an event,
// the cells that decide them under guards, and the pairs that an event's
// default decides.
func (t *Table[S, E]) Size() Size {
	n := Size{States: len(t.spec.States), Events: t.width, Rules: len(t.spec.Rules), Pairs: len(t.cells)}
	for i := range t.cells {
		n.Cells += 1 + len(t.cells[i].more)
		if t.cells[i].first.fallback {
			n.Default++
		}
	}
	return n
}

// States yields the states in the spec's order.
func (t *Table[S, E]) States() iter.Seq[State[S, E]] { return slices.Values(t.spec.States) }

// Events yields the events in the order in which rules first name them.
func (t *Table[S, E]) Events() iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, on := range t.names {
			if !yield(E(on)) {
				return
			}
		}
	}
}

// Spec is a copy of what the table was made from, for those who derive
// another from it.
func (t *Table[S, E]) Spec() Spec[S, E] { return clone(t.spec) }

// Reports reports whether on names an attempt's epoch.
func (t *Table[S, E]) Reports(on E) bool {
	j := t.events.of(string(on))
	return j >= 0 && t.report[j]
}

// Valuations yields every combination of the guards that the cells of from
// and on use, as far as the OneOf groups allow it.
func (t *Table[S, E]) Valuations(from S, on E) iter.Seq[Guard] {
	i, j := t.states.of(string(from)), t.events.of(string(on))
	if i|j < 0 {
		return func(func(Guard) bool) {}
	}
	var used Guard
	for ch := range t.cells[i*t.width+j].choices() {
		used |= ch.when.If | ch.when.Not
	}
	return t.valuations(used)
}

// GuardNames names the guards in g, comma-separated.
func (t *Table[S, E]) GuardNames(g Guard) string { return join(uint32(g), t.spec.Guards) }

// FieldNames names the fields in f, comma-separated.
func (t *Table[S, E]) FieldNames(f Fields) string { return join(uint32(f), t.spec.Fields) }

// WhenNames renders a condition: "a, not b", or "always".
func (t *Table[S, E]) WhenNames(w When) string {
	var parts []string
	if w.If != 0 {
		parts = append(parts, strings.ReplaceAll(t.GuardNames(w.If), ",", ", "))
	}
	for g := uint32(w.Not); g != 0; g &= g - 1 {
		parts = append(parts, "not "+join(g&-g, t.spec.Guards))
	}
	if len(parts) == 0 {
		return "always"
	}
	return strings.Join(parts, ", ")
}

// join names the bits of set. A bit without a name shows, instead of vanishing
// from a page or an error.
func join(set uint32, names []string) string {
	var out []string
	for ; set != 0; set &= set - 1 {
		b := bits.TrailingZeros32(set)
		if b < len(names) {
			out = append(out, names[b])
		} else {
			out = append(out, "undeclared")
		}
	}
	return strings.Join(out, ",")
}

// String names the actuators, or "none".
func (a Actuators) String() string {
	if a == 0 {
		return "none"
	}
	return strings.ReplaceAll(join(uint32(a), []string{"power", "boot order", "disks"}), ",", ", ")
}
