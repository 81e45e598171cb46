package statemachinetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
)

// place is where a tour may stand: in a state, with an open attempt or not. What
// a record remembers of past attempts decides no cell, and is left out.
type place[S ~string] struct {
	state S
	open  bool
}

// tour takes every cell once, each on a fresh record that first goes the
// shortest way to it, and tries beside each what may go wrong there. Cells that
// no way reaches are left to Cover.
func tour[R any, S, E ~string](s *Subject[R, S, E], laws []Law[R, S, E], cover *Cover[S, E]) error {
	ways := routes(s)
	for c := range s.Table.Cells() {
		way, ok := shortest(ways, s.Table, c)
		if !ok {
			continue
		}
		d := newDriver(s, laws, cover)
		for _, next := range way {
			if err := d.leg(next); err != nil {
				return fmt.Errorf("on the way to %s, %s: %w", c.From, c.On, err)
			}
		}
		if err := d.visit(c); err != nil {
			return err
		}
	}
	return nil
}

// visit takes a cell after its mishaps, and then once more: a report repeats.
// Mishaps are judged and not taken, so that the record stands where the cell is.
func (d *driver[R, S, E]) visit(c statemachine.Cell[S, E]) error {
	at, holds, ev := d.At(d.rec), settle(d.spec.OneOf, 0, c.When), d.meant(c)
	for _, mishap := range mishaps(ev, at) {
		if err := d.try(mishap, holds, d.now); err != nil {
			return err
		}
	}
	late := d.try(ev, holds, at.Deadline.Add(time.Second)) // long ago where no attempt is open
	if err := errors.Join(late, d.strange(ev), d.leg(c)); err != nil {
		return err
	}
	return d.try(ev, holds, d.now)
}

// mishaps are what an event should not be: too early, with another epoch,
// opening an attempt with a used one or for a moment, unknown; and, beside it,
// the repeats of what decided this attempt and the one before.
func mishaps[S, E ~string](ev statemachine.Event[E], at statemachine.At[S, E]) []statemachine.Event[E] {
	none, next, last, used, brief, unknown, again, before := ev, ev, ev, ev, ev, ev, ev, ev
	none.Epoch, next.Epoch, last.Epoch = 0, at.Epoch+1, at.Epoch-min(at.Epoch, 1)
	used.Next, brief.Within, unknown.On = at.Epoch, time.Second, "no-such-event"
	out := []statemachine.Event[E]{ev, none, next, last, used, brief, unknown}
	if again.On, again.Epoch = at.Ended, at.Epoch; again.On != "" {
		out = append(out, again)
	}
	if before.On, before.Epoch = at.Before.By, at.Before.Epoch; before.On != "" {
		out = append(out, before)
	}
	return out
}

// try judges a step and does not take it: the record stays, and so does Cover.
func (d *driver[R, S, E]) try(ev statemachine.Event[E], holds statemachine.Guard, now time.Time) error {
	return d.take(d.rec, ev, holds, now).judge(d.laws)
}

// leg takes a cell as it is meant: in time, with the right epoch.
func (d *driver[R, S, E]) leg(c statemachine.Cell[S, E]) error {
	at := d.At(d.rec)
	if _, expire, due := d.Table.Due(at); due && expire == c.On && at.Deadline.After(d.now) {
		d.now = at.Deadline
	}
	return d.step(d.meant(c), settle(d.spec.OneOf, 0, c.When))
}

// meant is the event of a cell with the epochs that it should have.
func (d *driver[R, S, E]) meant(c statemachine.Cell[S, E]) statemachine.Event[E] {
	ev := statemachine.Event[E]{On: c.On, Next: d.epoch + 1}
	if d.Table.Reports(c.On) {
		ev.Epoch = d.At(d.rec).Epoch
	}
	return ev
}

// routes finds the shortest way from the subject's start to every place. An
// attempt counts for the way: a report can be taken only where one is open, and
// a stable state may have none. So it searches places, not states.
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
