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

	// MetaName holds the log's name, from the store's first commit on.
	MetaName = MetaPrefix + "name"
	// MetaFormat holds Format.
	MetaFormat = MetaPrefix + "format"
)

// Format is how rows are kept. A store of another format is left alone.
const Format = "1"

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

// Birth yields what a store holds before its first update, for a log called name.
func Birth(name string) iter.Seq2[string, Change] {
	start := []byte(journal.Start(name).String())
	return func(yield func(string, Change) bool) {
		_ = yield(MetaFormat, Change{Val: []byte(Format)}) && yield(MetaName, Change{Val: []byte(name)}) &&
			yield(metaBase, Change{Val: start}) && yield(metaHead, Change{Val: start})
	}
}
