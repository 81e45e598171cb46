package storetest

import (
	"context"
	"iter"
	"slices"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// Hostile wraps a store to be as unkind as the contract allows. Run the tests of
// whatever uses a store on it as well:
//
//   - The closure of each update runs twice. The first run is a rehearsal, whose
//     writes are dropped, so that a closure which changes anything outside of its
//     Tx has changed it twice. One that writes, logs or returns something else the
//     second time (an ID or an instant that it drew) is refused with *Impure.
//   - Each slice that is given out is a private copy, which is overwritten once
//     the closure has ended: who keeps it finds junk.
//   - A Reader or Tx that is used after its closure has ended panics.
func Hostile(s store.Store) store.Store { return hostile{s} }

// Impure reports a closure whose two runs on a Hostile store differed. Nothing of
// it was kept.
type Impure struct{ What string }

// Error says what differed.
func (e *Impure) Error() string {
	return "storetest: a closure ran twice on the same state, and " + e.What + "; draw IDs and instants before it"
}

// Code is the error's wire name (API-3).
func (*Impure) Code() string { return "INVALID_INPUT" }

type hostile struct{ store.Store }

func (h hostile) View(ctx context.Context, fn func(store.Reader) error) error {
	return h.Store.View(ctx, func(r store.Reader) error {
		l := &lent{from: r}
		defer l.end()
		return fn(l)
	})
}

func (h hostile) Update(ctx context.Context, fn func(store.Tx) error) (store.Rev, error) {
	return h.Store.Update(ctx, func(tx store.Tx) error {
		first, second := &draft{Reader: tx}, &draft{Reader: tx, to: tx}
		was, is := first.run(fn), second.run(fn)
		if what := first.differs(second, was, is); what != "" {
			return &Impure{what}
		}
		return is
	})
}

// lent is a Reader that takes back what it gave.
type lent struct {
	from  store.Reader
	given [][]byte
	over  bool
}

// give makes a copy with no room behind it.
func (l *lent) give(val []byte) []byte {
	c := slices.Clip(append([]byte{}, val...))
	l.given = append(l.given, c)
	return c
}

// end overwrites what was given.
func (l *lent) end() {
	l.over = true
	for _, b := range l.given {
		for i := range b {
			b[i] = 0xDB
		}
	}
}

func (l *lent) reader() store.Reader {
	if l.over {
		panic("storetest: a Reader is used after its closure has ended")
	}
	return l.from
}

func (l *lent) Get(key string) ([]byte, bool) {
	val, ok := l.reader().Get(key)
	if !ok {
		return nil, false
	}
	return l.give(val), true
}

func (l *lent) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for k, v := range l.reader().Range(lo, hi) {
			if !yield(k, l.give(v)) {
				return
			}
			l.reader()
		}
	}
}

func (l *lent) Head() journal.Head { return l.reader().Head() }

func (l *lent) Base() journal.Head { return l.reader().Base() }
