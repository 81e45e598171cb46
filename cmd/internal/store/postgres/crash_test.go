package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres"
	"github.com/ingotmetal/ingot/cmd/internal/store/postgres/postgrestest"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// fate is what became of one closure that wrote two keys and a row of the log.
type fate struct {
	name string
	rev  store.Rev
	err  error
}

// load has writers write until the context ends, or for as long as the store does
// not stop, and tells what became of each closure.
func load(ctx context.Context, s store.Store, round, writers int) []fate {
	var mu sync.Mutex
	var all []fate
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil && s.Err() == nil; n++ {
				f := fate{name: fmt.Sprintf("%d/%d/%d", round, w, n)}
				f.rev, f.err = s.Update(context.Background(), func(tx store.Tx) error {
					tx.Put("a/"+f.name, []byte("half"))
					tx.Put("z/"+f.name, []byte("half"))
					tx.Log(told(f.name))
					return nil
				})
				mu.Lock()
				all = append(all, f)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all
}

// head is the newest revision.
func head(t *testing.T, s store.Store) (rev store.Rev) {
	t.Helper()
	if err := s.View(t.Context(), func(r store.Reader) error {
		rev = store.Rev(r.Head().Revision)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rev
}

// TestServerIsKilled kills the server under load, again and again: what was
// acknowledged is there, nothing is there by half, and the log is whole.
func TestServerIsKilled(t *testing.T) {
	srv, err := postgrestest.Start()
	postgrestest.Need(t, err)
	defer srv.Stop()
	o := postgres.Options{DSN: srv.Database(t), Log: "site", Wait: true}
	var all []fate
	for round := range 3 {
		s, err := postgres.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan []fate)
		go func() { done <- load(ctx, s, round, 16) }()
		for at, to := store.Rev(0), head(t, s)+100; at < to; at = head(t, s) {
			within(t, "some commits", s.Changed(at))
		}
		if err := srv.Kill(); err != nil {
			t.Fatal(err)
		}
		cancel()
		all = append(all, <-done...)
		s.Close()
		if err := srv.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, o)
	judge(t, s, all)
}

// judge compares what was told with what is there.
func judge(t *testing.T, s store.Store, all []fate) {
	keys, subjects := map[string]int{}, []string{""}
	var head journal.Head
	for at, more := store.Rev(0), true; more; { // by parts, since a view has its time
		more = false
		if err := s.View(t.Context(), func(r store.Reader) error {
			head = r.Head()
			for row, err := range store.Rows(r, at) {
				if err != nil {
					return err
				}
				subjects = append(subjects, row.Facts[0].Subject)
				if at, more = store.Rev(row.Revision), true; at%1000 == 0 {
					break
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(subjects)-1 != int(head.Revision) {
		t.Errorf("%d rows, the head is %s", len(subjects)-1, head)
	}
	for _, prefix := range []string{"a/", "z/"} {
		if err := s.View(t.Context(), func(r store.Reader) error {
			for k := range r.Range(prefix, prefix+"~") {
				keys[k[2:]]++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	counts := map[string]int{}
	for _, f := range all {
		there := keys[f.name]
		if i := slices.Index(subjects, f.name); i >= 0 {
			if there++; f.err == nil && f.rev != store.Rev(i) {
				t.Errorf("%s is row %d, and was acknowledged as %d", f.name, i, f.rev)
			}
		}
		switch {
		case there != 0 && there != 3:
			t.Errorf("%s is there by half: %d of 3", f.name, there)
		case f.err == nil && there == 0:
			t.Errorf("%s was acknowledged as %d and is gone", f.name, f.rev)
		case is[*store.Unavailable](f.err) && there != 0:
			t.Errorf("%s was refused and is there: %v", f.name, f.err)
		}
		counts[fmt.Sprintf("%T there %t", f.err, there > 0)]++
	}
	t.Log(counts)
}

// TestHalfOpenConnection breaks the writer's connection without the server noticing:
// the process there, which has the lock, is ended, long before the lease is.
func TestHalfOpenConnection(t *testing.T) {
	w := &wire{}
	defer w.cut()
	o := options(t)
	o.Dial, o.Lease = w.dial, time.Hour
	s := open(t, o)
	for n := range 3 {
		if _, err := put(t.Context(), s, "k", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
		w.abandon()
		if _, err := put(t.Context(), s, "other", "x"); !is[*store.Unavailable](err) {
			t.Errorf("on a dead connection: %v", err)
		}
	}
	if got := get(t, s, "k"); got != "2" {
		t.Errorf("it is %q", got)
	}
}

// TestServerThatLost has the server lose what it acknowledged, as a standby does
// that takes over without all of it: the writer does not go on.
func TestServerThatLost(t *testing.T) {
	for what, loss := range map[string]string{
		"the newest row": `delete from ingot.rows where k like 'log/%2'; update ingot.rows set v = (select v from ingot.rows where k = 'saved') where k = 'meta/head'`,
		"the fence":      `update ingot.fence set number = 0`,
	} {
		w := &wire{}
		o := options(t)
		o.Dial = w.dial
		s := open(t, o)
		if _, err := put(t.Context(), s, "k", "1"); err != nil {
			t.Fatal(err)
		}
		ask(t, o.DSN, `insert into ingot.rows select 'saved', v from ingot.rows where k = 'meta/head'`)
		if _, err := put(t.Context(), s, "k", "2"); err != nil {
			t.Fatal(err)
		}
		ask(t, o.DSN, loss)
		w.cut()
		for range 2 { // the first may meet the broken connection alone
			if _, err := put(t.Context(), s, "k", "3"); !is[*store.Unavailable](err) {
				t.Errorf("%s: %v", what, err)
			}
		}
		within(t, "Failed", s.Failed())
		if !is[*store.Damaged](s.Err()) {
			t.Errorf("%s: the store has stopped with %v", what, s.Err())
		}
		s.Close()
	}
}

// TestStandby reads from a hot standby what the primary acknowledged, in order.
func TestStandby(t *testing.T) {
	srv, err := postgrestest.Start()
	postgrestest.Need(t, err)
	defer srv.Stop()
	o := postgres.Options{DSN: srv.Database(t), Log: "site", Writer: "first", Poll: 20 * time.Millisecond}
	s := open(t, o)
	if _, err := put(t.Context(), s, "k", "0"); err != nil {
		t.Fatal(err)
	}
	follower, err := srv.Standby()
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Stop()
	there := o
	there.DSN = follower.DSN(database(o.DSN))
	r := openReplica(t, there)
	if _, err := put(t.Context(), r, "k", "x"); !is[*store.Unavailable](err) || !is[*store.ReadOnly](err) {
		t.Errorf("an update of a standby: %v", err)
	}
	if _, err := postgres.Open(t.Context(), there); err == nil {
		t.Error("a standby was opened for writing")
	}
	const rows = 200
	go func() {
		for n := range rows {
			if _, err := put(t.Context(), s, "k", fmt.Sprint(n+1)); err != nil {
				t.Error(err)
			}
		}
	}()
	follow(t, r, rows+1)
}

// follow reads until a revision, and checks that each view fits the one before.
func follow(t *testing.T, r store.Store, to store.Rev) {
	var last journal.Head
	for store.Rev(last.Revision) < to {
		within(t, "Changed", r.Changed(store.Rev(last.Revision)))
		if err := r.View(t.Context(), func(at store.Reader) error {
			for row, err := range store.Rows(at, store.Rev(last.Revision)) {
				if err != nil {
					return err
				}
				if row.Revision != last.Revision+1 {
					return fmt.Errorf("row %d comes after %d", row.Revision, last.Revision)
				}
				last.Revision = row.Revision
			}
			if v, _ := at.Get("k"); string(v) != fmt.Sprint(last.Revision-1) || at.Head().Revision != last.Revision {
				return fmt.Errorf("at row %d the key is %s and the head %s", last.Revision, v, at.Head())
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
