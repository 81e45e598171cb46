package bolt

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
)

// write is what bbolt writes pages by.
type write func(b []byte, at int64) (int, error)

// onWrite puts f in the place of what bbolt writes by. The store must be at rest.
func onWrite(s *Store, f func(real write) write) {
	v := reflect.ValueOf(s.db).Elem().FieldByName("ops").FieldByName("writeAt")
	at := (*func([]byte, int64) (int, error))(unsafe.Pointer(v.UnsafeAddr()))
	*at = f(*at)
}

// isMeta reports whether a write is that of a meta page, the last of a commit.
func isMeta(at int64) bool { return at < 2*int64(os.Getpagesize()) }

// subject is a folder as a subject of the kit.
type subject struct {
	path  string
	fault atomic.Int32 // what the next commits meet
	left  atomic.Int32 // commits or batches until then
}

func (s *subject) open(context.Context) (store.Store, error) {
	s.left.Store(0)
	opened, err := openWith(s.path, Options{Name: "kit", InitialMmapSize: smallMap}, s.begin)
	if err != nil {
		return nil, err
	}
	onWrite(opened, s.write)
	return opened, nil
}

// crash leaves what a kill would leave: the file as the kernel has it.
func (s *subject) crash(ctx context.Context) (store.Store, error) {
	next := filepath.Join(filepath.Dir(s.path), "again", "db")
	if err := os.MkdirAll(filepath.Dir(next), 0o700); err != nil {
		return nil, err
	}
	for _, ext := range []string{"", ".mark"} {
		raw, err := os.ReadFile(s.path + ext)
		if err == nil {
			err = os.WriteFile(next+ext, raw, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	s.path = next
	return s.open(ctx)
}

func (s *subject) arm(n int, f storetest.Fault) {
	s.fault.Store(int32(f))
	s.left.Store(int32(n))
}

// strikes reports whether the fault comes now, where it is one of these.
func (s *subject) strikes(here ...storetest.Fault) (storetest.Fault, bool) {
	for _, f := range here {
		if storetest.Fault(s.fault.Load()) == f && s.left.Load() > 0 {
			return f, s.left.Add(-1) == 0
		}
	}
	return 0, false
}

func (s *subject) begin(st *Store) (store.Batch, error) {
	if _, now := s.strikes(storetest.Refused); now {
		return nil, syscall.ENOMEM
	}
	return st.begin()
}

// write loses a commit, or its reply, at its last write.
func (s *subject) write(real write) write {
	return func(b []byte, at int64) (int, error) {
		if !isMeta(at) {
			return real(b, at)
		}
		f, now := s.strikes(storetest.Lost, storetest.Replyless)
		if now && f == storetest.Lost {
			return 0, syscall.EIO
		}
		n, err := real(b, at)
		if now {
			err = syscall.EIO
		}
		return n, err
	}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Subject {
		s := &subject{path: filepath.Join(t.TempDir(), "db")}
		return storetest.Subject{Open: s.open, Crash: s.crash, Arm: s.arm}
	})
}

// TestACommitThatFailsStops fails each write of a commit in turn, by each error that
// a disk has. What was acknowledged is there afterwards, and nothing is shown before.
func TestACommitThatFailsStops(t *testing.T) {
	for errno, next := range map[syscall.Errno]string{syscall.EIO: "replace it", syscall.ENOSPC: "free space", syscall.EROFS: "read-only", syscall.EBADF: "start again"} {
		for n, failed := 1, true; failed; n++ {
			path := filepath.Join(t.TempDir(), "db")
			s := open(t, path, Options{InitialMmapSize: tiny})
			if _, err := s.Update(t.Context(), put("a", "1")); err != nil {
				t.Fatal(err)
			}
			writes := 0
			failed = false
			onWrite(s, func(real write) write {
				return func(b []byte, at int64) (int, error) {
					if writes++; writes == n {
						failed = true
						k, _ := real(b[:len(b)/2], at) // torn
						return k, errno
					}
					return real(b, at)
				}
			})
			_, err := s.Update(t.Context(), put("a", "2"))
			var u *store.Unknown
			if failed != errors.As(err, &u) || failed && !strings.Contains(err.Error(), next) {
				t.Error(errno, n, err)
			}
			if failed {
				stopped(t, s)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			s = open(t, path, Options{InitialMmapSize: tiny})
			_ = s.View(t.Context(), func(r store.Reader) error {
				if v, _ := r.Get("a"); string(v) != "1" && string(v) != "2" || !failed && string(v) != "2" {
					t.Errorf("%v %d: %q", errno, n, v)
				}
				return nil
			})
			s.Close()
		}
	}
}

// stopped wants a store that serves nothing.
func stopped(t *testing.T, s *Store) {
	t.Helper()
	var u *store.Unavailable
	if err := s.View(t.Context(), func(store.Reader) error { t.Error("a view"); return nil }); !errors.As(err, &u) {
		t.Error(err)
	}
	if _, err := s.Backup(t.Context(), nil); !errors.As(err, &u) {
		t.Error(err)
	}
	if _, err := s.Update(t.Context(), put("b", "1")); !errors.As(err, &u) {
		t.Error(err)
	}
	<-s.Failed()
	if s.Err() == nil {
		t.Error("no reason")
	}
}

// TestNoViewSeesAFailedCommit, not even before the committer has heard of it.
func TestNoViewSeesAFailedCommit(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), Options{})
	defer s.Close()
	onWrite(s, func(real write) write {
		return func(b []byte, at int64) (int, error) {
			n, err := real(b, at)
			if isMeta(at) {
				err = syscall.EIO
			}
			return n, err
		}
	})
	b, err := s.begin() // the committer is at rest
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Apply(maps.All(map[string]store.Change{"a": {}})); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	b.Rollback()
	err = s.View(t.Context(), func(store.Reader) error { t.Error("a view"); return nil })
	var u *store.Unavailable
	if !errors.As(err, &u) {
		t.Error(err)
	}
	if _, err := s.Update(t.Context(), func(store.Tx) error { t.Error("ran"); return nil }); err == nil || s.Err() == nil {
		t.Error("a commit followed:", err)
	}
}

// TestAFileThatIsTakenAway closes the file under the store.
func TestAFileThatIsTakenAway(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), Options{})
	if _, err := s.Update(t.Context(), put("a", "1")); err != nil {
		t.Fatal(err)
	}
	s.file.Close()
	_, err := s.Update(t.Context(), put("a", "2"))
	var u *store.Unknown
	if !errors.As(err, &u) {
		t.Error(err)
	}
	stopped(t, s)
	s.Close()
}

// TestAPageThatCannotBeRead cuts the file off under the map: reading it is a fault
// of memory, which would end the process.
func TestAPageThatCannotBeRead(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), Options{})
	defer s.Close()
	if _, err := s.Update(t.Context(), put("a", "1")); err != nil {
		t.Fatal(err)
	}
	if err := s.file.Truncate(int64(2 * os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	var d *store.Damaged
	err := s.View(t.Context(), func(r store.Reader) error {
		for range r.Range("", "~") {
			t.Error("a row")
		}
		return nil
	})
	if !errors.As(err, &d) {
		t.Error(err)
	}
	<-s.Failed()
	if !errors.As(s.Err(), &d) {
		t.Error(s.Err())
	}
}
