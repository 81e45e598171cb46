package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// oldest is the first version of the server that can end an idle session.
const oldest = 140000

// querier is a connection, or a transaction or pool of them.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// prepare sets up the writer's session and refuses a server that is not safe. What
// is safe now is pinned for the session where a session can.
func (w *writer) prepare(ctx context.Context) error {
	var version int
	var fsync, pages, sync string
	err := w.conn.QueryRow(ctx, `select current_setting('server_version_num')::int, current_setting('fsync'), current_setting('full_page_writes'),
		current_setting('synchronous_commit')`).Scan(&version, &fsync, &pages, &sync)
	if err != nil {
		return err
	}
	if why := unsafe(version, fsync, pages, sync); why != nil && !w.o.Unsafe {
		return &Unsafe{why}
	}
	if version < oldest {
		return &Unsafe{[]string{fmt.Sprintf("version %d is older than %d", version, oldest)}}
	}
	_, err = w.conn.Exec(ctx, w.o.sql.session(map[string]string{
		"synchronous_commit":                  sync,
		"statement_timeout":                   milliseconds(w.o.Timeout),
		"lock_timeout":                        milliseconds(w.o.Timeout / 2),
		"idle_session_timeout":                milliseconds(w.o.Lease),
		"idle_in_transaction_session_timeout": milliseconds(w.o.Lease),
	}))
	if err != nil {
		return err
	}
	return w.conn.QueryRow(ctx, `select pid, backend_start from pg_stat_activity where pid = pg_backend_pid()`).Scan(&w.self.pid, &w.self.since)
}

// unsafe is why a server may lose what it acknowledges.
func unsafe(version int, fsync, pages, sync string) []string {
	var why []string
	if version < oldest {
		why = append(why, fmt.Sprintf("its version is %d, want at least %d", version, oldest))
	}
	if fsync != "on" {
		why = append(why, "fsync is "+fsync+", want on")
	}
	if pages != "on" {
		why = append(why, "full_page_writes is "+pages+", want on")
	}
	if sync != "on" && sync != "remote_apply" {
		why = append(why, "synchronous_commit is "+sync+", want on or remote_apply")
	}
	return why
}

// state is the fence's row.
type state struct {
	Holder
	log    string
	schema int
}

// readState reads who writes, and what the schema is.
func readState(ctx context.Context, q querier, o settings) (state, error) {
	var there bool
	if err := q.QueryRow(ctx, o.sql.exists).Scan(&there); err != nil {
		return state{}, err
	}
	if !there {
		return state{}, &Absent{o.Schema}
	}
	var s state
	err := q.QueryRow(ctx, o.sql.state).Scan(&s.Fence, &s.Writer, &s.Since, &s.log, &s.schema)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return s, &Absent{o.Schema}
	case err != nil:
		return s, err
	case s.log != o.Log:
		return s, &Foreign{Have: s.log, Want: o.Log}
	}
	return s, nil
}

// raise makes the schema where there is none, and raises the fence. The lock is
// held, so nobody else does the same.
func (w *writer) raise(ctx context.Context) error {
	ctx, cancel := w.call(ctx)
	defer cancel()
	return pgx.BeginFunc(ctx, w.conn, func(tx pgx.Tx) error {
		s, err := readState(ctx, tx, w.o)
		if _, none := errors.AsType[*Absent](err); none {
			err = w.create(ctx, tx)
		}
		if err != nil {
			return err
		}
		if s.schema > schemaNumber {
			return &Newer{Have: s.schema, Know: schemaNumber}
		}
		if err := w.kept(ctx, tx); err != nil {
			return err
		}
		return tx.QueryRow(ctx, w.o.sql.raise, w.o.Writer, w.o.Log, schemaNumber).Scan(&w.fence)
	})
}

func (w *writer) create(ctx context.Context, tx pgx.Tx) error {
	for _, q := range w.o.sql.make {
		if _, err := tx.Exec(ctx, q); err != nil {
			return err
		}
	}
	var keys []string
	var vals [][]byte
	for k, c := range store.Birth(w.o.Log) {
		keys, vals = append(keys, k), append(vals, c.Val)
	}
	_, err := tx.Exec(ctx, w.o.sql.upsert, keys, vals)
	return err
}

// kept refuses tables that the server empties after a crash.
func (w *writer) kept(ctx context.Context, tx pgx.Tx) error {
	var logged bool
	err := tx.QueryRow(ctx, w.o.sql.logged).Scan(&logged)
	if err == nil && !logged && !w.o.Unsafe {
		err = &Unsafe{[]string{"a table of the schema " + w.o.Schema + " is unlogged"}}
	}
	return err
}

// fits looks whether the log's rows begin and end where its ends say.
func (w *writer) fits(ctx context.Context, head, base journal.Head) error {
	var first, last string
	for _, end := range []struct {
		sql  string
		into *string
	}{{w.o.sql.first, &first}, {w.o.sql.last, &last}} {
		err := w.conn.QueryRow(ctx, end.sql, store.LogPrefix, store.LogPrefix+"~").Scan(end.into)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	var oldest, newest string
	if head != base {
		oldest, newest = store.LogKey(store.Rev(base.Revision+1)), store.LogKey(store.Rev(head.Revision))
	}
	if first != oldest || last != newest {
		return damaged(fmt.Sprintf("the log's rows are %q to %q, want %q to %q", first, last, oldest, newest), head, nil)
	}
	if head == base {
		return nil
	}
	rows, err := readRows(ctx, w.conn, w.o.sql, newest)
	if err != nil {
		return err
	}
	row, err := journal.ParseRow(rows[newest])
	if err != nil || row.Hash() != head.Hash {
		return damaged("the log's newest row is not that which was acknowledged", head, err)
	}
	return nil
}

func damaged(what string, have journal.Head, err error) error {
	return &store.Damaged{What: what, Have: have, Next: "restore from a backup", Err: err}
}

// readMeta reads where the log ends and begins, for store.Heads.
func readMeta(ctx context.Context, q querier, sql statements) (func(string) ([]byte, bool), error) {
	rows, err := readRows(ctx, q, sql, metaKeys...)
	return func(key string) ([]byte, bool) {
		v, ok := rows[key]
		return v, ok
	}, err
}

// metaKeys are the keys that store.Heads asks for.
var metaKeys = asked()

func asked() []string {
	var keys []string
	_, _, _ = store.Heads("", func(key string) ([]byte, bool) {
		keys = append(keys, key)
		return nil, false
	})
	return keys
}

// readRows reads the rows of some keys.
func readRows(ctx context.Context, q querier, sql statements, keys ...string) (map[string][]byte, error) {
	rows, err := q.Query(ctx, sql.get, keys)
	if err != nil {
		return nil, err
	}
	got := map[string][]byte{}
	return got, eachRow(rows, func(k string, v []byte) { got[k] = v })
}

// eachRow reads a result of keys and values to its end.
func eachRow(rows pgx.Rows, visit func(k string, v []byte)) error {
	var k string
	var v []byte
	_, err := pgx.ForEachRow(rows, []any{&k, &v}, func() error {
		visit(k, v)
		v = nil // the next one gets room of its own
		return nil
	})
	return err
}
