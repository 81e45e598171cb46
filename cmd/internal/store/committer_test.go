package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// held makes the committer wait in its first commit, until release is called.
func held(f *fake) (release func(), entered chan struct{}) {
	hold, entered := make(chan struct{}), make(chan struct{}, 1000)
	f.gate = func() { entered <- struct{}{}; <-hold }
	return sync.OnceFunc(func() { close(hold) }), entered
}

// inGroup runs closures in one group, and returns their outcomes.
func inGroup(t *testing.T, fns ...func(Tx) error) (f *fake, c *Committer, revs []Rev, errs []error, panics []any) {
	f, c = start(t)
	release, entered := held(f)
	revs, errs, panics = make([]Rev, len(fns)), make([]error, len(fns)), make([]any, len(fns))
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = c.Update(t.Context(), put("first", "x")) })
	<-entered
	for i, fn := range fns {
		wg.Go(func() {
			errs[i] = errors.New("its goroutine ended")
			defer func() { panics[i] = recover() }()
			revs[i], errs[i] = c.Update(t.Context(), fn)
		})
		synctest.Wait()
	}
	release()
	wg.Wait()
	return f, c, revs, errs, panics
}

func TestAGroupSharesItsCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sawA, sawRefused bool
		f, c, revs, errs, panics := inGroup(t,
			put("a", "1"),
			func(tx Tx) error { tx.Put("refused", nil); tell(tx); return errDisk },
			func(tx Tx) error { tx.Put("b", nil); panic("at home") },
			func(tx Tx) error {
				_, sawA = tx.Get("a")
				_, sawRefused = tx.Get("refused")
				return nil
			},
			put("c", "3"),
		)
		if fmt.Sprint(revs) != "[2 2 0 2 3]" || errs[1] != errDisk || panics[2] != "at home" || panics[4] != nil {
			t.Error(revs, errs, panics)
		}
		if !sawA || sawRefused || len(f.rows) != 3+3+2 {
			t.Error(sawA, sawRefused, f.rows)
		}
		commits, closures := c.Counts()
		if commits != 2 || closures != 4 {
			t.Error(commits, closures)
		}
		c.Close()
	})
}

func TestAClosureThatEndsTheGoroutineHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		f, c, revs, errs, _ := inGroup(t,
			put("a", "1"),
			func(tx Tx) error { ran++; runtime.Goexit(); return nil },
			put("c", "3"),
		)
		if ran != 1 || errs[0] != nil || errs[2] != nil || errs[1] == nil || fmt.Sprint(revs) != "[2 0 3]" {
			t.Error(ran, revs, errs)
		}
		if len(f.rows) != 3+3+2 {
			t.Error(f.rows)
		}
		c.Close()
	})
}

func TestErrorsBeforeTheCommit(t *testing.T) {
	f, c := start(t)
	for name, at := range map[string]*error{"begin": &f.begin, "apply": &f.apply} {
		*at = errDisk
		_, err := c.Update(t.Context(), put("a", "1"))
		var u *Unavailable
		if !errors.As(err, &u) || !errors.Is(err, errDisk) || c.Err() != nil || len(f.rows) != 0 {
			t.Error(name, err, c.Err(), f.rows)
		}
		*at = nil
	}
	if rev, err := c.Update(t.Context(), put("a", "1")); rev != 1 || err != nil {
		t.Error(rev, err)
	}
}

func TestAFailedCommitStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := start(t)
		changed := c.Changed(0)
		f.commit = errDisk
		_, err := c.Update(t.Context(), put("a", "1"))
		var u *Unknown
		if !errors.As(err, &u) || !errors.Is(c.Err(), errDisk) {
			t.Error(err, c.Err())
		}
		<-c.Failed()
		<-changed
		<-c.Changed(99)
		_, err = c.Update(t.Context(), func(Tx) error { t.Error("ran"); return nil })
		var un *Unavailable
		if !errors.As(err, &un) {
			t.Error(err)
		}
		c.Close()
		if !errors.Is(c.Err(), errDisk) {
			t.Error("the first reason is gone:", c.Err())
		}
	})
}

