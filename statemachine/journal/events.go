package journal

import (
	"cmp"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
)

const (
	maxDigits = 20 // EVENT-1; 2^64 has as many
	maxPrefix = 64 // EVENT-1
)

// A Cursor is an event's place in the log, and a reader's: it has read up to and
// including that event. The zero Cursor is before every event.
type Cursor struct {
	Revision uint64 // the row
	Index    uint64 // the fact in the row, from 0
}

// String returns c as ParseCursor reads it.
func (c Cursor) String() string { return fmt.Sprintf("%d:%d", c.Revision, c.Index) }

// Compare orders cursors as the events lie in the log: negative where c is
// before o.
func (c Cursor) Compare(o Cursor) int {
	return cmp.Or(cmp.Compare(c.Revision, o.Revision), cmp.Compare(c.Index, o.Index))
}

// ParseCursor reads digits:digits, 1-20 digits each (EVENT-1). The error is
// [*Malformed]; numbers of 2^64 and more are refused, since no event has them.
func ParseCursor(s string) (Cursor, error) {
	revision, index, _ := strings.Cut(s, ":")
	r, okRevision := parseDigits(revision)
	i, okIndex := parseDigits(index)
	if !okRevision || !okIndex {
		return Cursor{}, malformed("cursor", "want digits:digits, 1-%d each, below 2^64 (EVENT-1)", maxDigits)
	}
	return Cursor{r, i}, nil
}

// parseDigits reads 1-20 digits; strconv alone takes longer runs of zeros.
func parseDigits(s string) (uint64, bool) {
	if len(s) > maxDigits {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// An Event is a fact with its place and its commit.
type Event struct {
	At    Cursor
	Time  time.Time
	Actor string
	Fact  Fact
}

// A Filter says which events a reader wants. The zero Filter wants all.
type Filter struct {
	After   Cursor // those after this one
	Subject string // those about this node; "" for any
	Prefix  string // those whose type begins so; "" for any
}

// Validate refuses a prefix that is not [a-z][a-z0-9._-]{0,63} (EVENT-1), with
// [*Malformed].
func (f Filter) Validate() error {
	if f.Prefix != "" && !typeName(f.Prefix, maxPrefix) {
		return malformed("type prefix", "want [a-z][a-z0-9._-]{0,63} (EVENT-1)")
	}
	return nil
}

// Events yields the events that f wants, oldest first. The rows come oldest
// first too; begin at f.After.Revision to read no row in vain. An error of rows
// is yielded and ends it.
func (f Filter) Events(rows iter.Seq2[Row, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for row, err := range rows {
			if err != nil {
				yield(Event{}, err)
				return
			}
			for i, fact := range row.Facts {
				e := Event{Cursor{row.Revision, uint64(i)}, row.Time, row.Actor, fact}
				if f.wants(e) && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// wants reports whether e passes f.
func (f Filter) wants(e Event) bool {
	return e.At.Compare(f.After) > 0 &&
		(f.Subject == "" || f.Subject == e.Fact.Subject) &&
		strings.HasPrefix(e.Fact.Type, f.Prefix)
}
