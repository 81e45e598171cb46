package postgres

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// batch is a group of closures in one transaction. A closure that reads what is not
// in memory is ended there, and runs again once that was fetched along with what
// the others of its group lacked: so the closures of a group share round trips, and
// none sees anything but the truth.
type batch struct {
	w       *writer
	open    bool // the transaction has begun, and the fence was this writer's
	ended   bool
	failed  bool
	collide bool // the server gave the transaction up; all runs again
	tries   int  // of the transaction
	rounds  int  // of fetching

	known   map[string]store.Change // read in this transaction
	pages   pages
	want    map[string]bool // keys to fetch
	spans   map[span]bool   // ranges to fetch a page of
	applied writes
	err     error
}

// span is a range of keys.
type span struct{ lo, hi string }

const (
	// maxRounds is how often a group fetches what its closures lack. Then each
	// read is a round trip of its own.
	maxRounds = 10
	// maxTries is how often a transaction runs that the server gives up.
	maxTries = 5
	// maxUpsert is about how many bytes of values go into one statement.
	maxUpsert = 32 << 20
)

// missing ends a closure whose read must be fetched first. The committer takes it
// for a panic of the closure's, and drops it when the closure runs again.
type missing struct{}

func newBatch(w *writer) *batch {
	b := &batch{w: w}
	b.reset()
	return b
}

// reset forgets what was read and written.
func (b *batch) reset() {
	b.known, b.pages, b.rounds = map[string]store.Change{}, nil, 0
	b.want, b.spans = map[string]bool{}, map[span]bool{}
	b.applied = writes{}
}

// Err is the first error that a read met.
func (b *batch) Err() error { return b.err }

// Get returns what is in memory, or else fetches it.
func (b *batch) Get(key string) ([]byte, bool) {
	c, ok := b.lookup(key)
	if !ok {
		b.want[key] = true
		if !b.lack(key) {
			return nil, false
		}
		c = b.known[key]
	}
	return slices.Clip(c.Val), !c.Gone
}

// lookup finds what is known of key without asking the server.
func (b *batch) lookup(key string) (store.Change, bool) {
	if c, ok := b.applied.vals[key]; ok {
		return c, true
	}
	if c, ok := b.stored(key); ok {
		return c, true
	}
	return store.Change{Gone: true}, !printable(key)
}

// stored finds what is known of key as the server has it.
func (b *batch) stored(key string) (store.Change, bool) {
	if c, ok := b.known[key]; ok {
		return c, true
	}
	if c, ok := b.w.cache.get(key); ok {
		return c, true
	}
	_, ok := b.pages.find(key) // a key that is in a page is known
	return store.Change{Gone: true}, ok
}

// lack fetches what is wanted: now, for the committer's own reads and when there
// were many rounds already; else once all closures of the group have said what they
// lack. It reports whether it was fetched.
func (b *batch) lack(key string) bool {
	own := strings.HasPrefix(key, store.LogPrefix) || strings.HasPrefix(key, store.MetaPrefix)
	switch {
	case b.err != nil:
		return false
	case !own && (b.collide || b.rounds < maxRounds):
		panic(missing{})
	case b.collide:
		return false
	}
	err := b.fetch()
	if collided(err) {
		b.collide = true
		return false
	}
	b.err = err
	return err == nil
}

// Range reads by pages.
func (b *batch) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for at := lo; at < hi; {
			p, ok := b.page(span{at, hi})
			if !ok {
				return
			}
			end := min(p.end, hi)
			if !b.walk(p, span{at, end}, yield) {
				return
			}
			at = end
		}
	}
}

// page finds or fetches a page that covers the beginning of a span.
func (b *batch) page(s span) (page, bool) {
	if p, ok := b.w.cache.page(s); ok {
		return p, true
	}
	if p, ok := b.pages.find(s.lo); ok {
		return p, true
	}
	b.spans[s] = true
	if !b.lack(s.lo) {
		return page{}, false
	}
	return b.pages.find(s.lo)
}

// walk merges a page with what the group has written.
func (b *batch) walk(p page, s span, yield func(string, []byte) bool) bool {
	theirs, ours := within(p.keys, s), within(b.applied.sorted(), s)
	for len(theirs) > 0 || len(ours) > 0 {
		var key string
		switch {
		case len(ours) == 0 || len(theirs) > 0 && theirs[0] < ours[0]:
			key, theirs = theirs[0], theirs[1:]
		case len(theirs) > 0 && theirs[0] == ours[0]:
			key, theirs, ours = ours[0], theirs[1:], ours[1:]
		default:
			key, ours = ours[0], ours[1:]
		}
		c, written := b.applied.vals[key]
		if !written {
			c, _ = b.stored(key)
		}
		if !c.Gone && !yield(key, slices.Clip(c.Val)) {
			return false
		}
	}
	return true
}

// Apply keeps what a closure changed, until Settle.
func (b *batch) Apply(changes iter.Seq2[string, store.Change]) error {
	for k, c := range changes {
		if k == "" || !printable(k) {
			return &store.Misuse{Why: fmt.Sprintf("the key %q is not printable ASCII", k)}
		}
		b.applied.set(k, store.Change{Val: bytes.Clone(c.Val), Gone: c.Gone})
	}
	return nil
}

// Settle fetches what the closures lacked, and has them run again; or sends what
// they wrote. See store.Settler.
func (b *batch) Settle() (again bool, err error) {
	if !b.collide {
		if len(b.want)+len(b.spans) > 0 {
			again, err = true, b.fetch()
			b.applied = writes{}
			b.rounds++
		} else {
			err = b.flush()
		}
		b.collide = collided(err)
	}
	if b.collide {
		return b.restart(err)
	}
	return again, err
}

// restart begins the transaction anew, on a blank memory: what the group read may
// have been changed by hand.
func (b *batch) restart(err error) (bool, error) {
	if b.tries++; b.tries >= maxTries {
		return false, fmt.Errorf("postgres: another session is in the way, %d times: %w", b.tries, err)
	}
	b.collide = false
	b.undo()
	b.w.cache.drop()
	b.reset()
	return true, b.w.blank(context.Background())
}
