package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

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

// fetch reads what is wanted in one round trip.
func (b *batch) fetch() error {
	keys := slices.Sorted(maps.Keys(b.want))
	spans := slices.Collect(maps.Keys(b.spans))
	clear(b.want)
	clear(b.spans)
	return b.trip(func(q *pgx.Batch) {
		if len(keys) > 0 {
			q.Queue(b.w.o.sql.get, keys).Query(func(rows pgx.Rows) error { return b.learn(keys, rows) })
		}
		for _, s := range spans {
			q.Queue(b.w.o.sql.page, bound(s.lo), bound(s.hi)).Query(func(rows pgx.Rows) error { return b.turn(s, rows) })
		}
	})
}

// learn takes in the rows of some keys. What is not there is absent.
func (b *batch) learn(keys []string, rows pgx.Rows) error {
	for _, k := range keys {
		b.known[k] = store.Change{Gone: true}
	}
	if err := eachRow(rows, func(k string, v []byte) { b.known[k] = store.Change{Val: v} }); err != nil {
		return err
	}
	for _, k := range keys {
		b.w.cache.put(k, b.known[k])
	}
	return nil
}

// turn takes in a page of a range.
func (b *batch) turn(s span, rows pgx.Rows) error {
	p := page{lo: s.lo, end: s.hi}
	err := eachRow(rows, func(k string, v []byte) {
		b.known[k] = store.Change{Val: v}
		p.keys = append(p.keys, k)
	})
	if len(p.keys) == pageRows {
		p.end = p.keys[pageRows-1] + "\x00"
	}
	if err == nil {
		b.pages.add(p)
	}
	return err
}

// flush sends what the group wrote, and checks the fence where that was not done.
func (b *batch) flush() error {
	puts, gone := b.difference()
	if b.open && len(puts)+len(gone) == 0 {
		return nil
	}
	return b.trip(func(q *pgx.Batch) {
		for len(puts) > 0 {
			n := chunk(puts, b.applied.vals)
			vals := make([][]byte, n)
			for i, k := range puts[:n] {
				vals[i] = b.applied.vals[k].Val
			}
			q.Queue(b.w.o.sql.upsert, puts[:n], vals)
			puts = puts[n:]
		}
		if len(gone) > 0 {
			q.Queue(b.w.o.sql.remove, gone)
		}
	})
}

// difference is what the server does not have as the group wrote it.
func (b *batch) difference() (puts, gone []string) {
	for _, k := range b.applied.sorted() {
		c := b.applied.vals[k]
		was, known := b.stored(k)
		switch {
		case known && was.Gone == c.Gone && bytes.Equal(was.Val, c.Val):
		case c.Gone:
			gone = append(gone, k)
		default:
			puts = append(puts, k)
		}
	}
	return puts, gone
}

// chunk is how many of keys go into one statement.
func chunk(keys []string, vals map[string]store.Change) int {
	size := 0
	for i, k := range keys {
		if size += len(vals[k].Val); size > maxUpsert {
			return max(i, 1)
		}
	}
	return len(keys)
}

// trip is one round trip. The first one of a batch begins the transaction and
// checks the fence, which it locks until the end.
func (b *batch) trip(queue func(*pgx.Batch)) error {
	q := &pgx.Batch{}
	if !b.open {
		b.open = true
		q.Queue(`begin isolation level repeatable read`)
		q.Queue(b.w.o.sql.fence).QueryRow(func(row pgx.Row) error {
			var h Holder
			if err := row.Scan(&h.Fence, &h.Writer, &h.Since); err != nil {
				return err
			}
			return b.w.owns(h)
		})
	}
	queue(q)
	ctx, cancel := b.w.call(context.Background())
	defer cancel()
	err := b.w.conn.SendBatch(ctx, q).Close()
	b.failed = b.failed || err != nil
	return err
}

// Commit makes durable what Settle sent. Of an error nobody knows whether it did.
func (b *batch) Commit() error {
	defer b.end()
	ctx, cancel := b.w.call(context.Background())
	defer cancel()
	b.w.warning = ""
	b.failed = true
	done, err := b.w.conn.PgConn().Exec(ctx, "commit").ReadAll()
	switch {
	case err != nil:
		return err
	case len(done) != 1 || done[0].CommandTag.String() != "COMMIT":
		return errors.New("postgres: the server did not commit")
	case b.w.warning != "": // such as: it is not on the standby that was to have it
		return errors.New("postgres: " + b.w.warning)
	}
	b.failed = false
	return b.acknowledge()
}

// acknowledge takes in what is durable now.
func (b *batch) acknowledge() error {
	for k, c := range b.applied.vals {
		b.w.cache.put(k, c)
	}
	head, _, err := store.Heads(b.w.o.Log, func(key string) ([]byte, bool) {
		c, ok := b.applied.vals[key]
		return c.Val, ok
	})
	b.w.head = head
	return err
}

// Rollback drops the batch. After Commit it does nothing.
func (b *batch) Rollback() {
	if !b.ended {
		b.undo()
		b.end()
	}
}

// undo ends the transaction. A connection on which that fails is given up.
func (b *batch) undo() {
	if !b.open {
		return
	}
	b.open = false
	ctx, cancel := b.w.call(context.Background())
	defer cancel()
	if _, err := b.w.conn.Exec(ctx, "rollback"); err != nil {
		b.w.drop()
	}
}

// end gives the connection back. After a failure the memory is blank.
func (b *batch) end() {
	if b.ended {
		return
	}
	b.ended = true
	if b.failed {
		b.w.cache.drop()
	}
	b.w.mu.Unlock()
}
