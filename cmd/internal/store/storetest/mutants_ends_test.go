package storetest

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

func endMutants() []mutant {
	return []mutant{
		{"a context withdraws what has not run", "contexts are ignored", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			return next(context.WithoutCancel(ctx), fn)
		})},
		{"a context withdraws what has not run", "a queued update is not withdrawn", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			return next(context.WithoutCancel(ctx), fn)
		})},
		{"a context withdraws what has not run", "what was withdrawn runs", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			return leaving(ctx, fn, next)
		})},
		{"a context withdraws what has not run", "views ignore contexts", opening(func(d *Disk, s *spoiled) {
			s.view = func(_ ctx, fn func(store.Reader) error) error { return fn(d.snapshot()) }
		})},
		{"a context withdraws nothing that has run", "it is withdrawn after it ran", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			rev, err := next(ctx, fn)
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			return rev, err
		})},
		{"a context withdraws nothing that has run", "nobody waits for the commit", updating(leaving)},
		{"a panic reaches its caller alone", "panics are swallowed", closing(func(fn func(store.Tx) error) func(store.Tx) error {
			return func(tx store.Tx) (err error) {
				defer func() {
					if recover() != nil {
						err = errors.New("it panicked")
					}
				}()
				return fn(tx)
			}
		})},
		{"a panic reaches its caller alone", "what a closure wrote before its panic stays", updating(panicStays)},
		{"Failed and Err tell the end", "Err says nothing", opening(func(_ *Disk, s *spoiled) { s.err = func() error { return nil } })},
		{"Failed and Err tell the end", "a refusal stops the store", opening(func(_ *Disk, s *spoiled) {
			s.update = func(ctx ctx, fn func(store.Tx) error) (store.Rev, error) {
				rev, err := s.Store.Update(ctx, fn)
				if err != nil {
					s.Store.(*memory).Fail(err)
				}
				return rev, err
			}
		})},
		{"Close waits for what has begun", "Close does not wait", opening(func(_ *Disk, s *spoiled) {
			s.close = func() error { go s.Store.Close(); return nil }
		})},
		{"what Close meets is kept or refused", "what Close meets is acknowledged", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			rev, err := next(ctx, fn)
			if errors.Is(err, store.ErrClosed) {
				return 1, nil
			}
			return rev, err
		})},
		{"what Close meets is kept or refused", "what Close meets is of unknown outcome", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			rev, err := next(ctx, fn)
			if errors.Is(err, store.ErrClosed) {
				err = &store.Unknown{Err: err}
			}
			return rev, err
		})},
		{"nothing is served after Close", "views go on", opening(func(d *Disk, s *spoiled) {
			s.view = func(_ ctx, fn func(store.Reader) error) error { return fn(d.snapshot()) }
		})},
		{"nothing is served after Close", "Close leaves it open", opening(func(_ *Disk, s *spoiled) { s.close = func() error { return nil } })},
	}
}

// leaving returns when the context ends, whatever becomes of the closure.
func leaving(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
	type result struct {
		rev store.Rev
		err error
	}
	done := make(chan result, 1)
	go func() {
		rev, err := next(context.WithoutCancel(ctx), fn)
		done <- result{rev, err}
	}()
	select {
	case r := <-done:
		return r.rev, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// panicStays ends a closure that panics as if it had ended well.
func panicStays(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
	var bang any
	rev, err := next(ctx, func(tx store.Tx) (err error) {
		bang = caught(func() { err = fn(tx) })
		return err
	})
	if bang != nil {
		panic(bang)
	}
	return rev, err
}

func keepingMutants() []mutant {
	return []mutant{
		{"opening again finds everything", "the last commit is lost", coming(lastLost)},
		{"opening again finds everything", "the ledger is forgotten", coming(dropping(func(k string, _ []byte) bool { return strings.HasPrefix(k, store.LedgerPrefix) }))},
		{"opening again finds everything", "empty values are lost", coming(dropping(func(_ string, v []byte) bool { return len(v) == 0 }))},
		{"opening again finds everything", "the log begins anew", coming(dropping(func(k string, _ []byte) bool { return kept(k) }))},
		{"opening again finds everything", "the head is forgotten", coming(dropping(func(k string, _ []byte) bool { return k == store.MetaPrefix+"head" }))},
		{"trimming drops old rows alone", "trimming does nothing", writing(func(t *tx) { t.trim = func(store.Rev) {} })},
		{"trimming drops old rows alone", "the newest row may be trimmed", writing(func(t *tx) {
			t.trim = func(to store.Rev) { t.Tx.Trim(min(to, store.Rev(max(1, t.Head().Revision))-1)) }
		})},
		{"trimming drops old rows alone", "one row too many is dropped", writing(func(t *tx) { t.trim = func(to store.Rev) { t.Tx.Trim(to + 1) } })},
		{"trimming drops old rows alone", "the base stays where it was", coming(dropping(func(k string, _ []byte) bool { return k == store.MetaPrefix+"base" }))},
		{"trimming drops old rows alone", "the next commit moves the base back", engines(baseBack)},
		{"trimming drops old rows alone", "what the rows told of goes with them", writing(func(t *tx) {
			t.trim = func(to store.Rev) {
				for row, err := range store.Rows(t, 0) {
					if err == nil && store.Rev(row.Revision) <= to {
						t.Tx.Delete(row.Keys[0])
					}
				}
				t.Tx.Log(told("trimmed"))
				t.Tx.Trim(to)
			}
		})},
		{"a crash loses nothing acknowledged", "the last commit is durable with the next", coming(lastLost)},
	}
}

// baseBack forgets the base in each commit that trims nothing.
func baseBack(d *Disk, e *engine) {
	trims := false
	e.apply = func(changes iter.Seq2[string, store.Change]) error {
		return e.batch.Apply(func(yield func(string, store.Change) bool) {
			for k, c := range changes {
				trims = trims || c.Gone && strings.HasPrefix(k, store.LogPrefix)
				if k == store.MetaPrefix+"base" && !trims {
					c.Val = []byte(journal.Start(d.Name).String())
				}
				if !yield(k, c) {
					return
				}
			}
		})
	}
}

// lastLost opens what was durable before the last commit.
func lastLost(d *Disk) func() {
	before := d.root
	d.Sync = func() { before = d.snapshot().root }
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.root = before
	}
}

// dropping opens a disk that lost some keys.
func dropping(drop func(string, []byte) bool) func(*Disk) func() {
	return func(d *Disk) func() {
		return func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.root = without(d.root, drop)
		}
	}
}

