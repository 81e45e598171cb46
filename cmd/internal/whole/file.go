// Package whole makes files that are there whole and durable, or not at all.
//
// A crash may leave a file beside the named one, whose name begins with a dot and
// ends in .new; it may be removed.
package whole

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace makes the file at path, mode 0600, of what fill writes, in the place of
// one that may be there. Where it returns an error, other than *Unsure, what was
// there is there still.
func Replace(path string, fill func(*os.File) error) error { return place(path, fill, os.Rename) }

// New is Replace for a name that nobody has; else the error is fs.ErrExist, and
// what is there stays.
func New(path string, fill func(*os.File) error) error { return place(path, fill, os.Link) }

// Bytes fills a file with b.
func Bytes(b []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(b)
		return err
	}
}

// Unsure reports a file that is there, but that a loss of power may take away.
type Unsure struct {
	Path string
	Err  error
}

// Error says what to do.
func (e *Unsure) Error() string {
	return e.Path + " was made, but may be lost in a crash; check the disk: " + e.Err.Error()
}

// Unwrap is what the system said.
func (e *Unsure) Unwrap() error { return e.Err }

func place(path string, fill func(*os.File) error, name func(from, to string) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.new") // mode 0600
	if err != nil {
		return err
	}
	defer func() { // after a rename there is nothing to remove
		if left := os.Remove(f.Name()); !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
	}()
	if err := errors.Join(fill(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := name(f.Name(), path); err != nil {
		return err
	}
	if err := SyncName(path); err != nil {
		return &Unsure{path, err}
	}
	return nil
}

// SyncName makes the name of a file durable.
func SyncName(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
