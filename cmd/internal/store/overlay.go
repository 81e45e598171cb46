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

// Range merges the batch's keys with the closure's own, which win. Its own are
// looked up anew for each step, since the closure may write while it reads.
func (o *overlay) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		m := merge{o: o, at: lo, hi: hi, yield: yield}
		for k, v := range o.batch.Range(lo, hi) {
			if !m.upTo(k) {
				return
			}
			if m.past && m.at == k { // the closure's own change won
				continue
			}
			if m.at, m.past = k, true; !yield(k, v) {
				return
			}
		}
		m.upTo(hi)
	}
}

// merge is a walk over a closure's own keys: those after at, and at itself unless
// it is past.
type merge struct {
	o      *overlay
	at, hi string
	past   bool
	yield  func(string, []byte) bool
}

// upTo yields the closure's own keys up to and including k, and reports whether
// more is wanted.
func (m *merge) upTo(k string) bool {
	for own, ok := m.next(); ok && own <= k; own, ok = m.next() {
		m.at, m.past = own, true
		if c := m.o.vals[own]; !c.Gone && !m.yield(own, c.Val) {
			return false
		}
	}
	return true
}

func (m *merge) next() (string, bool) {
	i, found := slices.BinarySearch(m.o.keys, m.at)
	if found && m.past {
		i++
	}
	if i < len(m.o.keys) && m.o.keys[i] < m.hi {
		return m.o.keys[i], true
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
