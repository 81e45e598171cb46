package storetest

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

func logMutants() []mutant {
	return []mutant{
		{"a row is what was logged, with the keys that were written", "an equal write is not noted", writing(func(t *tx) {
			t.put = func(key string, val []byte) {
				if was, there := t.Get(key); !there || !bytes.Equal(was, val) {
					t.Tx.Put(key, val)
				}
			}
		})},
		{"a row is what was logged, with the keys that were written", "deletes are not noted", applying(true, func(row *journal.Row) {
			row.Keys = slices.DeleteFunc(row.Keys, func(k string) bool { return k == "gone" })
		})},
		{"a row is what was logged, with the keys that were written", "the ledger is noted", applying(true, func(row *journal.Row) {
			row.Keys = append(row.Keys, store.LedgerPrefix+"seen")
			slices.Sort(row.Keys)
		})},
		{"a row is what was logged, with the keys that were written", "facts are in another order", applying(true, func(row *journal.Row) {
			slices.Reverse(row.Facts)
		})},
		{"a row is what was logged, with the keys that were written", "times are cut to seconds", writing(func(t *tx) {
			t.log = func(e store.Entry) { e.Time = e.Time.Truncate(time.Second); t.Tx.Log(e) }
		})},
		{"a row is what was logged, with the keys that were written", "what is like the ledger is not noted", ledgerLike()},
		{"revisions have no gap", "the store writes rows of its own", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			rev, err := next(ctx, fn)
			if err == nil {
				_, err = next(ctx, func(tx store.Tx) error { tx.Log(told("housekeeping")); return nil })
			}
			return rev, err
		})},
		{"revisions have no gap", "a refused closure takes a revision", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			rev, err := next(ctx, fn)
			if err != nil {
				_, _ = next(ctx, func(tx store.Tx) error { tx.Log(told("refused")); return nil })
			}
			return rev, err
		})},
		{"revisions have no gap", "the newest revision is returned, not one's own", opening(func(d *Disk, s *spoiled) {
			s.update = func(ctx ctx, fn func(store.Tx) error) (store.Rev, error) {
				rev, err := s.Store.Update(ctx, fn)
				if err == nil {
					time.Sleep(100 * time.Microsecond)
					rev = store.Rev(d.snapshot().Head().Revision)
				}
				return rev, err
			}
		})},
		{"the log is one chain", "a row does not name the one before", applying(false, func(row *journal.Row) {
			if row.Revision == 3 {
				row.Prev = journal.Hash{}
			}
		})},
		{"the log is one chain", "a row is written over", applying(false, func(row *journal.Row) {
			if row.Revision%8 == 0 {
				row.Actor = "another"
			}
		})},
		{"followers see each row once, in order, with its keys", "a row is seen before its keys", engines(rowsFirst)},
		{"followers see each row once, in order, with its keys", "a row is seen before the one before it", opening(swapped)},
		{"Changed fires at the next row", "Changed never fires", opening(func(_ *Disk, s *spoiled) {
			s.changed = func(store.Rev) <-chan struct{} { return make(chan struct{}) }
		})},
		{"Changed fires at the next row", "Changed fires always", opening(func(_ *Disk, s *spoiled) {
			c := make(chan struct{})
			close(c)
			s.changed = func(store.Rev) <-chan struct{} { return c }
		})},
		{"Changed fires at the next row", "a row that was there does not count", opening(func(d *Disk, s *spoiled) {
			s.changed = func(store.Rev) <-chan struct{} { return s.Store.Changed(store.Rev(d.snapshot().Head().Revision)) }
		})},
	}
}

// applying spoils rows as they are written. Where the chain is linked anew, it
// verifies all the same.
func applying(link bool, spoil func(*journal.Row)) func() Subject {
	return func() Subject {
		var last journal.Head
		return engines(func(_ *Disk, e *engine) {
			e.apply = func(changes iter.Seq2[string, store.Change]) error {
				return e.batch.Apply(func(yield func(string, store.Change) bool) {
					for k, c := range changes {
						if row, err := journal.ParseRow(c.Val); err == nil && strings.HasPrefix(k, store.LogPrefix) {
							if link && last.Revision > 0 {
								row.Prev = last.Hash
							}
							spoil(&row)
							c.Val, _ = row.MarshalBinary()
							last = journal.Head{Revision: row.Revision, Hash: row.Hash()}
						}
						if link && k == store.MetaPrefix+"head" && last.Revision > 0 {
							c.Val = []byte(last.String())
						}
						if !yield(k, c) {
							return
						}
					}
				})
			}
		})()
	}
}

// ledgerLike takes all keys that begin as the ledger does for the ledger's.
func ledgerLike() func() Subject {
	return writing(func(t *tx) {
		t.put = func(key string, val []byte) {
			if key != "ledger" {
				t.Tx.Put(key, val)
			}
		}
	})
}

// rowsFirst makes rows durable in a commit before their keys.
func rowsFirst(d *Disk, e *engine) {
	e.commit = func() error {
		whole, rows := e.root, d.snapshot().root
		whole.walk(store.LogPrefix, store.MetaPrefix+"~", func(k string, v []byte) bool {
			if kept(k) {
				rows = rows.put(k, v)
			}
			return true
		})
		e.root = rows
		if err := e.batch.Commit(); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
		e.root = whole
		return e.batch.Commit()
	}
}

