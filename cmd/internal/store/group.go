package store

import (
	"iter"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// group is a batch in progress with the log as it will be.
type group struct {
	Batch
	head, base journal.Head
	wrote      bool
	kept       int // closures that were not refused
}

// settled runs the closures of a group, and writes where the log ends then. True
// means that they have to run again.
func (g *group) settled(o *overlay, jobs []*job) (again bool, err error) {
	for _, j := range jobs {
		if err := g.run(o, j); err != nil {
			return false, err
		}
	}
	if g.wrote {
		if err := g.Apply(g.heads()); err != nil {
			return false, err
		}
	}
	if s, ok := g.Batch.(Settler); ok {
		return s.Settle()
	}
	return false, nil
}

// run runs one closure on the batch. What the closure refuses is its own outcome;
// an error is the batch's.
func (g *group) run(o *overlay, j *job) error {
	o.reset(g.head, g.base)
	j.rev = Rev(g.head.Revision)
	if j.err = call(o, j); j.err == nil && j.panic == nil {
		j.err = o.finish()
	}
	if err := g.Err(); err != nil {
		return err
	}
	if j.err != nil || j.panic != nil {
		return nil
	}
	row, head, err := g.seal(o)
	if err != nil {
		j.err = err
		return nil
	}
	g.kept++
	return g.apply(o, j, row, head)
}

// call runs the closure. A panic is its caller's, not the committer's.
func call(o *overlay, j *job) (err error) {
	returned := false
	defer func() {
		j.panic = recover()
		j.exit = !returned && j.panic == nil
	}()
	err = j.fn(o)
	returned = true
	return err
}

// seal makes the closure's row of the log; nil where it logged nothing.
func (g *group) seal(o *overlay) ([]byte, journal.Head, error) {
	if o.entry == nil {
		return nil, g.head, nil
	}
	row, head, err := g.head.Append(journal.Entry{Time: o.entry.Time, Actor: o.entry.Actor, Facts: o.entry.Facts, Keys: o.touched()})
	if err != nil {
		return nil, g.head, err
	}
	raw, err := row.MarshalBinary()
	return raw, head, err
}

// apply writes what the closure changed, its row, and what it trims.
func (g *group) apply(o *overlay, j *job, row []byte, head journal.Head) error {
	if len(o.keys) > 0 {
		g.wrote = true
		if err := g.Apply(o.changes()); err != nil {
			return err
		}
	}
	if row != nil {
		g.wrote = true
		j.rev, g.head = Rev(head.Revision), head
		if err := g.Apply(one(LogKey(j.rev), Change{Val: row})); err != nil {
			return err
		}
	}
	return g.trim(o.trim)
}

// trim drops old rows of the log and moves the base.
func (g *group) trim(to Rev) error {
	if to <= Rev(g.base.Revision) {
		return nil
	}
	last, ok := g.Get(LogKey(to))
	if !ok {
		return g.Err()
	}
	row, err := journal.ParseRow(last)
	if err != nil {
		return err
	}
	var old []string
	for k := range g.Range(LogPrefix, LogKey(to+1)) {
		old = append(old, k)
	}
	g.wrote = true
	g.base = journal.Head{Revision: uint64(to), Hash: row.Hash()}
	return g.Apply(func(yield func(string, Change) bool) {
		for _, k := range old {
			if !yield(k, Change{Gone: true}) {
				return
			}
		}
	})
}

// heads are the rows that say where the log ends and begins.
func (g *group) heads() iter.Seq2[string, Change] {
	return func(yield func(string, Change) bool) {
		if yield(metaBase, Change{Val: []byte(g.base.String())}) {
			yield(metaHead, Change{Val: []byte(g.head.String())})
		}
	}
}

func one(key string, c Change) iter.Seq2[string, Change] {
	return func(yield func(string, Change) bool) { yield(key, c) }
}