// TestNothingFollowsAFailedCommit: the next group would rest on a head that is not
// the engine's.
func TestNothingFollowsAFailedCommit(t *testing.T) {
	for range 50 { // select takes any of what is ready
		synctest.Test(t, func(t *testing.T) {
			f, c := start(t)
			release, entered := held(f)
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = c.Update(t.Context(), put("a", "1")) })
			<-entered
			f.commit = errDisk
			for range 20 {
				wg.Go(func() { _, _ = c.Update(t.Context(), func(Tx) error { t.Error("ran"); return nil }) })
			}
			synctest.Wait()
			release()
			wg.Wait()
			c.Close()
		})
	}
}

func TestWithdrawal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := start(t)
		release, entered := held(f)
		var wg sync.WaitGroup
		running, cancelRunning := context.WithCancel(t.Context())
		wg.Go(func() {
			if rev, err := c.Update(running, put("a", "1")); rev != 1 || err != nil {
				t.Error("its commit had begun:", rev, err)
			}
		})
		<-entered
		waiting, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := c.Update(waiting, func(Tx) error { t.Error("ran"); return nil }); err != context.Canceled {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel()
		cancelRunning()
		synctest.Wait()
		release()
		wg.Wait()
		if _, err := c.Update(waiting, put("b", "1")); err != context.Canceled {
			t.Error(err)
		}
		c.Close()
	})
}

func TestCloseRefusesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := start(t)
		release, entered := held(f)
		var wg sync.WaitGroup
		outcome := make([]error, 50)
		wg.Go(func() { _, outcome[0] = c.Update(t.Context(), put("a", "1")) })
		<-entered
		for i := range outcome[1:] {
			wg.Go(func() { _, outcome[i+1] = c.Update(t.Context(), put("b", "1")) })
		}
		synctest.Wait()
		closed := make(chan struct{})
		go func() { c.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("did not wait")
		default:
		}
		release()
		<-closed
		wg.Wait()
		kept := 0
		for _, err := range outcome {
			if err == nil {
				kept++
			} else if !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
		if outcome[0] != nil || uint64(kept) != c.head.Revision {
			t.Error(outcome[0], kept, c.head)
		}
	})
}

func TestChanged(t *testing.T) {
	_, c := start(t)
	now, later := c.Changed(0), c.Changed(1)
	if _, err := c.Update(t.Context(), put("ledger/a", "1")); err != nil {
		t.Fatal(err)
	}
	<-now
	<-c.Changed(0)
	select {
	case <-c.Changed(1):
		t.Error("there is no row 2")
	default:
	}
	<-later // by row 1: whoever waits looks again
}

func TestALedgerNeedsNoRow(t *testing.T) {
	f, c := start(t)
	rev, err := c.Update(t.Context(), func(tx Tx) error { tx.Put("ledger/a", []byte("seen")); return nil })
	if rev != 0 || err != nil || string(f.rows["ledger/a"]) != "seen" {
		t.Error(rev, err, f.rows)
	}
	_, err = c.Update(t.Context(), func(tx Tx) error { tx.Put("ledger/b", nil); tx.Put("b", nil); tell(tx); return nil })
	for row, rerr := range Rows(reader{f}, 0) {
		if err != nil || rerr != nil || fmt.Sprint(row.Keys) != "[b]" {
			t.Error(err, rerr, row.Keys)
		}
	}
}

func TestTrim(t *testing.T) {
	f, c := start(t)
	for range 5 {
		if _, err := c.Update(t.Context(), put("a", "1")); err != nil {
			t.Fatal(err)
		}
	}
	trim := func(to Rev) {
		if _, err := c.Update(t.Context(), func(tx Tx) error { tx.Trim(to); return nil }); err != nil {
			t.Fatal(err)
		}
		head, base, err := Heads("test", reader{f}.Get)
		if err != nil || head.Revision != 5 {
			t.Fatal(head, base, err)
		}
		if _, err := journal.Verify(base, Rows(reader{f}, Rev(base.Revision)), head); err != nil {
			t.Error(err)
		}
		for row := range Rows(reader{f}, 0) {
			if row.Revision <= uint64(to) {
				t.Error("still there:", row.Revision)
			}
		}
	}
	trim(0)
	trim(2)
	trim(1)
	trim(4)
}

// reader reads a fake.
type reader struct{ f *fake }

func (r reader) Get(key string) ([]byte, bool) { v, ok := r.f.rows[key]; return v, ok }

func (r reader) Range(lo, hi string) iter.Seq2[string, []byte] {
	return (&fakeBatch{r.f, r.f.rows}).Range(lo, hi)
}

func (r reader) Head() journal.Head { return journal.Head{} }

func (r reader) Base() journal.Head { return journal.Head{} }
