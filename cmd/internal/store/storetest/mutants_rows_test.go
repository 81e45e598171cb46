package storetest

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// pair is a key with its value.
type pair struct {
	key string
	val []byte
}

// listed is a range as a list.
func listed(r iter.Seq2[string, []byte]) []pair {
	var all []pair
	for k, v := range r {
		all = append(all, pair{k, v})
	}
	return all
}

// yields is a list as a range.
func yields(all []pair) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, p := range all {
			if !yield(p.key, p.val) {
				return
			}
		}
	}
}

// ranging spoils the lists that ranges yield; ledger and log are left alone.
func ranging(spoil func(lo, hi string, all []pair) []pair) func() Subject {
	return reading(func(r *reader) {
		right := r.rng
		r.rng = func(lo, hi string) iter.Seq2[string, []byte] {
			if strings.HasPrefix(lo, store.LogPrefix) {
				return right(lo, hi)
			}
			return yields(spoil(lo, hi, listed(right(lo, hi))))
		}
	})
}

func rowMutants() []mutant {
	return []mutant{
		{"rows are as in a map", "a delete is forgotten", writing(func(t *tx) { t.del = func(string) {} })},
		{"rows are as in a map", "the first put wins", writing(func(t *tx) {
			t.put = func(key string, val []byte) {
				if _, there := t.Get(key); !there {
					t.Tx.Put(key, val)
				}
			}
		})},
		{"an empty value is there", "an empty value reads as absent", reading(func(r *reader) {
			right := r.get
			r.get = func(key string) ([]byte, bool) {
				v, ok := right(key)
				return v, ok && len(v) > 0
			}
		})},
		{"an empty value is there", "a range leaves out empty values", ranging(func(_, _ string, all []pair) []pair {
			return slices.DeleteFunc(all, func(p pair) bool { return len(p.val) == 0 })
		})},
		{"a range is in order of bytes", "a range is unordered", ranging(func(_, _ string, all []pair) []pair {
			slices.Reverse(all)
			return all
		})},
		{"a range is in order of bytes", "a range is ordered as people do", ranging(func(_, _ string, all []pair) []pair {
			slices.SortFunc(all, func(a, b pair) int { return strings.Compare(strings.ToLower(a.key), strings.ToLower(b.key)) })
			return all
		})},
		{"a range is in order of bytes", "the upper bound is within", reading(func(r *reader) {
			right := r.rng
			r.rng = func(lo, hi string) iter.Seq2[string, []byte] { return right(lo, hi+"\x00") }
		})},
		{"a range is in order of bytes", "the lower bound is not within", reading(func(r *reader) {
			right := r.rng
			r.rng = func(lo, hi string) iter.Seq2[string, []byte] { return right(lo+"\x00", hi) }
		})},
		{"a closure sees its own writes", "a range does not see own writes", rangesOfCommitted()},
		{"a closure sees its own writes", "Get does not see own writes", opening(func(d *Disk, s *spoiled) {
			s.update = onTx(s, func(t *tx) { t.get = d.snapshot().Get })
		})},
		{"a range sees what is written ahead of it", "a range is what it was when it began", writing(func(t *tx) {
			t.rng = func(lo, hi string) iter.Seq2[string, []byte] { return yields(listed(t.Tx.Range(lo, hi))) }
		})},
		{"reads nest", "all ranges share a cursor", reading(sharedCursor)},
		{"a value is kept as a copy", "the caller's slice is kept", lateCopies()},
		{"a slice lives as long as its closure, a key for ever", "all reads share a buffer", reading(sharedBuffer)},
		{"a slice lives as long as its closure, a key for ever", "keys are of memory that is used again", opening(borrowedKeys)},
		{"a closure may run twice", "a range can be read once", closing(func(fn func(store.Tx) error) func(store.Tx) error {
			return func(inner store.Tx) error {
				read := map[string]bool{}
				return fn(&tx{Tx: inner, rng: func(lo, hi string) iter.Seq2[string, []byte] {
					if used := read[lo+hi]; used {
						return yields(nil)
					}
					read[lo+hi] = true
					return inner.Range(lo, hi)
				}})
			}
		})},
	}
}

// rangesOfCommitted ranges over what was durable when the closure began.
func rangesOfCommitted() func() Subject {
	return opening(func(d *Disk, s *spoiled) {
		d.Sync = func() { time.Sleep(200 * time.Microsecond) } // for groups to gather
		s.update = onTx(s, func(t *tx) { t.rng = d.snapshot().Range })
	})
}

// sharedCursor has each range end the one before it.
func sharedCursor(r *reader) {
	right, newest := r.rng, 0
	r.rng = func(lo, hi string) iter.Seq2[string, []byte] {
		return func(yield func(string, []byte) bool) {
			newest++
			mine := newest
			for k, v := range right(lo, hi) {
				if mine != newest || !yield(k, v) {
					return
				}
			}
		}
	}
}

// sharedBuffer gives out each value in the same place.
func sharedBuffer(r *reader) {
	var buf [64]byte
	get, rng := r.get, r.rng
	r.get = func(key string) ([]byte, bool) {
		v, ok := get(key)
		return append(buf[:0], v...), ok
	}
	r.rng = func(lo, hi string) iter.Seq2[string, []byte] {
		return func(yield func(string, []byte) bool) {
			for k, v := range rng(lo, hi) {
				if !yield(k, append(buf[:0], v...)) {
					return
				}
			}
		}
	}
}