// swapped has views meet the two newest rows in the wrong order.
func swapped(_ *Disk, s *spoiled) {
	s.view = func(ctx ctx, fn func(store.Reader) error) error {
		return s.Store.View(ctx, func(r store.Reader) error {
			return fn(&reader{r, r.Get, func(lo, hi string) iter.Seq2[string, []byte] {
				all := listed(r.Range(lo, hi))
				if n := len(all); strings.HasPrefix(lo, store.LogPrefix) && n > 1 {
					all[n-1], all[n-2] = all[n-2], all[n-1]
				}
				return yields(all)
			}})
		})
	}
}

func viewMutants() []mutant {
	return []mutant{
		{"a view is a snapshot", "each read sees what is newest", opening(func(d *Disk, s *spoiled) {
			s.view = func(_ ctx, fn func(store.Reader) error) error { return fn(&newest{d}) }
		})},
		{"a view is a snapshot", "the head is newer than the rows", opening(func(d *Disk, s *spoiled) {
			s.view = func(ctx ctx, fn func(store.Reader) error) error {
				return s.Store.View(ctx, func(r store.Reader) error { return fn(newHead{r, d}) })
			}
		})},
		{"a view shows nothing that is not durable", "a view sees what is applied", engines(func(d *Disk, e *engine) {
			e.apply = func(changes iter.Seq2[string, store.Change]) error {
				err := e.batch.Apply(changes)
				d.mu.Lock()
				defer d.mu.Unlock()
				d.root = e.root
				return err
			}
		})},
		{"a view shows nothing that is not durable", "a view sees what a closure puts", opening(func(d *Disk, s *spoiled) {
			s.update = onTx(s, func(t *tx) {
				t.put = func(key string, val []byte) {
					t.Tx.Put(key, val)
					d.mu.Lock()
					defer d.mu.Unlock()
					d.root = d.root.put(key, val)
				}
			})
		})},
		{"what is acknowledged is seen", "views lag by a commit", lagging()},
		{"what is acknowledged is seen", "it acknowledges before it commits", engines(func(_ *Disk, e *engine) {
			e.commit = func() error {
				go func() { _ = e.batch.Commit() }()
				return nil
			}
		})},
		{"a view ends in time", "views last for ever", opening(func(d *Disk, s *spoiled) {
			s.view = func(_ ctx, fn func(store.Reader) error) error { return fn(d.snapshot()) }
		})},
		{"a view ends in time", "a view that lasted too long is told, and had it all", opening(func(d *Disk, s *spoiled) {
			s.view = func(_ ctx, fn func(store.Reader) error) error {
				from := time.Now()
				if err := fn(d.snapshot()); err != nil || time.Since(from) < store.MaxView {
					return err
				}
				return &store.TooLong{}
			}
		})},
	}
}

// newest is a reader that is no snapshot.
type newest struct{ d *Disk }

func (n *newest) Get(key string) ([]byte, bool) { return n.d.snapshot().Get(key) }

func (n *newest) Range(lo, hi string) iter.Seq2[string, []byte] { return n.d.snapshot().Range(lo, hi) }

func (n *newest) Head() journal.Head { return n.d.snapshot().Head() }

func (n *newest) Base() journal.Head { return n.d.snapshot().Base() }

// newHead is a snapshot but for its head.
type newHead struct {
	store.Reader
	d *Disk
}

func (n newHead) Head() journal.Head { return n.d.snapshot().Head() }

// lagging shows what was durable before the newest commit.
func lagging() func() Subject {
	return opening(func(d *Disk, s *spoiled) {
		var before atomic.Pointer[tree]
		d.Sync = func() { before.Store(d.snapshot().root) }
		s.view = func(_ ctx, fn func(store.Reader) error) error { return fn(&snapshot{d, before.Load()}) }
	})
}

func isolationMutants() []mutant {
	return []mutant{
		{"no update is lost", "closures run at once, on what is durable", opening(unisolated)},
		{"two closures never take the same free key", "ranges are of what is durable", rangesOfCommitted()},
		{"registers are linearizable", "views lag by a commit", lagging()},
		{"registers are linearizable", "closures run at once, on what is durable", opening(unisolated)},
		{"the lowest free address is linearizable", "closures run at once, on what is durable", opening(unisolated)},
		{"the lowest free address is linearizable", "ranges are of what is durable", rangesOfCommitted()},
	}
}

// unisolated runs closures on snapshots and commits what they wrote.
func unisolated(d *Disk, s *spoiled) {
	s.update = func(ctx ctx, fn func(store.Tx) error) (store.Rev, error) {
		run := &draft{Reader: d.snapshot()}
		if err := run.run(fn); err != nil {
			return 0, err
		}
		time.Sleep(50 * time.Microsecond)
		return s.Store.Update(ctx, func(tx store.Tx) error {
			for k, c := range run.vals {
				if c.Gone {
					tx.Delete(k)
				} else {
					tx.Put(k, c.Val)
				}
			}
			for _, e := range run.told {
				tx.Log(e)
			}
			return nil
		})
	}
}
