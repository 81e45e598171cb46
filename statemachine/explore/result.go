package explore

import (
	"cmp"
	"fmt"
	"slices"
)

// Result counts what a run walked. Beside an error it counts up to there.
type Result struct {
	Model    string
	Closed   bool    // every reachable state was seen, and no invariant broken
	States   int     // distinct keys
	Steps    int     // inputs tried
	Accepted int     // of which Step accepted
	Depth    int     // inputs on the shortest way to the farthest state
	Widest   int     // states in the widest layer
	Bytes    int64   // memory of the walk at its peak, as estimated
	Events   []Tally // by Model.Event, sorted by name
	Rows     []Tally // by Model.Row, sorted by name
}

// Tally counts how often one name came up.
type Tally struct {
	Name            string
	Tried, Accepted int
}

// String sums the result up in a line.
func (r Result) String() string {
	closed := "closed"
	if !r.Closed {
		closed = "not closed"
	}
	return fmt.Sprintf("%s: %d states, %d steps (%d accepted), depth %d, widest layer %d, about %d MiB, %s",
		r.Model, r.States, r.Steps, r.Accepted, r.Depth, r.Widest, r.Bytes>>20, closed)
}

// Dead lists, sorted, the events that no state accepted: those that were
// tried, and those of events, which may never have been tried.
func (r Result) Dead(events ...string) []string {
	dead := slices.Clone(events)
	for _, t := range r.Events {
		dead = append(dead, t.Name)
	}
	dead = slices.DeleteFunc(dead, func(name string) bool {
		t, _ := find(r.Events, name)
		return t.Accepted > 0
	})
	slices.Sort(dead)
	return slices.Compact(dead)
}

// Missing lists those of rows that decided nothing, in their order.
func (r Result) Missing(rows ...string) []string {
	return slices.DeleteFunc(slices.Clone(rows), func(name string) bool {
		_, ok := find(r.Rows, name)
		return ok
	})
}

// find looks a name up in sorted tallies.
func find(sorted []Tally, name string) (Tally, bool) {
	i, ok := slices.BinarySearchFunc(sorted, name, func(t Tally, name string) int { return cmp.Compare(t.Name, name) })
	if !ok {
		return Tally{}, false
	}
	return sorted[i], true
}

// tallies counts by name while a run goes on.
type tallies map[string]*Tally

// count notes one try under name.
func (t tallies) count(name string, accepted bool) {
	c := t[name]
	if c == nil {
		c = &Tally{Name: name}
		t[name] = c
	}
	c.Tried++
	if accepted {
		c.Accepted++
	}
}

// sorted returns the counts by name.
func (t tallies) sorted() []Tally {
	var all []Tally
	for _, c := range t {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b Tally) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
