package journal_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// log makes three rows, and the head after each.
func log() (journal.Head, []journal.Row, journal.Head) {
	start := journal.Start("site_a")
	head, rows := start, []journal.Row{}
	for i, what := range []string{"node.cordoned", "node.draining", "node.drained"} {
		var row journal.Row
		row, head, _ = head.Append(journal.Entry{
			Time:  time.Date(2026, 5, 1, 12, i, 0, 0, time.UTC),
			Actor: "ann",
			Facts: []journal.Fact{{Type: what, Subject: "node_a"}},
			Keys:  []string{"node/node_a"},
		})
		rows = append(rows, row)
	}
	return start, rows, head
}

// each yields rows as a store's reader does.
func each(rows []journal.Row) func(func(journal.Row, error) bool) {
	return func(yield func(journal.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Whoever holds the store changes who did it, or takes a row out.
func ExampleVerify() {
	start, rows, head := log()
	reached, err := journal.Verify(start, each(rows), head)
	fmt.Println(reached.Revision, err)

	altered := slices.Clone(rows)
	altered[1].Actor = "bob"
	_, err = journal.Verify(start, each(altered), head)
	fmt.Println(err)

	_, err = journal.Verify(start, each(slices.Delete(slices.Clone(rows), 1, 2)), head)
	fmt.Println(err)

	_, err = journal.Verify(start, each(rows[:2]), head)
	fmt.Println(err)
	// Output:
	// 3 <nil>
	// journal: row 2 altered (ID-6)
	// journal: row 2 missing (ID-6)
	// journal: row 3 truncated (ID-6)
}

// A node's events, from where a reader left off.
func ExampleFilter_Events() {
	_, rows, _ := log()
	after, _ := journal.ParseCursor("1:0")
	wanted := journal.Filter{After: after, Subject: "node_a", Prefix: "node.drain"}
	for e, err := range wanted.Events(each(rows)) {
		fmt.Println(e.At, e.Time.Format(time.TimeOnly), e.Actor, e.Fact.Type, err)
	}
	// Output:
	// 2:0 12:01:00 ann node.draining <nil>
	// 3:0 12:02:00 ann node.drained <nil>
}
