package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/bolt"
)

// A verdict is what became of a folder that was opened.
type verdict struct {
	refused error // Open refused it
	wrong   error // it is served, and is not what it should be
	head    uint64
	mark    bolt.Found
	verify  error // what bolt.Verify says of one that is wrong
}

// A lost is an acknowledged revision that is not there.
type lost struct{ head, acked uint64 }

func (e *lost) Error() string {
	return fmt.Sprintf("it ends at revision %d, and %d was acknowledged", e.head, e.acked)
}

// openDir opens the store of a folder as an image is opened.
func openDir(dir string) (*bolt.Store, error) {
	still := time.Unix(1, 0)
	return bolt.Open(filepath.Join(dir, dbFile), bolt.Options{Name: site, InitialMmapSize: smallMap, Now: func() time.Time { return still }})
}

// examine opens the store of a folder, holds it against the truth, lets it go on, and
// opens it again.
func examine(dir string, t *truth, a *account) (v verdict) {
	s, err := openDir(dir)
	if err != nil {
		return verdict{refused: err}
	}
	defer s.Close()
	v.mark = s.Stats().Mark
	v.wrong = s.View(context.Background(), func(r store.Reader) error {
		v.head = r.Head().Revision
		return t.right(a, r)
	})
	if v.wrong != nil {
		_ = s.Close()
		_, v.verify = bolt.Verify(filepath.Join(dir, dbFile))
		return v
	}
	after := op{client: 99, n: 1}
	if rev, err := s.Update(context.Background(), after.do); err != nil || uint64(rev) != v.head+1 {
		v.wrong = fmt.Errorf("it does not go on: revision %d after %d, %w", rev, v.head, err)
	} else if err := s.Close(); err != nil {
		v.wrong = err
	} else {
		v.wrong = again(dir, after, v.head+1)
	}
	return v
}

// again opens it again, and wants the operation to be there and the chain to be whole.
func again(dir string, o op, rev uint64) error {
	s, err := openDir(dir)
	if err != nil {
		return fmt.Errorf("opened again: %w", err)
	}
	err = s.View(context.Background(), func(r store.Reader) error {
		if v, _ := r.Get(o.record()); string(v) != string(o.value()) {
			return errors.New("what was written after the crash is gone")
		}
		return nil
	})
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	head, err := bolt.Verify(filepath.Join(dir, dbFile))
	if err == nil && head.Revision != rev {
		err = fmt.Errorf("verified to %s, want revision %d", head, rev)
	}
	return err
}

// rowsIn are the operations that the log of a folder's store tells of.
func rowsIn(dir string) (rows map[uint64]op, err error) {
	s, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	rows = map[uint64]op{}
	err = s.View(context.Background(), func(r store.Reader) error {
		for row, err := range store.Rows(r, store.Rev(r.Base().Revision)) {
			if err != nil {
				return err
			}
			if rows[row.Revision], err = opOf(row); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, errors.Join(err, s.Close())
}

// lay writes an image into a folder that was emptied.
func lay(dir string, files map[string][]byte) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}
