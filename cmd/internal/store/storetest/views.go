package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// viewLaws are about what views show.
func viewLaws() []Law {
	return []Law{
		{Name: "a view is a snapshot", Check: on(isSnapshot)},
		{Name: "a view shows nothing that is not durable", Check: on(nothingEarly)},
		{Name: "what is acknowledged is seen", Check: on(acknowledgedSeen)},
		{Name: "a view ends in time", Check: on(viewEnds)},
	}
}

// isSnapshot looks for halves of updates: each writes its own revision to all keys.
func isSnapshot(ctx context.Context, s site) error {
	const keys, writers, viewers, each = 8, 4, 3, 25
	var writing atomic.Int64
	writing.Store(writers)
	return together(ctx, writers+viewers, func(i int) error {
		if i >= writers {
			for writing.Load() > 0 {
				if err := s.View(ctx, func(r store.Reader) error { return whole(r, keys) }); err != nil {
					return err
				}
			}
			return nil
		}
		defer writing.Add(-1)
		for range each {
			if _, err := s.Update(ctx, func(tx store.Tx) error {
				for k := range keys {
					tx.Put(fmt.Sprintf("s/%d", k), []byte(fmt.Sprint(tx.Head().Revision+1)))
				}
				tx.Log(told("snapshot"))
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// whole reads every key, the head and the rows with pauses, and the first key again.
func whole(r store.Reader, keys int) error {
	first, there := r.Get("s/0")
	want := string(first)
	if !there {
		want = "0"
	}
	for k := range keys {
		runtime.Gosched()
		if v, ok := r.Get(fmt.Sprintf("s/%d", k)); ok != there || string(v) != string(first) {
			return fmt.Errorf("a view has s/0 of revision %s and s/%d of %q", want, k, v)
		}
	}
	n := 0
	for k, v := range r.Range("s/", "s0") {
		runtime.Gosched()
		n++
		if string(v) != want {
			return fmt.Errorf("a view has s/0 of revision %s and ranges over %s of %s", want, k, v)
		}
	}
	rows := 0
	for range store.Rows(r, 0) {
		rows++
	}
	if there && n != keys || fmt.Sprint(r.Head().Revision) != want || fmt.Sprint(rows) != want {
		return fmt.Errorf("a view of revision %s has %d of %d keys, the head at %s and %d rows", want, n, keys, r.Head(), rows)
	}
	return nil
}

// nothingEarly looks from outside while a closure is under way, and while one
// waits for its commit that shares it with others.
func nothingEarly(ctx context.Context, s site) error {
	if err := s.fill(ctx, model{"k": "1"}); err != nil {
		return err
	}
	if _, err := s.Update(ctx, func(tx store.Tx) error {
		tx.Put("k", []byte("2"))
		tx.Put(store.LedgerPrefix+"new", nil)
		tx.Log(told("early"))
		return ends(ctx, "a view beside an update", func() error { return s.View(ctx, model{"k": "1"}.upTo(1)) })
	}); err != nil {
		return fmt.Errorf("beside a closure: %w", err)
	}
	h, err := s.hold(ctx)
	if err != nil {
		return err
	}
	first := make(chan error, 1)
	go func() {
		_, err := s.set(ctx, "k", "3")
		first <- err
	}()
	settle()
	second := make(chan error, 1)
	go func() {
		_, err := s.Update(ctx, func(store.Tx) error { return s.early(ctx, "k", "3", first) })
		second <- err
	}()
	settle()
	return errors.Join(h.end(ctx), ends(ctx, "an update", func() error { return <-second }), ends(ctx, "an update", func() error { return <-first }))
}

// early fails where a view shows a value whose update does not return: it waits for
// the commit that its looker shares.
func (s site) early(ctx context.Context, key, val string, done chan error) error {
	seen := false
	if err := s.View(ctx, func(r store.Reader) error {
		v, _ := r.Get(key)
		seen = string(v) == val
		return nil
	}); err != nil || !seen {
		return err
	}
	select {
	case err := <-done:
		done <- err
		return nil
	case <-time.After(200 * time.Millisecond):
		return fmt.Errorf("a view shows %s=%s before its commit", key, val)
	}
}

// upTo wants the model and a log up to rev.
func (m model) upTo(rev uint64) func(store.Reader) error {
	return func(r store.Reader) error {
		if r.Head().Revision != rev {
			return fmt.Errorf("the head is %s, want revision %d", r.Head(), rev)
		}
		return m.all(r)
	}
}

// acknowledgedSeen reads each write back, right after it.
func acknowledgedSeen(ctx context.Context, s site) error {
	return together(ctx, 8, func(w int) error {
		key := fmt.Sprint("ack/", w)
		for n := range 15 {
			val := fmt.Sprint(n)
			rev, err := s.set(ctx, key, val)
			if err != nil {
				return err
			}
			if err := s.View(ctx, func(r store.Reader) error {
				if v, _ := r.Get(key); string(v) != val || store.Rev(r.Head().Revision) < rev {
					return fmt.Errorf("%s was acknowledged as %s in revision %d; a view has %q, the head at %s", key, val, rev, v, r.Head())
				}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// viewEnds stays in a view for too long, in the middle of a range.
func viewEnds(ctx context.Context, s site) error {
	if err := s.fill(ctx, model{"a": "1", "b": "1", "c": "1"}); err != nil {
		return err
	}
	var late error
	err := s.View(ctx, func(r store.Reader) error {
		n := 0
		for range r.Range("a", "d") {
			if n++; n == 1 {
				time.Sleep(store.MaxView + store.MaxView/20)
			}
		}
		if _, ok := r.Get("a"); n != 1 || ok {
			late = fmt.Errorf("after its time a view went on: %d keys of a range, a key %t", n, ok)
		}
		for k := range r.Range("", "\xff") {
			late = fmt.Errorf("after its time a view began a range and saw %q", k)
		}
		return nil
	})
	if late != nil || !is[*store.TooLong](err) {
		return errors.Join(late, fmt.Errorf("a view that lasted too long returned %v", err))
	}
	return s.View(ctx, model{"a": "1", "b": "1", "c": "1"}.all)
}
