package bolt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// Open's and Verify's way to the file, under bbolt.
type door struct {
	acked journal.Head // by the mark: a file without rows is no new store then
	reset bool         // acked does not count
	file  *os.File     // once it is open
}

// open opens the file for bbolt and locks it, so that nobody changes it while its
// pages are looked at.
func (d *door) open(path string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag&^os.O_CREATE, mode)
	made := errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0
	if made {
		if err := d.mayBeNew("is gone"); err != nil {
			return nil, err
		}
		if err := birth(path); err != nil {
			return nil, &Refused{Path: path, Why: "cannot be opened", Next: "mend that, or name another path", Err: advised(err, path)}
		}
		f, err = os.OpenFile(path, flag&^os.O_CREATE, mode)
	}
	if err != nil {
		return nil, &Refused{Path: path, Why: "cannot be opened", Next: "mend that, or name another path", Err: err}
	}
	if err := d.prepare(f, path, flag&os.O_RDWR != 0); err != nil {
		_ = f.Close()
		return nil, err
	}
	d.file = f
	return f, nil
}

// birth makes a database without a row, whole or not at all: it has its name only
// once it is durable, so that what a crash or a full disk leaves of it is in nobody's
// way. Where another process was faster, its file stays.
func birth(path string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := tmp.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(tmp.Name(), 0o600, &bbolt.Options{NoFreelistSync: true})
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		err = os.Link(tmp.Name(), path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(path)
}

// mayBeNew refuses to begin anew where something was acknowledged.
func (d *door) mayBeNew(what string) error {
	if d.acked.Revision == 0 || d.reset {
		return nil
	}
	return &store.Damaged{What: "the file " + what + ", though its mark names revision " + d.acked.String(), Have: journal.Head{},
		Next: restore + "; to begin a new store, move the mark away too"}
}

// prepare looks at the file before bbolt does.
func (d *door) prepare(f *os.File, path string, write bool) error {
	info, err := f.Stat()
	if err != nil {
		return &Refused{Path: path, Why: "cannot be looked at", Next: "mend that, or name another path", Err: err}
	}
	if !info.Mode().IsRegular() {
		return &Refused{Path: path, Why: "is no regular file", Next: "name the store's file"}
	}
	if wide := info.Mode().Perm() &^ 0o600; write && wide != 0 {
		return &Refused{Path: path, Why: "may be opened by others than its owner", Next: "find out who read it, then chmod 600 " + path}
	}
	if err := lock(f, path, write); err != nil {
		return err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(info, now) {
		return &Refused{Path: path, Why: "was replaced while it was opened", Next: "start again", Err: err, code: "CONFLICT"}
	}
	if write {
		// What an earlier process wrote and did not sync counts from here on.
		if err := f.Sync(); err != nil {
			return damaged("what was written cannot be made durable", journal.Head{}, advised(err, path))
		}
		if info.Size() == 0 {
			return d.mayBeNew("is empty")
		}
	}
	return checkFile(f, info.Size())
}

// lock waits a little for another process to let go of the file.
func lock(f *os.File, path string, alone bool) error {
	const pause = 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		taken, err := flock(f, alone)
		switch {
		case err != nil:
			return &Refused{Path: path, Why: "cannot be locked", Next: "keep it on a local disk", Err: err}
		case !taken:
			return nil
		case waited >= lockWait:
			return inUse(path)
		}
		time.Sleep(pause)
	}
}

// inUse is the refusal of a file that another process has.
func inUse(path string) error {
	return &Refused{Path: path, Why: "is in use by another process", Next: "stop that one first; one process has a store at a time", code: "CONFLICT"}
}

// size is how long the file is.
func (d *door) size() int64 {
	info, err := d.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