// borrowedKeys yields keys that live in pages, which the next commit uses again.
func borrowedKeys(_ *Disk, s *spoiled) {
	var mu sync.Mutex
	var pages [][]byte
	s.update = func(ctx ctx, fn func(store.Tx) error) (store.Rev, error) {
		return s.Store.Update(ctx, func(inner store.Tx) error {
			mu.Lock()
			for _, p := range pages {
				clear(p)
			}
			pages = nil
			mu.Unlock()
			return fn(&tx{Tx: inner, rng: func(lo, hi string) iter.Seq2[string, []byte] {
				return func(yield func(string, []byte) bool) {
					for k, v := range inner.Range(lo, hi) {
						page := []byte(k)
						mu.Lock()
						pages = append(pages, page)
						mu.Unlock()
						if !yield(unsafe.String(unsafe.SliceData(page), len(page)), v) {
							return
						}
					}
				}
			}})
		})
	}
}

// lateCopies copies values when the closure has ended.
func lateCopies() func() Subject {
	return closing(func(fn func(store.Tx) error) func(store.Tx) error {
		return func(inner store.Tx) error {
			put := map[string][]byte{}
			err := fn(&tx{Tx: inner, put: func(key string, val []byte) {
				put[key] = val
				inner.Put(key, val)
			}})
			for k, v := range put {
				inner.Put(k, v)
			}
			return err
		}
	})
}

func refusalMutants() []mutant {
	return []mutant{
		{"a refused closure leaves nothing", "there is no overlay", updating(noOverlay)},
		{"a refused closure leaves nothing", "the ledger of a refused closure stays", updating(ledgerStays)},
		{"a change is told", "what is untold is told by the store", closing(func(fn func(store.Tx) error) func(store.Tx) error {
			return func(inner store.Tx) error {
				logged := false
				err := fn(&tx{Tx: inner, log: func(e store.Entry) { logged = true; inner.Log(e) }})
				if !logged {
					inner.Log(told("by itself"))
				}
				return err
			}
		})},
		{"a closure logs once", "the last entry counts", closing(func(fn func(store.Tx) error) func(store.Tx) error {
			return func(inner store.Tx) error {
				var last *store.Entry
				err := fn(&tx{Tx: inner, log: func(e store.Entry) { last = &e }})
				if last != nil {
					inner.Log(*last)
				}
				return err
			}
		})},
		{"an entry that is no row is refused", "an actor is made up", writing(func(t *tx) {
			t.log = func(e store.Entry) {
				if e.Actor == "" {
					e.Actor = "somebody"
				}
				t.Tx.Log(e)
			}
		})},
		{"bad keys are refused", "bad keys are passed over", writing(func(t *tx) {
			t.put = func(key string, val []byte) {
				if !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' }) {
					t.Tx.Put(key, val)
				}
			}
		})},
		{"bad keys are refused", "long keys are cut", writing(func(t *tx) {
			t.put = func(key string, val []byte) { t.Tx.Put(key[:min(len(key), store.MaxKey)], val) }
		})},
		{"bad keys are refused", "any key may be deleted", writing(func(t *tx) {
			t.del = func(key string) {
				if _, there := t.Get(key); there && !kept(key) {
					t.Tx.Delete(key)
				}
			}
		})},
		{"a value has its bound", "large values are cut", writing(func(t *tx) {
			t.put = func(key string, val []byte) { t.Tx.Put(key, val[:min(len(val), store.MaxValue)]) }
		})},
		{"a value has its bound", "the largest value is refused", writing(func(t *tx) {
			t.put = func(key string, val []byte) {
				if len(val) == store.MaxValue {
					val = bytes.Repeat(val, 2)
				}
				t.Tx.Put(key, val)
			}
		})},
	}
}

// onTx is an Update whose Tx is spoiled.
func onTx(s *spoiled, spoil func(*tx)) updater {
	return func(ctx ctx, fn func(store.Tx) error) (store.Rev, error) {
		return s.Store.Update(ctx, func(inner store.Tx) error {
			t := &tx{Tx: inner}
			spoil(t)
			return fn(t)
		})
	}
}

// noOverlay keeps what a closure wrote and refuses it nevertheless.
func noOverlay(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
	var refused error
	rev, err := next(ctx, func(tx store.Tx) error {
		refused = fn(tx)
		return nil
	})
	return rev, errors.Join(refused, err)
}

// ledgerStays keeps what a refused closure observed.
func ledgerStays(ctx ctx, fn func(store.Tx) error, next updater) (store.Rev, error) {
	seen := map[string][]byte{}
	rev, err := next(ctx, func(inner store.Tx) error {
		clear(seen)
		return fn(&tx{Tx: inner, put: func(key string, val []byte) {
			if strings.HasPrefix(key, store.LedgerPrefix) {
				seen[key] = val
			}
			inner.Put(key, val)
		}})
	})
	if err != nil {
		_, _ = next(ctx, func(tx store.Tx) error {
			for k, v := range seen {
				tx.Put(k, v)
			}
			return nil
		})
	}
	return rev, err
}
