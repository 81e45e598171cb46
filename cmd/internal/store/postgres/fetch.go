package postgres

import (
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// fetch reads what is wanted in one round trip.
func (b *batch) fetch() error {
	keys := slices.Sorted(maps.Keys(b.want))
	spans := slices.Collect(maps.Keys(b.spans))
	clear(b.want)
	clear(b.spans)
	return b.trip(func(q *pgx.Batch) {
		if len(keys) > 0 {
			q.Queue(b.w.o.sql.get, keys).Query(func(rows pgx.Rows) error { return b.learn(keys, rows) })
		}
		for _, s := range spans {
			q.Queue(b.w.o.sql.page, bound(s.lo), bound(s.hi)).Query(func(rows pgx.Rows) error { return b.turn(s, rows) })
		}
	})
}

// learn takes in the rows of some keys. What is not there is absent.
func (b *batch) learn(keys []string, rows pgx.Rows) error {
	for _, k := range keys {
		b.known[k] = store.Change{Gone: true}
	}
	if err := eachRow(rows, func(k string, v []byte) { b.known[k] = store.Change{Val: v} }); err != nil {
		return err
	}
	for _, k := range keys {
		b.w.cache.put(k, b.known[k])
	}
	return nil
}

// turn takes in a page of a range.
func (b *batch) turn(s span, rows pgx.Rows) error {
	p := page{lo: s.lo, end: s.hi}
	err := eachRow(rows, func(k string, v []byte) {
		b.known[k] = store.Change{Val: v}
		p.keys = append(p.keys, k)
	})
	if len(p.keys) == pageRows {
		p.end = p.keys[pageRows-1] + "\x00"
	}
	if err == nil {
		b.pages.add(p)
	}
	return err
}
