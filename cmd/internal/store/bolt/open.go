package bolt

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// lockWait is how long Open waits for another process to let go of the file.
const lockWait = time.Second

// Open opens the store at path, and makes it if there is none. It reads the whole
// file to check it. The error is *store.Damaged where the file is not what was
// acknowledged, and *Refused where it is another's or may not be used.
func Open(path string, opt Options) (*Store, error) {
	return openWith(path, opt, (*Store).begin)
}

// openWith is Open, with batches from begin.
func openWith(path string, opt Options, begin func(*Store) (store.Batch, error)) (*Store, error) {
	opt = opt.withDefaults(path)
	acked, _, _, err := readMark(opt.Mark)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, opt: opt, closing: make(chan struct{}), probe: probe(path, opt.Now)}
	d := &door{acked: acked, reset: opt.ResetMark}
	s.db, err = openChecked(path, d, &bbolt.Options{Timeout: lockWait, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
		InitialMmapSize: opt.InitialMmapSize, NoSync: opt.NoSync})
	if err != nil {
		return nil, err
	}
	s.file = d.file
	if err := s.start(begin); err != nil {
		_ = s.db.Close()
		return nil, err
	}
	return s, nil
}

// openChecked opens the file by d. It turns what bbolt returns, or panics with, into
// errors of ours.
func openChecked(path string, d *door, opt *bbolt.Options) (db *bbolt.DB, err error) {
	opt.OpenFile = d.open
	defer func() {
		if p := recover(); p != nil {
			_ = d.file.Close() // bbolt left it open, and locked
			db, err = nil, damaged("the file cannot be opened", journal.Head{}, fmt.Errorf("%v", p))
		}
	}()
	db, err = bbolt.Open(path, 0o600, opt)
	var refused *Refused
	var harm *store.Damaged
	switch {
	case err == nil:
	case errors.As(err, &refused), errors.As(err, &harm):
		return nil, err
	case errors.Is(err, berrors.ErrTimeout):
		return nil, inUse(path)
	default:
		return nil, damaged("the file cannot be opened", journal.Head{}, err)
	}
	if err := checkPages(db); err != nil {
		_ = db.Close()
		return nil, damaged("the file's pages contradict each other", journal.Head{}, err)
	}
	// The check has read every page. What is not read again need not stay resident.
	if info := db.Info(); info != nil {
		forget(info.Data, d.size())
	}
	return db, nil
}

// checkPages is bbolt's own check.
func checkPages(db *bbolt.DB) error {
	return db.View(func(tx *bbolt.Tx) error {
		var first error
		for err := range tx.Check() { // to its end, which its goroutine waits for
			if first == nil {
				first = err
			}
		}
		return first
	})
}

// start reads where the log ends, holds it against the mark, and begins to commit.
func (s *Store) start(begin func(*Store) (store.Batch, error)) error {
	acked, place, found, err := readMark(s.opt.Mark) // again, now that the file is locked
	if err != nil {
		return err
	}
	born, err := s.furnish()
	if err != nil {
		return err
	}
	switch {
	case s.opt.NoSync:
		found = MarkUnused
	case s.opt.ResetMark:
		found = MarkReset
	case found == MarkMissing && born:
		found = MarkNew
	}
	var e ends
	if err := s.db.View(func(tx *bbolt.Tx) error {
		name, err := readName(tx, s.path)
		switch {
		case err != nil:
			return err
		case name != s.opt.Name:
			return &Refused{Path: s.path, Why: fmt.Sprintf("has the log %q, not %q", name, s.opt.Name), Next: "name this site's own store"}
		}
		if e, err = readEnds(tx, name); err != nil || found != MarkKept {
			return err
		}
		return e.against(openRows(tx), acked)
	}); err != nil {
		return err
	}
	s.was, s.pageSize = found, s.db.Info().PageSize
	if err := s.startMark(e.head, place); err != nil {
		return &Refused{Path: s.opt.Mark, Why: "cannot be written", Next: "mend that, or name another mark", Err: advised(err, s.opt.Mark)}
	}
	s.c = store.NewCommitter(e.head, e.base, func() (store.Batch, error) { return begin(s) }, s.mark.set)
	return nil
}

// startMark makes the mark name head, whatever it named before.
func (s *Store) startMark(head journal.Head, place int) (err error) {
	if s.was == MarkUnused {
		return nil
	}
	if s.was != MarkKept {
		place = 0
		if err := newMark(s.opt.Mark, head); err != nil {
			return err
		}
	}
	if s.mark, err = openMark(s.opt.Mark, place); err == nil {
		s.mark.set(head)
	}
	return err
}
