package bolt

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// Backup writes a copy of the file as it is now to w, while the store goes on, and
// returns the head that the copy has. Until it ends it is a reader: pages that are
// left meanwhile are not used again, so the file grows. It ends early with ctx's
// error, or *store.Unavailable once the store closes, but does not interrupt w. Prove
// each copy by Verify: what is on the disk may be damaged already.
func (s *Store) Backup(ctx context.Context, w io.Writer) (journal.Head, error) {
	tx, end, err := s.snapshot()
	if err != nil {
		return journal.Head{}, err
	}
	defer end()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := s.rows(tx)
	head := r.Head()
	if r.err != nil {
		return journal.Head{}, r.err
	}
	c := &copying{ctx: ctx, closing: s.closing, w: w}
	if _, err := tx.WriteTo(c); c.err != nil || err != nil {
		return journal.Head{}, cmp.Or(c.err, err) // bbolt hands some on as text
	}
	return head, nil
}

// copying is a writer that ends with ctx, or with the store.
type copying struct {
	ctx     context.Context
	closing <-chan struct{}
	w       io.Writer
	err     error
}

func (c *copying) Write(b []byte) (n int, err error) {
	select {
	case <-c.closing:
		c.err = &store.Unavailable{Err: store.ErrClosed}
	default:
		c.err = c.ctx.Err()
	}
	if c.err == nil {
		n, c.err = c.w.Write(b)
	}
	return n, c.err
}

// Verify proves that the file at path, which no process writes to, is a whole store:
// its pages, and each row of its log. It changes nothing, and returns the head.
// Compare it with the one that Backup returned, or with one kept elsewhere.
func Verify(path string) (head journal.Head, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damaged("the file cannot be read", head, fmt.Errorf("%v", p))
		}
	}()
	db, err := openChecked(path, new(door), &bbolt.Options{ReadOnly: true, Timeout: lockWait})
	if err != nil {
		return journal.Head{}, err
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		head, err = verify(tx, path)
		return err
	})
	return head, err
}

func verify(tx *bbolt.Tx, path string) (journal.Head, error) {
	name, err := readName(tx, path)
	if err != nil {
		return journal.Head{}, err
	}
	e, err := readEnds(tx, name)
	if err != nil {
		return journal.Head{}, err
	}
	r := openRows(tx)
	if _, err = journal.Verify(e.base, store.Rows(r, store.Rev(e.base.Revision)), e.head); err == nil {
		err = r.err
	}
	if err != nil {
		return journal.Head{}, damaged("the log is not whole", e.head, err)
	}
	return e.head, nil
}
