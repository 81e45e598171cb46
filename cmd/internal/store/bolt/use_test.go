package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

func TestHoursOfFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		path := filepath.Join(t.TempDir(), "db")
		s := open(t, path, Options{})
		for i := range 1000 {
			time.Sleep(time.Minute)
			if rev, err := s.Update(t.Context(), put(fmt.Sprintf("node/%d", i%50), "x")); err != nil || rev != store.Rev(i+1) {
				t.Fatal(rev, err)
			}
			if err := s.View(t.Context(), func(r store.Reader) error {
				if r.Head().Revision != uint64(i+1) {
					return fmt.Errorf("at %s", r.Head())
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(from) != 1000*time.Minute || s.Stats().MarkErr != nil {
			t.Error(time.Since(from), s.Stats().MarkErr)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// slow is a place for a backup that takes its time.
type slow struct {
	bytes.Buffer
	begun  chan struct{}
	resume chan struct{}
	once   sync.Once
}

func (w *slow) Write(b []byte) (int, error) {
	w.once.Do(func() { close(w.begun); <-w.resume })
	return w.Buffer.Write(b)
}

func TestABackupUnderLoadIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, filepath.Join(dir, "db"), Options{Name: "site", InitialMmapSize: 64 << 20})
		write := func(n int) {
			for i := range n {
				if _, err := s.Update(t.Context(), put(fmt.Sprintf("node/%d", i), fmt.Sprintf("%0500d", i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(100)
		w := &slow{begun: make(chan struct{}), resume: make(chan struct{})}
		var head journal.Head
		var err error
		var wg sync.WaitGroup
		wg.Go(func() { head, err = s.Backup(t.Context(), w) })
		<-w.begun
		write(200)
		time.Sleep(time.Hour)
		if st := s.Stats(); st.Readers != 1 || st.OldestReader != time.Hour {
			t.Error(st.Readers, st.OldestReader)
		}
		close(w.resume)
		wg.Wait()
		if err != nil || head.Revision != 100 {
			t.Fatal(head, err)
		}
		to := filepath.Join(dir, "copy")
		if err := os.WriteFile(to, w.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Verify(to); err != nil || got != head {
			t.Error(got, err)
		}
		s.Close()
		copied := open(t, to, Options{Name: "site"})
		if rev, err := copied.Update(t.Context(), put("a", "1")); rev != 101 || err != nil {
			t.Error(rev, err)
		}
		copied.Close()
	})
}

func TestABackupEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, filepath.Join(t.TempDir(), "db"), Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var errs [2]error
		ws := [2]*slow{}
		for i, c := range []context.Context{ctx, t.Context()} {
			ws[i] = &slow{begun: make(chan struct{}), resume: make(chan struct{})}
			wg.Go(func() { _, errs[i] = s.Backup(c, ws[i]) })
			<-ws[i].begun
		}
		cancel()
		close(ws[0].resume)
		synctest.Wait()
		if errs[0] != context.Canceled {
			t.Error(errs[0])
		}
		closed := make(chan struct{})
		go func() { s.Close(); close(closed) }()
		synctest.Wait()
		close(ws[1].resume)
		<-closed
		wg.Wait()
		if !errors.Is(errs[1], store.ErrClosed) {
			t.Error(errs[1])
		}
	})
}

// TestAnAlteredRowIsFound: bbolt keeps no sums, the log does.
func TestAnAlteredRowIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, Options{InitialMmapSize: tiny})
	for i := range 9 {
		if _, err := s.Update(t.Context(), put(fmt.Sprintf("node/%d", i), "x")); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.ReplaceAll(raw, []byte("test.put\x00\x00\x00\x06node/4"), []byte("test.put\x00\x00\x00\x06node/5"))
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var b *journal.Broken
	if _, err := Verify(path); !errors.As(err, &b) || b.First > 5 || b.Last < 5 {
		t.Error(err)
	}
}

func TestStats(t *testing.T) {
	now := time.Unix(0, 0)
	s := open(t, filepath.Join(t.TempDir(), "db"), Options{Now: func() time.Time { now = now.Add(150 * time.Microsecond); return now }})
	defer s.Close()
	for range 3 {
		if _, err := s.Update(t.Context(), put("a", "1")); err != nil {
			t.Fatal(err)
		}
	}
	st := s.Stats()
	if st.Commits != 3 || st.Closures != 3 || st.Commit.Count != 3 || st.Commit.Counts[0] != 0 || st.Commit.Counts[1] != 3 || st.Commit.Max != 150*time.Microsecond {
		t.Errorf("%+v", st)
	}
	if st.FileSize == 0 || st.SizeAlarm || st.Mark != MarkNew || st.Probe.Median != 150*time.Microsecond || st.Probe.Implausible {
		t.Errorf("%+v", st)
	}
}

// TestTheProbeDoubtsAFastDisk by a clock that runs slowly.
func TestTheProbeDoubtsAFastDisk(t *testing.T) {
	now := time.Unix(0, 0)
	p := probe(filepath.Join(t.TempDir(), "db"), func() time.Time { now = now.Add(time.Microsecond); return now })
	if !p.Implausible || p.Median != time.Microsecond || p.Err != nil {
		t.Errorf("%+v", p)
	}
	if p := probe("none/db", time.Now); p.Err == nil || p.Implausible {
		t.Errorf("%+v", p)
	}
}

// TestTheMarkIsNeverAhead looks at the mark within each commit.
func TestTheMarkIsNeverAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, Options{})
	defer s.Close()
	rev, syncs := uint64(0), 0
	onWrite(s, func(real write) write {
		return func(b []byte, at int64) (int, error) {
			if h, _, _, err := readMark(path + ".mark"); h.Revision != rev || err != nil {
				t.Error(h, rev, err)
			}
			syncs++
			return real(b, at)
		}
	})
	for rev = 0; rev < 20; rev++ {
		if _, err := s.Update(t.Context(), put("a", "1")); err != nil {
			t.Fatal(err)
		}
		if h, _, _, err := readMark(path + ".mark"); h.Revision != rev+1 || err != nil {
			t.Error("acknowledged before it was marked:", h, rev, err)
		}
		raw, _ := os.ReadFile(path + ".mark")
		h0, ok0 := decodeMark(raw[:markSize])
		h1, ok1 := decodeMark(raw[markStep:])
		if !ok0 || !ok1 || min(h0.Revision, h1.Revision) != rev {
			t.Error("the mark before is gone:", h0, h1)
		}
	}
	if syncs < 40 {
		t.Error("the hook did not run")
	}
}

// TestNoViewBeginsWithinACommit: it would see what a loss of power may yet take. Each
// commit, once it writes its meta page, has a view begin.
func TestNoViewBeginsWithinACommit(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), Options{})
	defer s.Close()
	var wg sync.WaitGroup
	onWrite(s, func(real write) write {
		return func(b []byte, at int64) (int, error) {
			if isMeta(at) {
				wg.Go(func() {
					_ = s.View(context.Background(), func(r store.Reader) error {
						if ended := s.timing.latency().Count; r.Head().Revision > ended {
							t.Errorf("a view sees revision %d, and %d commits have ended", r.Head().Revision, ended)
						}
						return nil
					})
				})
			}
			return real(b, at)
		}
	})
	for range 50 {
		if _, err := s.Update(t.Context(), put("a", "1")); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}

func TestCloseUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, Options{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	var acked store.Rev
	for w := range 16 {
		wg.Go(func() {
			for i := 0; ; i++ {
				rev, err := s.Update(context.Background(), put(fmt.Sprintf("node/%d/%d", w, i), "x"))
				if err != nil {
					if !errors.Is(err, store.ErrClosed) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				acked = max(acked, rev)
				mu.Unlock()
				if err := s.View(context.Background(), func(store.Reader) error { return nil }); err != nil && !errors.Is(err, store.ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	for s.Stats().Commits < 10 {
		<-s.Changed(store.Rev(s.Stats().Closures))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if h, err := Verify(path); err != nil || store.Rev(h.Revision) != acked {
		t.Error(h, acked, err)
	}
}
