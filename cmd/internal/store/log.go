package store

import (
	"fmt"
	"iter"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// The store's own keys.
const (
	metaHead = MetaPrefix + "head"
	metaBase = MetaPrefix + "base"
)

// LogKey is where the row of a revision is kept.
func LogKey(r Rev) string { return fmt.Sprintf(LogPrefix+"%016x", uint64(r)) }

// Rows yields the rows of the log after a revision, oldest first. A row that is
// no row is yielded as an error that names its key, and ends it.
func Rows(r Reader, after Rev) iter.Seq2[journal.Row, error] {
	return func(yield func(journal.Row, error) bool) {
		for k, v := range r.Range(LogKey(after+1), LogPrefix+"g") {
			row, err := journal.ParseRow(v)
			if err != nil {
				yield(journal.Row{}, fmt.Errorf("%s: %w", k, err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Heads reads the log's head and base as they are kept. Name is that of a log
// which has no row yet.
func Heads(name string, get func(key string) ([]byte, bool)) (head, base journal.Head, err error) {
	head = journal.Start(name)
	base = head
	for _, h := range []struct {
		key  string
		into *journal.Head
	}{{metaHead, &head}, {metaBase, &base}} {
		raw, ok := get(h.key)
		if !ok {
			continue
		}
		if *h.into, err = journal.ParseHead(string(raw)); err != nil {
			return journal.Head{}, journal.Head{}, fmt.Errorf("%s: %w", h.key, err)
		}
	}
	return head, base, nil
}
