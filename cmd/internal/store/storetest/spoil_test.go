package storetest

import (
	"context"
	"iter"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

type (
	ctx     = context.Context
	updater = func(context.Context, func(store.Tx) error) (store.Rev, error)
)

// spoiled is a store of which some methods are replaced.
type spoiled struct {
	store.Store
	view    func(context.Context, func(store.Reader) error) error
	update  updater
	changed func(store.Rev) <-chan struct{}
	err     func() error
	close   func() error
}

func (s *spoiled) View(ctx context.Context, fn func(store.Reader) error) error {
	if s.view != nil {
		return s.view(ctx, fn)
	}
	return s.Store.View(ctx, fn)
}

func (s *spoiled) Update(ctx context.Context, fn func(store.Tx) error) (store.Rev, error) {
	if s.update != nil {
		return s.update(ctx, fn)
	}
	return s.Store.Update(ctx, fn)
}

func (s *spoiled) Changed(after store.Rev) <-chan struct{} {
	if s.changed != nil {
		return s.changed(after)
	}
	return s.Store.Changed(after)
}

func (s *spoiled) Err() error {
	if s.err != nil {
		return s.err()
	}
	return s.Store.Err()
}

func (s *spoiled) Close() error {
	if s.close != nil {
		return s.close()
	}
	return s.Store.Close()
}

// opening makes subjects whose store is spoiled each time that it is opened.
func opening(spoil func(d *Disk, s *spoiled)) func() Subject {
	return func() Subject {
		d := &Disk{Name: "site"}
		sub := d.Subject()
		sub.Open = func(context.Context) (store.Store, error) {
			s := &spoiled{Store: d.Open()}
			spoil(d, s)
			return s, nil
		}
		return sub
	}
}

// updating spoils what becomes of an update; next is the right Update.
func updating(spoil func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error)) func() Subject {
	return opening(func(_ *Disk, s *spoiled) {
		s.update = func(ctx context.Context, fn func(store.Tx) error) (store.Rev, error) {
			return spoil(ctx, fn, s.Store.Update)
		}
	})
}

// closing spoils closures: the result of spoil runs in place of fn.
func closing(spoil func(fn func(store.Tx) error) func(store.Tx) error) func() Subject {
	return updating(func(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
		return next(ctx, spoil(fn))
	})
}

// tx is a Tx of which some methods are replaced.
type tx struct {
	store.Tx
	get  func(string) ([]byte, bool)
	rng  func(lo, hi string) iter.Seq2[string, []byte]
	put  func(string, []byte)
	del  func(string)
	log  func(store.Entry)
	trim func(store.Rev)
}

func (t *tx) Get(key string) ([]byte, bool) {
	if t.get != nil {
		return t.get(key)
	}
	return t.Tx.Get(key)
}

func (t *tx) Range(lo, hi string) iter.Seq2[string, []byte] {
	if t.rng != nil {
		return t.rng(lo, hi)
	}
	return t.Tx.Range(lo, hi)
}

func (t *tx) Put(key string, val []byte) {
	if t.put != nil {
		t.put(key, val)
		return
	}
	t.Tx.Put(key, val)
}

func (t *tx) Delete(key string) {
	if t.del != nil {
		t.del(key)
		return
	}
	t.Tx.Delete(key)
}

func (t *tx) Log(e store.Entry) {
	if t.log != nil {
		t.log(e)
		return
	}
	t.Tx.Log(e)
}

func (t *tx) Trim(to store.Rev) {
	if t.trim != nil {
		t.trim(to)
		return
	}
	t.Tx.Trim(to)
}

// writing spoils the Tx that closures see.
func writing(spoil func(*tx)) func() Subject {
	return closing(func(fn func(store.Tx) error) func(store.Tx) error {
		return func(inner store.Tx) error {
			t := &tx{Tx: inner}
			spoil(t)
			return fn(t)
		}
	})
}

// reader is a Reader whose reads are replaced.
type reader struct {
	store.Reader
	get func(string) ([]byte, bool)
	rng func(lo, hi string) iter.Seq2[string, []byte]
}

func (r *reader) Get(key string) ([]byte, bool) { return r.get(key) }

func (r *reader) Range(lo, hi string) iter.Seq2[string, []byte] { return r.rng(lo, hi) }

// reading spoils what views and closures read.
func reading(spoil func(*reader)) func() Subject {
	return opening(func(_ *Disk, s *spoiled) {
		wrap := func(inner store.Reader) *reader {
			r := &reader{inner, inner.Get, inner.Range}
			spoil(r)
			return r
		}
		s.view = func(ctx context.Context, fn func(store.Reader) error) error {
			return s.Store.View(ctx, func(r store.Reader) error { return fn(wrap(r)) })
		}
		s.update = func(ctx context.Context, fn func(store.Tx) error) (store.Rev, error) {
			return s.Store.Update(ctx, func(inner store.Tx) error {
				r := wrap(inner)
				return fn(&tx{Tx: inner, get: r.get, rng: r.rng})
			})
		}
	})
}

// engine is a batch of which some methods are replaced.
type engine struct {
	*batch
	apply  func(iter.Seq2[string, store.Change]) error
	commit func() error
}

func (e *engine) Apply(changes iter.Seq2[string, store.Change]) error {
	if e.apply != nil {
		return e.apply(changes)
	}
	return e.batch.Apply(changes)
}

func (e *engine) Commit() error {
	if e.commit != nil {
		return e.commit()
	}
	return e.batch.Commit()
}

// engines spoils the batches below the committer.
func engines(spoil func(d *Disk, e *engine)) func() Subject {
	return func() Subject {
		d := &Disk{Name: "site"}
		sub := d.Subject()
		sub.Open = func(context.Context) (store.Store, error) {
			d.opened++
			m := &memory{disk: d, opened: d.opened}
			head, base := d.heads(d.root)
			m.Committer = store.NewCommitter(head, base, func() (store.Batch, error) {
				b, err := m.begin()
				if err != nil {
					return nil, err
				}
				e := &engine{batch: b.(*batch)}
				spoil(d, e)
				return e, nil
			}, nil)
			return m, nil
		}
		return sub
	}
}

// coming spoils what a disk holds whenever it is opened: by what start returns.
func coming(start func(d *Disk) func()) func() Subject {
	return func() Subject {
		d := &Disk{Name: "site"}
		sub := d.Subject()
		spoil := start(d)
		back := func(context.Context) (store.Store, error) {
			spoil()
			return d.Open(), nil
		}
		sub.Open, sub.Crash = back, back
		return sub
	}
}

// without is a tree that lacks the pairs that drop picks.
func without(t *tree, drop func(string, []byte) bool) *tree {
	left := t
	t.walk("", "\xff", func(k string, v []byte) bool {
		if drop(k, v) {
			left = left.del(k)
		}
		return true
	})
	return left
}
