package control

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// eventsLedger finds the rows of the log that tell of one subject. It holds
// nothing that the log does not say.
const eventsLedger = store.LedgerPrefix + "event/"

func eventKey(subject string, rev store.Rev) string {
	return fmt.Sprintf("%s%s/%016x", eventsLedger, subject, uint64(rev))
}

// Page is a part of the log's events. Next is where to go on, also where there was
// no event; More says that there is something to look at already.
type Page struct {
	Events []journal.Event
	More   bool
	Next   journal.Cursor
}

// scanEvents is how many rows of the log one page looks at: a filter that few
// events pass makes short pages, not long views.
const scanEvents = 5000

// Events reads up to limit events that f wants, oldest first (EVENT-1). A cursor
// beyond the log's end is a CONFLICT: the log was restored from an older copy, or
// is another one.
func Events(r store.Reader, f journal.Filter, limit int) (Page, error) {
	if err := f.Validate(); err != nil {
		return Page{}, err
	}
	if head := r.Head(); f.After.Revision > head.Revision {
		return Page{}, conflict(fmt.Sprintf("the cursor is beyond the log's end, %d", head.Revision), "the log was restored from an older copy: begin anew, without a cursor")
	}
	if base := r.Base(); f.After.Revision < base.Revision && f.After != (journal.Cursor{}) {
		return Page{}, conflict(fmt.Sprintf("the rows up to %d have left the store", base.Revision), "read them in the sealed segments, or begin after them")
	}
	rows := store.Rows(r, store.Rev(max(f.After.Revision, 1)-1))
	if f.Subject != "" {
		rows = rowsOf(r, f.Subject, f.After.Revision)
	}
	p := Page{Next: f.After}
	s := scan{left: scanEvents}
	for e, err := range f.Events(s.rows(rows)) {
		if err != nil {
			return Page{}, err
		}
		if len(p.Events) == limit {
			p.More = true
			return p, nil
		}
		p.Events, p.Next = append(p.Events, e), e.At
	}
	if p.More = s.cut; s.cut {
		p.Next = endOf(s.last)
	} else if head := r.Head().Revision; head > p.Next.Revision {
		p.Next = endOf(head)
	}
	return p, nil
}

// endOf is the cursor after all events of a row.
func endOf(rev uint64) journal.Cursor { return journal.Cursor{Revision: rev, Index: math.MaxUint64} }

// scan ends rows after so many.
type scan struct {
	left int
	last uint64
	cut  bool
}

func (s *scan) rows(all iter.Seq2[journal.Row, error]) iter.Seq2[journal.Row, error] {
	return func(yield func(journal.Row, error) bool) {
		for row, err := range all {
			if s.left == 0 && err == nil {
				s.cut = true
				return
			}
			s.left--
			s.last = row.Revision
			if !yield(row, err) {
				return
			}
		}
	}
}

// Told reports whether the log tells of a subject after a revision.
func Told(r store.Reader, subject string, after uint64) bool {
	for range r.Range(eventKey(subject, store.Rev(after)+1), Beyond(eventsLedger+subject+"/")) {
		return true
	}
	return false
}

// rowsOf yields the rows that tell of one subject, from a revision on.
func rowsOf(r store.Reader, subject string, from uint64) func(func(journal.Row, error) bool) {
	return func(yield func(journal.Row, error) bool) {
		prefix := eventsLedger + subject + "/"
		for key := range r.Range(eventKey(subject, store.Rev(from)), Beyond(prefix)) {
			rev, err := strconv.ParseUint(strings.TrimPrefix(key, prefix), 16, 64)
			if err != nil {
				continue // a subject that goes on where this one ends
			}
			raw, ok := r.Get(store.LogKey(store.Rev(rev)))
			if !ok {
				continue // it was sealed and left
			}
			row, err := journal.ParseRow(raw)
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
