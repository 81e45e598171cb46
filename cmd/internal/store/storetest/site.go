package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// site is an open store, with what the laws ask of it often.
type site struct{ store.Store }

// errRefused is what a closure returns that changes its mind.
var errRefused = errors.New("storetest: refused")

// day is when everything happens.
var day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// told is an entry with one fact.
func told(subject string) store.Entry {
	return store.Entry{Time: day, Actor: "storetest", Facts: []journal.Fact{{Type: "kit.wrote", Subject: subject}}}
}

// on is the check of a law that needs one open store.
func on(check func(context.Context, site) error) func(context.Context, Subject) error {
	return func(ctx context.Context, sub Subject) error {
		s, err := sub.Open(ctx)
		if err != nil {
			return err
		}
		return errors.Join(check(ctx, site{s}), ends(ctx, "Close", s.Close))
	}
}

// again closes the store and opens it anew.
func (s *site) again(ctx context.Context, sub Subject) error {
	if err := ends(ctx, "Close", s.Close); err != nil {
		return err
	}
	next, err := sub.Open(ctx)
	if err == nil {
		s.Store = next
	}
	return err
}

// ends runs f, and gives it up when the context ends.
func ends(ctx context.Context, what string, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%s does not end", what)
	}
}

// comes waits for a channel to be closed.
func comes(ctx context.Context, what string, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: it never came", what)
	}
}

// come reports whether a channel is closed.
func come(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// together runs f for 0 to n-1 at once and waits for all.
func together(ctx context.Context, n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	return ends(ctx, "a call", func() error {
		all.Wait()
		return errors.Join(errs...)
	})
}

// set puts one key and tells of it.
func (s site) set(ctx context.Context, key, val string) (store.Rev, error) {
	return s.Update(ctx, func(tx store.Tx) error {
		tx.Put(key, []byte(val))
		tx.Log(told(key))
		return nil
	})
}

// state is all that a store holds.
type state struct {
	rows       []journal.Row
	data       map[string]string // outside of the log
	head, base journal.Head
}

// state reads all in one view.
func (s site) state(ctx context.Context) (state, error) {
	var st state
	err := s.View(ctx, func(r store.Reader) (err error) {
		st, err = read(r)
		return err
	})
	return st, err
}

// read reads all, and finds a log that is whole from its base to its head.
func read(r store.Reader) (state, error) {
	st := state{data: map[string]string{}, head: r.Head(), base: r.Base()}
	for k, v := range r.Range("", "\xff") {
		if !kept(k) {
			st.data[k] = string(v)
		}
	}
	for row, err := range store.Rows(r, 0) {
		if err != nil {
			return st, err
		}
		st.rows = append(st.rows, row)
	}
	return st, st.verify()
}

// kept reports whether the store keeps a key for itself.
func kept(key string) bool {
	return strings.HasPrefix(key, store.LogPrefix) || strings.HasPrefix(key, store.MetaPrefix)
}

// verify walks the chain.
func (st state) verify() error {
	end, err := journal.Verify(st.base, func(yield func(journal.Row, error) bool) {
		for _, row := range st.rows {
			if !yield(row, nil) {
				return
			}
		}
	})
	if err == nil && end != st.head {
		err = fmt.Errorf("the rows end at %s, the head is %s", end, st.head)
	}
	if err != nil {
		return fmt.Errorf("the log: %w", err)
	}
	return nil
}

// row is the row of a revision, if it is there.
func (st state) row(rev store.Rev) (journal.Row, bool) {
	i := slices.IndexFunc(st.rows, func(r journal.Row) bool { return store.Rev(r.Revision) == rev })
	if i < 0 {
		return journal.Row{}, false
	}
	return st.rows[i], true
}

// same compares two states.
func (st state) same(o state) error {
	switch {
	case st.head != o.head || len(st.rows) != len(o.rows):
		return fmt.Errorf("the log ended at %s with %d rows, now at %s with %d", st.head, len(st.rows), o.head, len(o.rows))
	case st.base != o.base:
		return fmt.Errorf("the log began after %s, now after %s", st.base, o.base)
	case maps.Equal(st.data, o.data):
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(union(st.data, o.data))) {
		a, was := st.data[k]
		if b, is := o.data[k]; was != is || a != b {
			return fmt.Errorf("%.40q was %.40q (there: %t), now %.40q (there: %t)", k, a, was, b, is)
		}
	}
	return nil
}

func union(a, b map[string]string) map[string]string {
	u := maps.Clone(a)
	maps.Copy(u, b)
	return u
}

// refuses wants fn refused with an error that is right, and nothing kept of it.
func (s site) refuses(ctx context.Context, what string, right func(error) bool, fn func(store.Tx) error) error {
	before, err := s.state(ctx)
	if err != nil {
		return err
	}
	if _, err := s.Update(ctx, fn); !right(err) {
		return fmt.Errorf("%s: the error is %v", what, err)
	}
	after, err := s.state(ctx)
	if err == nil {
		err = before.same(after)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// is reports whether an error is a T.
func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
