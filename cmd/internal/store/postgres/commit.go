package postgres

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// flush sends what the group wrote, and checks the fence where that was not done.
func (b *batch) flush() error {
	puts, gone := b.difference()
	if b.open && len(puts)+len(gone) == 0 {
		return nil
	}
	return b.trip(func(q *pgx.Batch) {
		for len(puts) > 0 {
			n := chunk(puts, b.applied.vals)
			vals := make([][]byte, n)
			for i, k := range puts[:n] {
				vals[i] = b.applied.vals[k].Val
			}
			q.Queue(b.w.o.sql.upsert, puts[:n], vals)
			puts = puts[n:]
		}
		if len(gone) > 0 {
			q.Queue(b.w.o.sql.remove, gone)
		}
	})
}

// difference is what the server does not have as the group wrote it.
func (b *batch) difference() (puts, gone []string) {
	for _, k := range b.applied.sorted() {
		c := b.applied.vals[k]
		was, known := b.stored(k)
		switch {
		case known && was.Gone == c.Gone && bytes.Equal(was.Val, c.Val):
		case c.Gone:
			gone = append(gone, k)
		default:
			puts = append(puts, k)
		}
	}
	return puts, gone
}

// chunk is how many of keys go into one statement.
func chunk(keys []string, vals map[string]store.Change) int {
	size := 0
	for i, k := range keys {
		if size += len(vals[k].Val); size > maxUpsert {
			return max(i, 1)
		}
	}
	return len(keys)
}

// trip is one round trip. The first one of a batch begins the transaction and
// checks the fence, which it locks until the end.
func (b *batch) trip(queue func(*pgx.Batch)) error {
	q := &pgx.Batch{}
	if !b.open {
		b.open = true
		q.Queue(`begin isolation level repeatable read`)
		q.Queue(b.w.o.sql.fence).QueryRow(func(row pgx.Row) error {
			var h Holder
			if err := row.Scan(&h.Fence, &h.Writer, &h.Since); err != nil {
				return err
			}
			return b.w.owns(h)
		})
	}
	queue(q)
	ctx, cancel := b.w.call(context.Background())
	defer cancel()
	err := b.w.conn.SendBatch(ctx, q).Close()
	b.failed = b.failed || err != nil
	return err
}

// Commit makes durable what Settle sent. Of an error nobody knows whether it did.
func (b *batch) Commit() error {
	defer b.end()
	ctx, cancel := b.w.call(context.Background())
	defer cancel()
	b.w.warning = ""
	b.failed = true
	done, err := b.w.conn.PgConn().Exec(ctx, "commit").ReadAll()
	switch {
	case err != nil:
		return err
	case len(done) != 1 || done[0].CommandTag.String() != "COMMIT":
		return errors.New("postgres: the server did not commit")
	case b.w.warning != "": // such as: it is not on the standby that was to have it
		return errors.New("postgres: " + b.w.warning)
	}
	b.failed = false
	return b.acknowledge()
}

// acknowledge takes in what is durable now.
func (b *batch) acknowledge() error {
	for k, c := range b.applied.vals {
		b.w.cache.put(k, c)
	}
	head, _, err := store.Heads(b.w.o.Log, func(key string) ([]byte, bool) {
		c, ok := b.applied.vals[key]
		return c.Val, ok
	})
	b.w.head = head
	return err
}

// Rollback drops the batch. After Commit it does nothing.
func (b *batch) Rollback() {
	if !b.ended {
		b.undo()
		b.end()
	}
}

// undo ends the transaction. A connection on which that fails is given up.
func (b *batch) undo() {
	if !b.open {
		return
	}
	b.open = false
	ctx, cancel := b.w.call(context.Background())
	defer cancel()
	if _, err := b.w.conn.Exec(ctx, "rollback"); err != nil {
		b.w.drop()
	}
}

// end gives the connection back. After a failure the memory is blank.
func (b *batch) end() {
	if b.ended {
		return
	}
	b.ended = true
	if b.failed {
		b.w.cache.drop()
	}
	b.w.mu.Unlock()
}
