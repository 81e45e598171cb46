package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres/postgrestest"
)

func TestLostReplyOfACommit(t *testing.T) {
	for _, forward := range []bool{true, false} {
		w := &wire{}
		o := options(t)
		o.Dial = w.dial
		s := open(t, o)
		if _, err := put(t.Context(), s, "k", "old"); err != nil {
			t.Fatal(err)
		}
		w.arm(&fault{after: 1, commit: true, forward: forward})
		if _, err := put(t.Context(), s, "k", "new"); !is[*store.Unknown](err) || is[*store.Unavailable](err) {
			t.Fatalf("forwarded %t: %v", forward, err)
		}
		within(t, "Failed", s.Failed())
		if !is[*store.Unknown](s.Err()) {
			t.Errorf("the store has stopped with %v", s.Err())
		}
		if _, err := put(t.Context(), s, "k", "more"); !is[*store.Unavailable](err) {
			t.Errorf("an update of a store that has stopped: %v", err)
		}
		s.Close()
		want := map[bool]string{true: "new", false: "old"}[forward]
		if got := get(t, open(t, o), "k"); got != want {
			t.Errorf("forwarded %t: afterwards it is %q", forward, got)
		}
	}
}

func TestCutBeforeTheCommit(t *testing.T) {
	w := &wire{}
	o := options(t)
	o.Dial = w.dial
	s := open(t, o)
	for n, forward := range []bool{false, true, false} {
		if rev, err := put(t.Context(), s, "k", "old"); err != nil || rev != store.Rev(n+1) {
			t.Fatal(rev, err)
		}
		w.arm(&fault{after: 1, forward: forward})
		_, err := put(t.Context(), s, "k", "new")
		if !is[*store.Unavailable](err) || is[*store.Unknown](err) {
			t.Fatalf("cut with forwarding %t: %v", forward, err)
		}
		if s.Err() != nil {
			t.Fatalf("the store has stopped: %v", s.Err())
		}
		if got := get(t, s, "k"); got != "old" {
			t.Errorf("it is %q", got)
		}
	}
}

// TestTerminatedConnections ends the server's processes: the writer's, the views',
// all at once.
func TestTerminatedConnections(t *testing.T) {
	o := options(t)
	s := open(t, o)
	const writes = `exists (select from pg_locks l where l.pid = a.pid and locktype = 'advisory')`
	rev := store.Rev(0)
	for _, which := range []string{writes, "not " + writes, "true"} {
		rev++
		val := fmt.Sprint(rev)
		if got, err := put(t.Context(), s, "k", val); err != nil || got != rev {
			t.Fatal(got, err)
		}
		if got := get(t, s, "k"); got != val {
			t.Errorf("got %q", got)
		}
		if ended := ask(t, o.DSN, `select count(pg_terminate_backend(pid, 10000))::text from pg_stat_activity a
			where datname = current_database() and pid <> pg_backend_pid() and `+which); ended == "0" {
			t.Fatalf("no connection was ended: %s", which)
		}
		if got := get(t, s, "k"); got != val {
			t.Errorf("a view after it: %q", got)
		}
		switch _, err := put(t.Context(), s, "other", val); {
		case err == nil:
			rev++
		case !is[*store.Unavailable](err), is[*store.Unknown](err):
			t.Errorf("an update after it: %v", err)
		}
	}
	if got := ask(t, o.DSN, `select number::text from ingot.fence`); got != "1" {
		t.Errorf("the fence is %s", got)
	}
}

// TestCollision has another session change a row by hand in the middle of a group:
// the server gives the group's transaction up, and the closures run again on what
// is there now.
func TestCollision(t *testing.T) {
	o := options(t)
	s := open(t, o)
	if _, err := put(t.Context(), s, "k", "0"); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	runs := 0
	conn, err := pgx.Connect(t.Context(), o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	_, err = s.Update(t.Context(), func(tx store.Tx) error {
		runs++
		for range store.Rows(tx, 0) { // the log is not in memory, so this opens the transaction
			break
		}
		once.Do(func() {
			if _, err := conn.Exec(t.Context(), `update ingot.rows set v = 'by hand' where k = 'k'`); err != nil {
				t.Error(err)
			}
		})
		v, _ := tx.Get("k")
		tx.Put("k", append(v[:len(v):len(v)], '!'))
		tx.Log(told("k"))
		return nil
	})
	if err != nil || runs != 2 {
		t.Fatalf("%d runs, %v", runs, err)
	}
	if got := get(t, s, "k"); got != "by hand!" {
		t.Errorf("it is %q", got)
	}
}

// TestCollisionsEnd is about another session that is always in the way.
func TestCollisionsEnd(t *testing.T) {
	o := options(t)
	s := open(t, o)
	if _, err := put(t.Context(), s, "k", "0"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	runs := 0
	_, err = s.Update(t.Context(), func(tx store.Tx) error {
		runs++
		for range store.Rows(tx, 0) {
			break
		}
		if _, err := conn.Exec(t.Context(), `update ingot.rows set v = v || 'x' where k = 'k'`); err != nil {
			t.Error(err)
		}
		tx.Put("k", []byte("mine"))
		tx.Log(told("k"))
		return nil
	})
	if !is[*store.Unavailable](err) || runs != 5 {
		t.Errorf("%d runs, %v", runs, err)
	}
	if got := get(t, s, "k"); got != "0xxxxx" {
		t.Errorf("it is %q", got)
	}
}

// TestRowIsLocked waits no longer than it should for a row that is locked by hand.
func TestRowIsLocked(t *testing.T) {
	o := options(t)
	o.Timeout = 3 * time.Second
	s := open(t, o)
	if _, err := put(t.Context(), s, "k", "0"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `begin; select from ingot.rows where k = 'k' for update`); err != nil {
		t.Fatal(err)
	}
	if _, err := put(t.Context(), s, "k", "1"); !is[*store.Unavailable](err) {
		t.Errorf("while it is locked: %v", err)
	}
	if _, err := conn.Exec(t.Context(), `rollback`); err != nil {
		t.Fatal(err)
	}
	if rev, err := put(t.Context(), s, "k", "2"); err != nil || rev != 2 {
		t.Errorf("after it: %d, %v", rev, err)
	}
}

// A server that stops waiting for its synchronous standby says COMMIT all the same,
// with a warning: nobody knows whether that commit outlives the server.
func TestStandbyThatDoesNotConfirm(t *testing.T) {
	srv, err := postgrestest.Start()
	postgrestest.Need(t, err)
	defer srv.Stop()
	o := postgres.Options{DSN: srv.Database(t), Log: "site"}
	s := open(t, o)
	if _, err := put(t.Context(), s, "k", "0"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, q := range []string{`alter system set synchronous_standby_names = 'nobody'`, `select pg_reload_conf()`} {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() {
		var err error
		for n := 0; err == nil; n++ { // until the server has read its settings
			_, err = put(t.Context(), s, "k", fmt.Sprint(n))
		}
		done <- err
	}()
	for waiting := false; !waiting; {
		if err := conn.QueryRow(t.Context(), `select count(pg_cancel_backend(pid)) > 0 from pg_stat_activity where wait_event = 'SyncRep'`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; !is[*store.Unknown](err) || !strings.Contains(err.Error(), "synchronous replication") {
		t.Errorf("a commit that the standby did not confirm: %v", err)
	}
}
