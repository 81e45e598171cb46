package control

import (
	"fmt"
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

// Page is a part of the log's events, and whether more follow.
type Page struct {
	Events []journal.Event
	More   bool
}

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
	var p Page
	for e, err := range f.Events(rows) {
		if err != nil {
			return Page{}, err
		}
		if len(p.Events) == limit {
			p.More = true
			break
		}
		p.Events = append(p.Events, e)
	}
	return p, nil
}

// rowsOf yields the rows that tell of one subject, from a revision on.
func rowsOf(r store.Reader, subject string, from uint64) func(func(journal.Row, error) bool) {
	return func(yield func(journal.Row, error) bool) {
		prefix := eventsLedger + subject + "/"
		for key := range r.Range(eventKey(subject, store.Rev(from)), next(prefix)) {
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
