package statemachinetest

import (
	"fmt"

	"github.com/ingotmetal/ingot/statemachine"
)

// place is where a tour may stand: in a state, with an open attempt or not.
type place[S ~string] struct {
	state S
	open  bool
}

// tour takes every cell once, each on a fresh record that first goes the
// shortest way to it. Cells that no way reaches are left to Cover.
func tour[R any, S, E ~string](s *Subject[R, S, E], laws []Law[R, S, E], cover *Cover[S, E]) error {
	ways := routes(s)
	for c := range s.Table.Cells() {
		way, ok := shortest(ways, s.Table, c)
		if !ok {
			continue
		}
		d := newDriver(s, laws, cover)
		for _, next := range append(way[:len(way):len(way)], c) {
			if err := d.leg(next); err != nil {
				return fmt.Errorf("on the way to %s, %s: %w", c.From, c.On, err)
			}
		}
	}
	return nil
}

// leg takes a cell as it is meant: in time, with the right epoch.
func (d *driver[R, S, E]) leg(c statemachine.Cell[S, E]) error {
	at := d.At(d.rec)
	ev := statemachine.Event[E]{On: c.On, Next: d.epoch + 1}
	if d.Table.Reports(c.On) {
		ev.Epoch = at.Epoch
	}
	if _, expire, due := d.Table.Due(at); due && expire == c.On && at.Deadline.After(d.now) {
		d.now = at.Deadline
	}
	return d.step(ev, settle(d.spec.OneOf, 0, c.When))
}

// An attempt counts for the way: a report can be taken only where one is open,
// and a stable state may have none. So a tour searches places, not states.

// routes finds the shortest way from the subject's start to every place.
func routes[R any, S, E ~string](s *Subject[R, S, E]) map[place[S]][]statemachine.Cell[S, E] {
	start := s.At(s.Start())
	first := place[S]{start.State, s.Table.Open(start)}
	ways := map[place[S]][]statemachine.Cell[S, E]{first: {}}
	for queue := []place[S]{first}; len(queue) > 0; queue = queue[1:] {
		here := queue[0]
		for c := range s.Table.Cells() {
			if c.From != here.state || !passable(s.Table, c, here.open) {
				continue
			}
			there := arrive(s.Table, c, here.open)
			if _, known := ways[there]; !known {
				ways[there] = append(ways[here][:len(ways[here]):len(ways[here])], c)
				queue = append(queue, there)
			}
		}
	}
	return ways
}

// passable reports whether a cell can be taken with, or without, an attempt.
func passable[S, E ~string](table *statemachine.Table[S, E], c statemachine.Cell[S, E], open bool) bool {
	needs := table.Reports(c.On)
	for st := range table.States() {
		needs = needs || st.Name == c.From && st.Expire == c.On
	}
	return c.Refused == nil && (open || !needs)
}

// arrive is the place to which a passable cell leads.
func arrive[S, E ~string](table *statemachine.Table[S, E], c statemachine.Cell[S, E], open bool) place[S] {
	switch {
	case c.Opens > 0 || table.Open(statemachine.At[S, E]{State: c.To}):
		open = true
	case c.To != c.From || c.Ends != "" || c.Forgets:
		open = false
	}
	return place[S]{c.To, open}
}

// shortest is the shorter way to a place where c can be judged.
func shortest[S, E ~string](ways map[place[S]][]statemachine.Cell[S, E], table *statemachine.Table[S, E], c statemachine.Cell[S, E]) (best []statemachine.Cell[S, E], ok bool) {
	for _, open := range []bool{false, true} {
		way, known := ways[place[S]{c.From, open}]
		if known && (c.Refused != nil || passable(table, c, open)) && (!ok || len(way) < len(best)) {
			best, ok = way, true
		}
	}
	return best, ok
}
