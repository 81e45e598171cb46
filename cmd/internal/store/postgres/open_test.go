package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
)

// database is the name in a DSN of the test server.
func database(dsn string) string { return dsn[strings.LastIndex(dsn, "=")+1:] }

func TestOptionsAreRefused(t *testing.T) {
	for what, o := range map[string]postgres.Options{
		"a schema that needs quotes": {Schema: `a"; drop`},
		"a schema in capitals":       {Schema: "Ingot"},
		"a password in words":        {DSN: "host=x password=secret"},
		"a password in a URL":        {DSN: "postgres://u:secret@x/y"},
		"a password in a query":      {DSN: "postgres://u@x/y?password=secret"},
		"a key's password":           {DSN: "host=x sslpassword=secret"},
		"no DSN at all":              {DSN: "host"},
		"a writer with a NUL":        {Writer: "a\x00"},
		"a log in Greek":             {Log: "α"},
		"a lease of a moment":        {Lease: time.Microsecond},
		"a timeout below 0":          {Timeout: -1},
		"a poll below 0":             {Poll: -1},
		"a memory below 0":           {Cache: -1},
		"connections below 0":        {Conns: -1},
	} {
		for name, open := range map[string]func() error{
			"Open":        func() error { _, err := postgres.Open(t.Context(), o); return err },
			"OpenReplica": func() error { _, err := postgres.OpenReplica(t.Context(), o); return err },
		} {
			err := open()
			if !is[*postgres.Invalid](err) {
				t.Errorf("%s, %s: %v", what, name, err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s, %s: the error tells it: %v", what, name, err)
			}
		}
	}
}

// Each case spoils a database that was well, and opens it.
func TestServerIsRefused(t *testing.T) {
	for what, c := range map[string]struct {
		spoil  string
		code   string
		reads  bool // a Replica may open it all the same
		unsafe bool // Options.Unsafe takes it
	}{
		"commits that are not synced": {spoil: `alter database DB set synchronous_commit = off`, code: "INVALID_CONFIG", reads: true, unsafe: true},
		"local commits":               {spoil: `alter database DB set synchronous_commit = local`, code: "INVALID_CONFIG", reads: true, unsafe: true},
		"rows without a log":          {spoil: `alter table ingot.rows set unlogged`, code: "INVALID_CONFIG", reads: true, unsafe: true},
		"a newer schema":              {spoil: `update ingot.fence set schema = 2`, code: "INVALID_STATE", reads: true},
		"another log":                 {spoil: `update ingot.fence set log = 'other'`, code: "CONFLICT"},
		"a log without its end":       {spoil: `delete from ingot.rows where k like 'log/%2'`, code: "UNAVAILABLE", reads: true},
		"a log without its beginning": {spoil: `delete from ingot.rows where k like 'log/%1'`, code: "UNAVAILABLE", reads: true},
		"a log that is too long":      {spoil: `insert into ingot.rows select 'log/0000000000000003', v from ingot.rows where k like 'log/%2'`, code: "UNAVAILABLE", reads: true},
		"an end that is another row":  {spoil: `update ingot.rows set v = (select v from ingot.rows where k like 'log/%1') where k like 'log/%2'`, code: "UNAVAILABLE", reads: true},
		"an end that is no head":      {spoil: `update ingot.rows set v = 'x' where k = 'meta/head'`, code: "UNAVAILABLE"},
	} {
		t.Run(what, func(t *testing.T) {
			o := options(t)
			s := open(t, o)
			for range 2 {
				if _, err := put(t.Context(), s, "k", "v"); err != nil {
					t.Fatal(err)
				}
			}
			s.Close()
			ask(t, o.DSN, strings.ReplaceAll(c.spoil, "DB", database(o.DSN)))
			_, err := postgres.Open(t.Context(), o)
			if coded, ok := errors.AsType[interface {
				error
				Code() string
			}](err); !ok || coded.Code() != c.code {
				t.Errorf("Open: %v", err)
			}
			if c.code == "UNAVAILABLE" && !is[*store.Damaged](err) {
				t.Errorf("Open: %T", err)
			}
			o.Unsafe = true
			if s, err := postgres.Open(t.Context(), o); (err == nil) != c.unsafe {
				t.Errorf("Open with Unsafe: %v", err)
			} else if err == nil {
				s.Close()
			}
			r, err := postgres.OpenReplica(t.Context(), o)
			if (err == nil) != c.reads {
				t.Errorf("OpenReplica: %v", err)
			}
			if err == nil {
				if got := get(t, r, "k"); got != "v" {
					t.Errorf("a Replica shows %q", got)
				}
				r.Close()
			}
		})
	}
}

func TestReplicaOfNothing(t *testing.T) {
	o := options(t)
	if _, err := postgres.OpenReplica(t.Context(), o); !is[*postgres.Absent](err) {
		t.Errorf("a database without a schema: %v", err)
	}
}

func TestReplica(t *testing.T) {
	o := options(t)
	o.Poll = 10 * time.Millisecond
	s := open(t, o)
	r := openReplica(t, o)
	before := r.Changed(0)
	if rev, err := put(t.Context(), s, "k", "v"); err != nil || rev != 1 {
		t.Fatal(rev, err)
	}
	within(t, "Changed", before)
	within(t, "Changed", r.Changed(0))
	if got := get(t, r, "k"); got != "v" {
		t.Errorf("got %q", got)
	}
	_, err := put(t.Context(), r, "k", "w")
	refused, ok := errors.AsType[*store.ReadOnly](err)
	if !ok || !is[*store.Unavailable](err) || !strings.Contains(refused.Writer, "first") {
		t.Errorf("an update: %v", err)
	}
	later := r.Changed(1)
	if r.Err() != nil {
		t.Error(r.Err())
	}
	r.Close()
	within(t, "Failed", r.Failed())
	within(t, "Changed", later)
	if err := r.View(t.Context(), func(store.Reader) error { return nil }); !errors.Is(err, store.ErrClosed) || !is[*store.Unavailable](err) {
		t.Errorf("a view after Close: %v", err)
	}
	if _, err := put(t.Context(), r, "k", "w"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("an update after Close: %v", err)
	}
}
