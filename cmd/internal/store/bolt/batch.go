package bolt

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// batch is a writing transaction.
type batch struct {
	*rows
	s  *Store
	tx *bbolt.Tx
}

// begin opens a batch. The committer's goroutine calls it, and uses it.
func (s *Store) begin() (store.Batch, error) {
	debug.SetPanicOnFault(true) // of this goroutine, which is the committer's for good
	if s.broken != nil {        // written by this goroutine, or by Close after it
		return nil, s.broken
	}
	tx, err := s.db.Begin(true)
	if err != nil {
		return nil, err
	}
	return &batch{s.rows(tx), s, tx}, nil
}

// Apply writes what a closure changed.
func (b *batch) Apply(changes iter.Seq2[string, store.Change]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("bolt: %v", p)
		}
	}()
	for k, c := range changes {
		to := b.of(k)
		if c.Gone {
			err = to.Delete([]byte(k))
		} else {
			err = to.Put([]byte(k), c.Val)
		}
		if err != nil {
			return fmt.Errorf("bolt: %q: %w", k, err)
		}
	}
	return nil
}

// Commit makes the batch durable. After an error nobody knows, and there are no
// more views: bbolt would show them what failed.
func (b *batch) Commit() error {
	b.s.gate.Lock()
	defer b.s.gate.Unlock()
	from := b.s.opt.Now()
	if err := b.commit(); err != nil {
		err = advised(err, b.s.path)
		b.s.broken = &store.Unknown{Err: err}
		return err
	}
	b.s.timing.took(b.s.opt.Now().Sub(from))
	return nil
}

func (b *batch) commit() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("bolt: %v", p)
		}
	}()
	return b.tx.Commit()
}

// Rollback drops the batch. Where bbolt panics at that, after a commit that did, it
// keeps its locks for good.
func (b *batch) Rollback() {
	defer func() {
		if recover() != nil {
			b.s.stuck.Store(true)
		}
	}()
	_ = b.tx.Rollback()
}

// advised says what to do about a disk's error. bbolt hands some on as text.
func advised(err error, path string) error {
	dir := filepath.Dir(path)
	for _, known := range []struct {
		no   syscall.Errno
		next string
	}{
		{syscall.ENOSPC, "free space in " + dir},
		{syscall.EDQUOT, "raise the quota of " + dir},
		{syscall.EIO, "the disk under " + dir + " fails: replace it"},
		{syscall.EROFS, "the file system of " + dir + " has become read-only: look at the kernel's log, replace the disk if it fails"},
	} {
		if errors.Is(err, known.no) || strings.Contains(err.Error(), known.no.Error()) {
			return fmt.Errorf("%w (%s)", err, known.next)
		}
	}
	return err
}
