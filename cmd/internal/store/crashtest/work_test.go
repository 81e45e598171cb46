package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/bolt"
)

// smallMap makes files grow in small steps.
const smallMap = 32 << 10

// The files in a worker's folder.
const (
	dbFile    = "db"
	markFile  = "db.mark"
	notesFile = "notes"
)

// A worker is the child that works on a store, and notes in a file what it asked for
// and what it was told, each by one write right after it was told.
type worker struct {
	notes   *os.File
	store   *bolt.Store
	clients int
	padding sync.Once
	pad     int
	mu      sync.Mutex
	acked   map[int]store.Rev // by client, the newest
}

// work is the child's main. INGOT_CRASH_DIR is its folder, INGOT_CRASH_CLIENTS and
// INGOT_CRASH_OPS say how much it does.
func work() error {
	dir := os.Getenv("INGOT_CRASH_DIR")
	clients, err1 := strconv.Atoi(os.Getenv("INGOT_CRASH_CLIENTS"))
	ops, err2 := strconv.Atoi(os.Getenv("INGOT_CRASH_OPS"))
	notes, err3 := os.OpenFile(filepath.Join(dir, notesFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	pad, _ := strconv.Atoi(os.Getenv("INGOT_CRASH_PAD"))
	w := &worker{notes: notes, clients: clients, pad: pad, acked: map[int]store.Rev{}}
	var err error
	if w.store, err = bolt.Open(filepath.Join(dir, dbFile), bolt.Options{Name: site, InitialMmapSize: smallMap}); err != nil {
		return fmt.Errorf("not opened: %T: %w", err, err)
	}
	if err := w.resume(); err != nil {
		return err
	}
	errs := make([]error, clients)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() { errs[c] = w.client(c, ops) })
	}
	all.Wait()
	return errors.Join(errors.Join(errs...), w.store.Close())
}

// note writes a line.
func (w *worker) note(format string, args ...any) {
	if _, err := fmt.Fprintf(w.notes, format+"\n", args...); err != nil {
		panic(err)
	}
}

// resume notes what a worker before this one left: whoever asked finds out by that.
func (w *worker) resume() error {
	return w.store.View(context.Background(), func(r store.Reader) error {
		for row, err := range store.Rows(r, store.Rev(r.Base().Revision)) {
			if err != nil {
				return err
			}
			o, err := opOf(row)
			if err != nil {
				return err
			}
			w.note("found %d %d %d %d", o.client, o.n, row.Revision, o.trim)
		}
		return nil
	})
}

// client does operations, from the first that is not there yet.
func (w *worker) client(c, ops int) error {
	first := 0
	err := w.store.View(context.Background(), func(r store.Reader) error {
		for _, key := range []string{op{client: c}.last(), op{client: c}.beatKey()} {
			if last, ok := r.Get(key); ok {
				n, err := strconv.Atoi(string(last))
				if err != nil {
					return err
				}
				first = max(first, n)
			}
		}
		return nil
	})
	for n := first + 1; n <= first+ops && err == nil; n++ {
		err = w.do(op{client: c, n: n})
	}
	return err
}

// do asks for an operation and notes what it was told.
func (w *worker) do(o op) error {
	if o.kind() == trims {
		o.trim = w.floor()
	}
	w.note("ask %d %d", o.client, o.n)
	rev, err := w.store.Update(context.Background(), func(tx store.Tx) error {
		w.padding.Do(func() { w.padCalls() })
		return o.do(tx)
	})
	switch {
	case err == nil && o.kind() == beat:
		w.note("beat %d %d", o.client, o.n)
	case err == nil:
		w.note("ack %d %d %d %d", o.client, o.n, rev, o.trim)
		w.mu.Lock()
		w.acked[o.client] = rev
		w.mu.Unlock()
	case err == errRefused:
		w.note("refused %d %d", o.client, o.n)
	default:
		w.note("failed %d %d %T %v", o.client, o.n, err, err)
		return err
	}
	return nil
}

// padCalls makes calls that do nothing, on the thread that commits, and ties the
// committer to it. strace counts calls by thread: so the nth call of a commit has a
// number that no call of opening has.
func (w *worker) padCalls() {
	runtime.LockOSThread()
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	defer syscall.Close(null)
	for range w.pad {
		_, _ = syscall.Pwrite(null, []byte{0}, 0)
		_, _, _ = syscall.Fdatasync(null), syscall.Fsync(null), syscall.Ftruncate(null, 0) // EINVAL
	}
}

// floor is the newest revision up to which every row was noted, so that the notes
// and the rows that there still are tell of all revisions; 0 where none is known.
func (w *worker) floor() store.Rev {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.acked) < w.clients {
		return 0
	}
	var low store.Rev
	for _, rev := range w.acked {
		if low == 0 || rev < low {
			low = rev
		}
	}
	return low
}
