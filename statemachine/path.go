package statemachine

import "slices"

// place is where a path may pass: a state, with an open attempt or without. A
// report and an expiry are legal only with one, so states alone would not do.
type place[S ~string] struct {
	state S
	open  bool
}

// Path is a shortest way from at to a state: cells to take one after another,
// each with the event to raise and the guards that must hold. It is empty at
// the state itself. There is none, and ok is false, where no events lead there
// or a state is unknown.
//
// It takes every guard for one that can be made to hold, and every report for
// one that will come. It may lead through absence, where the record is lost.
func (t *Table[S, E]) Path(at At[S, E], to S) (path []Cell[S, E], ok bool) {
	start := place[S]{at.State, t.Open(at)}
	ways := map[place[S]][]Cell[S, E]{start: {}}
	for queue := []place[S]{start}; len(queue) > 0 && t.Knows(at.State); queue = queue[1:] {
		here := queue[0]
		if here.state == to {
			return ways[here], true
		}
		for c := range t.Cells() {
			if c.From != here.state || !t.passable(c, here.open) {
				continue
			}
			there := t.arrive(c, here.open)
			if _, known := ways[there]; !known {
				ways[there] = append(slices.Clip(ways[here]), c) // never into a sibling's way
				queue = append(queue, there)
			}
		}
	}
	return nil, false
}

// passable reports whether c can be taken with, or without, an open attempt.
func (t *Table[S, E]) passable(c Cell[S, E], open bool) bool {
	attempt := t.Reports(c.On) || t.info[t.states.of(string(c.From))].expire == c.On
	return c.Refused == nil && (open || !attempt)
}

// arrive is the place to which a passable c leads. What ends an attempt and
// stays is not worth a place: with the attempt, all is legal that is without.
func (t *Table[S, E]) arrive(c Cell[S, E], open bool) place[S] {
	into := t.info[t.states.of(string(c.To))].inFlight
	return place[S]{c.To, into || c.Opens > 0 || open && c.To == c.From}
}
