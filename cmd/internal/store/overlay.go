package store

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// A Change is what becomes of one key: gone, or a value, which may be empty.
type Change struct {
	Val  []byte
	Gone bool
}

// overlay is one closure's writes over a batch, so that many closures share one
// commit and a refused one leaves nothing behind.
type overlay struct {
	batch Batch
	head  journal.Head
	base  journal.Head
	keys  []string // sorted
	vals  map[string]Change
	entry *Entry
	trim  Rev
	err   error // the first one
}

// reset makes o ready for the next closure.
func (o *overlay) reset(head, base journal.Head) {
	o.keys, o.entry, o.trim, o.err = o.keys[:0], nil, 0, nil
	o.head, o.base = head, base
	clear(o.vals)
}

func (o *overlay) Head() journal.Head { return o.head }

func (o *overlay) Base() journal.Head { return o.base }

// Get looks at the closure's own writes first.
func (o *overlay) Get(key string) ([]byte, bool) {
	if c, ok := o.vals[key]; ok {
		return c.Val, !c.Gone
	}
	return o.batch.Get(key)
}

// Range merges the batch's keys with the closure's own, which win.
func (o *overlay) Range(lo, hi string) iter.Seq2[string, []byte] {
	if len(o.keys) == 0 {
		return o.live(lo, hi)
	}
	return o.merged(lo, hi)
}

// live is the batch's own range for as long as the closure has written nothing;
// a write on the way goes on merged.
func (o *overlay) live(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for k, v := range o.batch.Range(lo, hi) {
			if !yield(k, v) {
				return
			}
			if len(o.keys) > 0 {
				for k, v := range o.merged(after(k), hi) {
					if !yield(k, v) {
						return
					}
				}
				return
			}
		}
	}
}

// after is the first key after k.
func after(k string) string { return k + "\x00" }

func (o *overlay) merged(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		next, stop := iter.Pull2(o.batch.Range(lo, hi))
		defer stop()
		k, v, have := next()
		for at := lo; ; {
			own, mine := o.first(at, hi)
			switch {
			case !have && !mine:
				return
			case mine && (!have || own <= k):
				if have && own == k {
					k, v, have = next()
				}
				if c := o.vals[own]; !c.Gone && !yield(own, c.Val) {
					return
				}
				at = after(own)
			default:
				if !yield(k, v) {
					return
				}
				at = after(k)
				k, v, have = next()
			}
		}
	}
}

// first is the closure's own first key in the range. It is looked up anew for each
// step, since the closure may write while it reads.
func (o *overlay) first(lo, hi string) (string, bool) {
	i, _ := slices.BinarySearch(o.keys, lo)
	if i < len(o.keys) && o.keys[i] < hi {
		return o.keys[i], true
	}
	return "", false
}

// Put keeps a copy.
func (o *overlay) Put(key string, val []byte) {
	if len(val) > MaxValue {
		o.fail("the value of %q has %d bytes, at most %d", key, len(val), MaxValue)
		return
	}
	o.set(key, Change{Val: append([]byte{}, val...)})
}

// Delete removes key; one that is absent stays so.
func (o *overlay) Delete(key string) { o.set(key, Change{Gone: true}) }

func (o *overlay) set(key string, c Change) {
	if why := badKey(key); why != "" {
		o.fail("the key %q %s", key, why)
		return
	}
	if _, again := o.vals[key]; !again {
		i, _ := slices.BinarySearch(o.keys, key)
		o.keys = slices.Insert(o.keys, i, key)
	}
	o.vals[key] = c
}

// badKey is what is wrong with a key that a closure writes.
func badKey(key string) string {
	switch {
	case key == "" || len(key) > MaxKey:
		return fmt.Sprintf("has %d bytes, want 1 to %d", len(key), MaxKey)
	case strings.HasPrefix(key, LogPrefix), strings.HasPrefix(key, MetaPrefix):
		return "is the store's own"
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return "is not printable ASCII"
	}
	return ""
}

// Log takes the closure's one entry.
func (o *overlay) Log(e Entry) {
	if o.entry != nil {
		o.fail("a closure logs once; put all facts into one entry")
		return
	}
	o.entry = &e
}

// Trim notes up to where the log is dropped.
func (o *overlay) Trim(to Rev) {
	if to >= Rev(o.head.Revision) {
		o.fail("the log's newest row, %d, stays; trim below it", o.head.Revision)
		return
	}
	o.trim = max(o.trim, to)
}

func (o *overlay) fail(format string, args ...any) {
	o.err = errors.Join(o.err, &Misuse{fmt.Sprintf(format, args...)})
}

// finish is what is wrong with the closure once it has ended well: it broke the
// contract, or changed what must be told and told nothing.
func (o *overlay) finish() error {
	if o.err != nil {
		return o.err
	}
	if o.entry == nil && slices.ContainsFunc(o.keys, told) {
		return &Misuse{"a closure wrote outside of " + LedgerPrefix + " and logged nothing (EVENT-1)"}
	}
	return nil
}

// told reports whether a change of key is named in the log.
func told(key string) bool { return !strings.HasPrefix(key, LedgerPrefix) }

// touched are the keys for the closure's row.
func (o *overlay) touched() []string {
	return slices.DeleteFunc(slices.Clone(o.keys), func(k string) bool { return !told(k) })
}

// changes yields what the closure wrote, in order.
func (o *overlay) changes() iter.Seq2[string, Change] {
	return func(yield func(string, Change) bool) {
		for _, k := range o.keys {
			if !yield(k, o.vals[k]) {
				return
			}
		}
	}
}
