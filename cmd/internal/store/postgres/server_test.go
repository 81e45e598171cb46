package postgres_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres/postgrestest"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// shared is the server of all tests that do not break one. It begins with the
// first that asks.
type shared struct {
	once sync.Once
	*postgrestest.Server
	err error
}

var server = new(shared)

func (s *shared) start() {
	s.once.Do(func() { s.Server, s.err = postgrestest.Start("max_connections=200") })
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.Server != nil {
		if err := server.Stop(); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// options are those of a new database.
func options(t testing.TB) postgres.Options {
	t.Helper()
	server.start()
	postgrestest.Need(t, server.err)
	return postgres.Options{DSN: server.Database(t), Log: "site", Writer: "first"}
}

func open(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openReplica(t testing.TB, o postgres.Options) *postgres.Replica {
	t.Helper()
	r, err := postgres.OpenReplica(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// told is a row of the log.
func told(subject string) store.Entry {
	return store.Entry{Time: time.Unix(1, 0), Actor: "test", Facts: []journal.Fact{{Type: "test.told", Subject: subject}}}
}

// put writes one key.
func put(ctx context.Context, s store.Store, key, val string) (store.Rev, error) {
	return s.Update(ctx, func(tx store.Tx) error {
		tx.Put(key, []byte(val))
		tx.Log(told(key))
		return nil
	})
}

// get reads one key in a view.
func get(t testing.TB, s store.Store, key string) string {
	t.Helper()
	var val string
	if err := s.View(t.Context(), func(r store.Reader) error {
		v, _ := r.Get(key)
		val = string(v)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return val
}

// ask runs statements beside the store, and returns the last one's first value as text.
func ask(t testing.TB, dsn, query string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	all, err := conn.PgConn().Exec(t.Context(), query).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	last := all[len(all)-1]
	if len(last.Rows) == 0 {
		return ""
	}
	got := string(last.Rows[0][0])
	return got
}

func TestRoundTrip(t *testing.T) {
	o := options(t)
	s := open(t, o)
	if rev, err := put(t.Context(), s, "k", "v"); err != nil || rev != 1 {
		t.Fatal(rev, err)
	}
	if got := get(t, s, "k"); got != "v" {
		t.Errorf("got %q", got)
	}
	if _, err := s.Update(t.Context(), func(tx store.Tx) error {
		v, _ := tx.Get("k")
		tx.Put("k", append(v, 'w'))
		tx.Log(told("k"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, o)
	if got := get(t, s, "k"); got != "vw" {
		t.Errorf("after opening again: %q", got)
	}
}