func faultMutants() []mutant {
	return []mutant{
		{"a batch that does not begin changes nothing", "it stops the store", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			rev, err := next(ctx, fn)
			if u, ok := errors.AsType[*store.Unavailable](err); ok {
				err = &store.Unknown{Err: u.Err}
			}
			return rev, err
		})},
		{"a batch that does not begin changes nothing", "it is tried again later", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			rev, err := next(ctx, fn)
			if is[*store.Unavailable](err) {
				_, _ = next(ctx, fn)
			}
			return rev, err
		})},
		{"an unknown commit stops the store", "it is told as a refusal", updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
			rev, err := next(ctx, fn)
			if is[*store.Unknown](err) {
				err = &store.Unavailable{Err: err}
			}
			return rev, err
		})},
		{"an unknown commit stops the store", "it is taken for done", engines(func(_ *Disk, e *engine) {
			e.commit = func() error { _ = e.batch.Commit(); return nil }
		})},
		{"an unknown commit stops the store", "Err does not say so", opening(func(_ *Disk, s *spoiled) { s.err = func() error { return store.ErrClosed } })},
		{"an unknown commit stops the store", "views go on, and show what may be lost", darkViews()},
		{"a killed commit is whole or gone", "half of it is there", engines(halves)},
		{"a killed commit is whole or gone", "it is taken for done", engines(func(_ *Disk, e *engine) {
			e.commit = func() error { _ = e.batch.Commit(); return nil }
		})},
		{"a killed commit is whole or gone", "the commit before it is lost too", engines(lostToo())},
	}
}

// darkViews shows what the last commit would have made durable.
func darkViews() func() Subject {
	var mu sync.Mutex
	var tried *tree
	return func() Subject {
		d := &Disk{Name: "site"}
		sub := engines(func(on *Disk, e *engine) {
			d = on
			e.commit = func() error {
				mu.Lock()
				tried = e.root
				mu.Unlock()
				return e.batch.Commit()
			}
		})()
		open := sub.Open
		sub.Open = func(ctx context.Context) (store.Store, error) {
			inner, err := open(ctx)
			s := &spoiled{Store: inner}
			s.view = func(ctx context.Context, fn func(store.Reader) error) error {
				if inner.Err() == nil {
					return inner.View(ctx, fn)
				}
				mu.Lock()
				defer mu.Unlock()
				return fn(&snapshot{d, tried})
			}
			return s, err
		}
		return sub
	}
}

// halves leaves one prefix of a lost commit's keys behind.
func halves(d *Disk, e *engine) {
	e.commit = func() error {
		err := e.batch.Commit()
		if err != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			e.root.walk("a/", "a0", func(k string, v []byte) bool {
				d.root = d.root.put(k, v)
				return true
			})
		}
		return err
	}
}

// lostToo loses the commit before the one that fails.
func lostToo() func(*Disk, *engine) {
	var before *tree
	return func(d *Disk, e *engine) {
		was := d.snapshot().root
		e.commit = func() error {
			err := e.batch.Commit()
			if err != nil {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.root = before
			}
			before = was
			return err
		}
	}
}
