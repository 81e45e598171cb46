package statemachinetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine"
	"pgregory.net/rapid"
)

// Machine drives a subject, by the shortest way to every row of its table and
// then by random events, and judges each step by the Laws. It returns what it
// covered; most callers then demand all: Machine(t, s).Require(t).
func Machine[R any, S, E ~string](t testing.TB, s Subject[R, S, E]) *Cover[S, E] {
	t.Helper()
	return drive(t, s, Laws[R, S, E]())
}

// drive is Machine under some laws only, so that each can be tried alone. A tour
// that fails ends the drive: random events would find the same, and say it worse.
func drive[R any, S, E ~string](t testing.TB, s Subject[R, S, E], laws []Law[R, S, E]) *Cover[S, E] {
	t.Helper()
	cover := NewCover(s.Table)
	if err := tour(&s, laws, cover); err != nil {
		t.Errorf("%s: %v", s.Table.Name(), err)
		return cover
	}
	rapid.Check(t, func(t *rapid.T) {
		d := newDriver(&s, laws, cover)
		t.Repeat(map[string]func(*rapid.T){"step": func(t *rapid.T) {
			if err := d.random(t); err != nil {
				t.Fatal(err)
			}
		}})
	})
	return cover
}

// driver steps one record and keeps its clock and epochs, as a site would: the
// Step under test has neither.
type driver[R any, S, E ~string] struct {
	*Subject[R, S, E]
	laws  []Law[R, S, E]
	cover *Cover[S, E]
	spec  statemachine.Spec[S, E]
	rec   R
	now   time.Time
	epoch uint64 // the last one given
}

// newDriver begins with a fresh record, clock and epoch: nothing is left over
// from another run.
func newDriver[R any, S, E ~string](s *Subject[R, S, E], laws []Law[R, S, E], cover *Cover[S, E]) *driver[R, S, E] {
	d := &driver[R, S, E]{Subject: s, laws: laws, cover: cover, spec: s.Table.Spec(), rec: s.Start(), now: epochZero}
	d.epoch = s.At(d.rec).Epoch
	return d
}

// step takes one step and judges it. The record moves on if it succeeds.
func (d *driver[R, S, E]) step(ev statemachine.Event[E], holds statemachine.Guard) error {
	k := d.take(d.rec, ev, holds, d.now)
	if err := k.judge(d.laws); err != nil {
		return err
	}
	if k.Err == nil {
		d.rec, d.epoch = k.After, max(d.epoch, k.Is.Epoch)
		if !k.repeat() {
			d.cover.Saw(k.Was.State, ev.On, k.Holds, k.Is.State)
		}
	}
	return nil
}

// judge returns the first law that is broken, with all that it takes to make the
// step again by hand.
func (k Taken[R, S, E]) judge(laws []Law[R, S, E]) error {
	for _, law := range laws {
		if err := law.Check(k); err != nil {
			return fmt.Errorf("%s: %w\n%s in %+v, event %+v, guards {%s}, at %s", law.Name, err,
				k.Event.On, k.Before, k.Event, k.Subject.Table.GuardNames(k.Holds), k.Now)
		}
	}
	return nil
}

// random draws one step: often one that the table accepts, sometimes a late,
// repeated or unknown one.
func (d *driver[R, S, E]) random(t *rapid.T) error {
	at := d.At(d.rec)
	d.pass(t, at)
	ev := statemachine.Event[E]{Next: d.epoch + 1}
	if rapid.IntRange(0, 9).Draw(t, "next") == 0 {
		ev.Next = rapid.Uint64Range(0, d.epoch).Draw(t, "old next")
	}
	if rapid.IntRange(0, 9).Draw(t, "within") == 0 {
		ev.Within = time.Minute
	}
	cell := d.aim(t, at)
	ev.On = cell.On
	if d.Table.Reports(ev.On) {
		ev.Epoch = rapid.SampledFrom([]uint64{at.Epoch, at.Epoch, at.Epoch, 0, d.epoch, d.epoch + 1, at.Epoch - min(at.Epoch, 1), at.Before.Epoch}).Draw(t, "epoch")
	}
	if rapid.IntRange(0, 19).Draw(t, "strange") == 0 {
		return d.strange(ev)
	}
	return d.step(ev, d.wish(t, cell.When))
}

// aim picks a cell of the current state, or the report that decided its last
// attempt or the one before, or an event that nobody knows.
func (d *driver[R, S, E]) aim(t *rapid.T, at statemachine.At[S, E]) statemachine.Cell[S, E] {
	n := rapid.IntRange(0, 19).Draw(t, "aim")
	if n == 0 {
		return statemachine.Cell[S, E]{On: "no-such-event"}
	}
	if n < 3 && at.Ended != "" {
		return statemachine.Cell[S, E]{On: at.Ended}
	}
	if n < 4 && at.Before.By != "" {
		return statemachine.Cell[S, E]{On: at.Before.By}
	}
	var all, accepting []statemachine.Cell[S, E]
	for c := range d.Table.Cells() {
		if c.From != at.State {
			continue
		}
		all = append(all, c)
		if c.Refused == nil {
			accepting = append(accepting, c)
		}
	}
	if n > 8 && len(accepting) > 0 {
		all = accepting
	}
	return rapid.SampledFrom(all).Draw(t, "cell")
}

// pass lets time pass: none, a little, up to the deadline or beyond. Mistakes
// live around a deadline, so a third of the time is a nanosecond before it, or it.
func (d *driver[R, S, E]) pass(t *rapid.T, at statemachine.At[S, E]) {
	switch n := rapid.IntRange(0, 5).Draw(t, "pass"); {
	case n > 2:
		d.now = d.now.Add(time.Second)
	case n > 0 && at.Deadline.After(d.now):
		d.now = at.Deadline.Add(time.Duration(n-2) * time.Nanosecond)
	}
}

// wish draws guards under which w holds, as far as the groups allow it.
func (d *driver[R, S, E]) wish(t *rapid.T, w statemachine.When) statemachine.Guard {
	all := statemachine.Guard(1<<len(d.spec.Guards) - 1)
	g := statemachine.Guard(rapid.Uint32().Draw(t, "guards"))
	return settle(d.spec.OneOf, g&all, w)
}

// settle changes g so that w holds, with exactly one guard of each group: what w
// wants, else what g has, else the lowest that w allows.
func settle(groups []statemachine.Guard, g statemachine.Guard, w statemachine.When) statemachine.Guard {
	g = g&^w.Not | w.If
	for _, group := range groups {
		want := w.If & group
		if want == 0 {
			want = g & group
		}
		if want == 0 {
			want = group &^ w.Not
		}
		g = g&^group | want&-want // its lowest
	}
	return g
}

// strange steps a record whose state no version knows, if there can be one;
// the drive's own stays.
func (d *driver[R, S, E]) strange(ev statemachine.Event[E]) error {
	if d.In == nil {
		return nil
	}
	if events := slices.Collect(d.Table.Events()); !slices.Contains(events, ev.On) {
		ev.On = events[0]
	}
	k := d.take(d.In("no-such-state"), ev, 0, d.now)
	return k.judge(d.laws)
}
