package postgres

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// maxRead is when a view's last read is given up. One that began in time may end
// late: the largest value takes its time on a busy host.
const maxRead = 3 * store.MaxView

// views run closures on snapshots, each on a connection of its own.
type views struct {
	o    settings
	pool *pgxpool.Pool
}

func (v views) run(ctx context.Context, fn func(store.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, s, err := v.begin(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &store.Unavailable{Err: err}
	}
	defer conn.Release() // which closes one that is still in a transaction
	defer s.end()
	err = store.RunView(ctx, v.o.Now, s, fn)
	if s.err == nil || ctx.Err() != nil {
		return err
	}
	if s.late() {
		return &store.TooLong{}
	}
	return &store.Unavailable{Err: s.err}
}

// begin takes a snapshot. A connection that broke while nobody used it, and all
// others with it, are made anew once.
func (v views) begin(ctx context.Context) (*pgxpool.Conn, *snapshot, error) {
	for try := 0; ; try++ {
		conn, s, err := v.snapshot(ctx)
		if err == nil || try > 0 || ctx.Err() != nil {
			return conn, s, err
		}
		v.pool.Reset()
	}
}

func (v views) snapshot(ctx context.Context) (*pgxpool.Conn, *snapshot, error) {
	wait, cancel := context.WithTimeout(ctx, v.o.Timeout)
	defer cancel()
	conn, err := v.pool.Acquire(wait)
	if err != nil {
		return nil, nil, err
	}
	s := &snapshot{conn: conn.Conn(), sql: v.o.sql}
	s.ctx, s.cancel = context.WithTimeout(ctx, maxRead)
	if err := s.begin(v.o.Log); err != nil {
		s.end()
		conn.Release()
		return nil, nil, err
	}
	return conn, s, nil
}

// snapshot is a reading transaction.
type snapshot struct {
	ctx        context.Context
	cancel     context.CancelFunc
	conn       *pgx.Conn
	sql        statements
	head, base journal.Head
	err        error // of the first read that failed
}

func (s *snapshot) begin(log string) error {
	meta := map[string][]byte{}
	q := &pgx.Batch{}
	q.Queue(`begin isolation level repeatable read, read only`)
	q.Queue(s.sql.get, metaKeys).Query(func(rows pgx.Rows) error {
		return eachRow(rows, func(k string, v []byte) { meta[k] = v })
	})
	err := s.conn.SendBatch(s.ctx, q).Close()
	if err == nil {
		s.head, s.base, err = store.Heads(log, func(key string) ([]byte, bool) {
			v, ok := meta[key]
			return v, ok
		})
	}
	return err
}

// end gives the snapshot up.
func (s *snapshot) end() {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = s.conn.Exec(ctx, "rollback") // or the connection is closed
}

// late reports whether a read failed because the view lasted too long.
func (s *snapshot) late() bool {
	e, ok := errors.AsType[*pgconn.PgError](s.err)
	return s.ctx.Err() != nil || ok && (e.Code == "57014" || e.Code == "25P03")
}

// Get is store.Reader's.
func (s *snapshot) Get(key string) ([]byte, bool) {
	if s.err != nil || !printable(key) {
		return nil, false
	}
	rows, err := readRows(s.ctx, s.conn, s.sql, key)
	s.err = err
	v, ok := rows[key]
	return v, ok && err == nil
}

// Range reads by pages.
func (s *snapshot) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for at := lo; at < hi && s.err == nil; {
			keys, vals := s.page(at, hi)
			for i, k := range keys {
				if !yield(k, vals[i]) {
					return
				}
			}
			if len(keys) < pageRows {
				return
			}
			at = keys[len(keys)-1] + "\x00"
		}
	}
}

func (s *snapshot) page(lo, hi string) (keys []string, vals [][]byte) {
	rows, err := s.conn.Query(s.ctx, s.sql.page, bound(lo), bound(hi))
	if err == nil {
		err = eachRow(rows, func(k string, v []byte) { keys, vals = append(keys, k), append(vals, v) })
	}
	if s.err = err; err != nil {
		return nil, nil
	}
	return keys, vals
}

// Head is store.Reader's.
func (s *snapshot) Head() journal.Head { return s.head }

// Base is store.Reader's.
func (s *snapshot) Base() journal.Head { return s.base }
