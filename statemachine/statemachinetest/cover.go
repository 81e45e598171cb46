package statemachinetest

import (
	"fmt"
	"testing"

	"github.com/ingotmetal/ingot/statemachine"
)

// Cover remembers which rows of a table a test took. A row is a cell: a state,
// an event and a condition. It is not safe for concurrent use.
//
// Random tests take rare rows by luck. [Machine] also goes to each on purpose,
// so that what it covers does not depend on a seed.
type Cover[S, E ~string] struct {
	table *statemachine.Table[S, E]
	taken map[row[S, E]]bool
}

// row identifies a cell of the table. The rule behind it would not do: one rule
// decides many states, and each must be tried.
type row[S, E ~string] struct {
	from S
	on   E
	when statemachine.When
}

// NewCover starts with no row taken. A refusing row need not be taken: whether it
// refuses is up to Matrix, and the laws see to the rest.
func NewCover[S, E ~string](table *statemachine.Table[S, E]) *Cover[S, E] {
	return &Cover[S, E]{table: table, taken: map[row[S, E]]bool{}}
}

// Saw notes a step that succeeded, and reports whether the table leads from,
// by on, to to when holds. A report that leaves its state may be a repeat: it
// is believed and takes no row.
func (c *Cover[S, E]) Saw(from S, on E, holds statemachine.Guard, to S) bool {
	cell, ok := c.table.Cell(from, on, holds)
	if !ok {
		return false
	}
	if cell.Refused != nil || cell.To != to {
		return to == from && c.table.Reports(on)
	}
	c.taken[row[S, E]{from, on, cell.When}] = true
	return true
}

// Missing lists the rows that accept their event and were never taken, in
// table order.
func (c *Cover[S, E]) Missing() (out []string) {
	for cell := range c.table.Cells() {
		if cell.Refused == nil && !c.taken[row[S, E]{cell.From, cell.On, cell.When}] {
			out = append(out, fmt.Sprintf("%s --%s--> %s, %s", cell.From, cell.On, cell.To, c.table.WhenNames(cell.When)))
		}
	}
	return out
}

// Require fails t with every row that accepts its event and was never taken.
func (c *Cover[S, E]) Require(t testing.TB) {
	t.Helper()
	for _, missing := range c.Missing() {
		t.Errorf("%s: row never taken: %s", c.table.Name(), missing)
	}
}
