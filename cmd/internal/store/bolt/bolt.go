// Package bolt keeps a site in one file of one host, by bbolt. It is a
// [github.com/ingotmetal/ingot/cmd/internal/store.Store].
//
// Beside the file lies its mark, which names the newest head that was acknowledged.
// A file that lacks it, because the disk lied or because somebody put an older file
// in its place, is refused. Open looks at every page of the file before bbolt does,
// since bbolt ends the process over a damaged one.
//
// The disk must be local and must keep what fdatasync reported as kept.
package bolt

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// Options say how a store is opened. A zero field takes its default.
type Options struct {
	Name string // the log's, the site's ID; a store made under another is refused
	Mark string // path of the mark; default: the store's path + ".mark"
	// Now is the clock by which views are bounded and commits are timed; default
	// time.Now.
	Now func() time.Time
	// InitialMmapSize is how much of the address space is reserved, in bytes: a
	// file that outgrows it makes commits wait for views. Default 10 GiB, or
	// 256 MiB where addresses have 32 bits.
	InitialMmapSize int
	// ResetMark takes the file for the truth, whatever the mark says: after a
	// restore, which is meant to lose what came later.
	ResetMark bool
	// NoSync leaves out every fdatasync of a commit, and the mark. What was
	// acknowledged may then be lost. It is for measurements.
	NoSync bool
}

func (o Options) withDefaults(path string) Options {
	if o.Mark == "" {
		o.Mark = path + ".mark"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.InitialMmapSize == 0 {
		o.InitialMmapSize = 256 << 20
		if huge := int64(10) << 30; huge <= math.MaxInt {
			o.InitialMmapSize = int(huge)
		}
	}
	return o
}

// A Store is an open file. It is safe for concurrent use.
type Store struct {
	path string
	opt  Options
	db   *bbolt.DB
	file *os.File // the database's own; bbolt closes it
	c    *store.Committer
	mark *mark

	was      Found
	probe    Probe
	pageSize int

	// gate keeps views from beginning while a commit has written its meta page
	// but not synced it: they would see what may yet be lost.
	gate    sync.RWMutex
	broken  error // why views are over; guarded by gate
	readers readers
	timing  timing
	stuck   atomic.Bool // bbolt will never let go
	closing chan struct{}
	once    sync.Once
	closed  error
}

// View runs fn on what is durable; see store.Store.
func (s *Store) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, end, err := s.snapshot()
	if err != nil {
		return err
	}
	defer end()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := s.rows(tx)
	err = store.RunView(ctx, s.opt.Now, r, fn)
	if r.err != nil {
		return r.err
	}
	return err
}

// snapshot begins a reading transaction of what is durable.
func (s *Store) snapshot() (*bbolt.Tx, func(), error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if err := s.refusal(); err != nil {
		return nil, nil, &store.Unavailable{Err: err}
	}
	tx, err := s.db.Begin(false)
	if err != nil {
		return nil, nil, &store.Unavailable{Err: err}
	}
	left := s.readers.enter(s.opt.Now())
	return tx, func() {
		_ = tx.Rollback() // of a reader: it has nothing to fail at
		left()
	}, nil
}

// refusal is why there are no more views. The gate is held.
func (s *Store) refusal() error {
	if s.broken != nil {
		return s.broken
	}
	return s.c.Err()
}

// Update runs fn and makes it durable; see store.Store.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) (store.Rev, error) {
	return s.c.Update(ctx, fn)
}

// Changed is closed at the next row; see store.Store.
func (s *Store) Changed(after store.Rev) <-chan struct{} { return s.c.Changed(after) }

// Failed is closed when the store has stopped; see store.Store.
func (s *Store) Failed() <-chan struct{} { return s.c.Failed() }

// Err says why the store has stopped; see store.Store.
func (s *Store) Err() error { return s.c.Err() }

// Close waits for what has begun, views and backups included, and lets go of the
// file.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closing)
		s.c.Close()
		s.gate.Lock()
		s.broken = store.ErrClosed
		s.gate.Unlock()
		s.readers.wait()
		s.closed = errors.Join(s.mark.close(), s.release())
	})
	return s.closed
}

// release lets go of the file.
func (s *Store) release() error {
	if s.stuck.Load() {
		return s.file.Close()
	}
	return s.db.Close()
}

// fail stops the store over damage that was met while it ran.
func (s *Store) fail(err error) { s.c.Fail(err) }
