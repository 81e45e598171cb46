package bolt

import (
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// furnish makes what every store has, where the file has nothing at all, and
// reports whether it did.
func (s *Store) furnish() (born bool, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		k, _ := tx.Cursor().First()
		born = k == nil
		return nil
	})
	if err != nil || !born {
		return false, err
	}
	err = s.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range []string{stateBucket, logBucket} {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return (&batch{rows: openRows(tx)}).Apply(store.Birth(s.opt.Name))
	})
	if err != nil {
		err = &Refused{Path: s.path, Why: "cannot be written", Next: "mend the disk", Err: advised(err, s.path)}
	}
	return true, err
}

// ends are where the log begins and ends.
type ends struct{ head, base journal.Head }

// readName is the name of the file's log, if it is a store of ours at all.
func readName(tx *bbolt.Tx, path string) (string, error) {
	if tx.Bucket([]byte(stateBucket)) == nil || tx.Bucket([]byte(logBucket)) == nil {
		return "", &Refused{Path: path, Why: "is no store of ours", Next: "name the store's file"}
	}
	r := openRows(tx)
	format, ok := r.Get(store.MetaFormat)
	name, named := r.Get(store.MetaName)
	switch {
	case !ok || !named:
		return "", damaged("the file does not say what it is", journal.Head{}, r.err)
	case string(format) != store.Format:
		return "", &Refused{Path: path, Why: fmt.Sprintf("has the format %q, not %q", format, store.Format), Next: "use the program that made it"}
	}
	return string(name), nil
}

// readEnds reads them, and proves that the log is whole at both.
func readEnds(tx *bbolt.Tx, name string) (e ends, err error) {
	r := openRows(tx)
	e.head, e.base, err = store.Heads(name, r.Get)
	if err == nil {
		err = e.whole(r, journal.Start(name))
	}
	if err != nil {
		return e, damaged("the log is not whole", e.head, err)
	}
	return e, nil
}

// whole proves that the log's first and last rows are those that its ends name.
func (e ends) whole(r *rows, start journal.Head) error {
	first, _ := r.log.Cursor().First()
	last, raw := r.log.Cursor().Last()
	switch {
	case e.base.Revision == 0 && e.base != start:
		return fmt.Errorf("it begins at %s, want %s", e.base, start)
	case e.head == e.base && e.head == start && first == nil:
		return nil
	case e.head.Revision <= e.base.Revision:
		return fmt.Errorf("it ends at %s, which is not after %s", e.head, e.base)
	case string(first) != store.LogKey(store.Rev(e.base.Revision+1)):
		return fmt.Errorf("its first row is at %q, want %d", first, e.base.Revision+1)
	case string(last) != store.LogKey(store.Rev(e.head.Revision)):
		return fmt.Errorf("its last row is at %q, want %d", last, e.head.Revision)
	}
	row, err := journal.ParseRow(raw)
	if err == nil && (journal.Head{Revision: row.Revision, Hash: row.Hash()}) != e.head {
		err = fmt.Errorf("its last row is not that of %s", e.head)
	}
	return err
}

// against holds the log against the newest head that was acknowledged.
func (e ends) against(r *rows, acked journal.Head) error {
	if acked.Revision > e.head.Revision {
		return e.lost("the file lost acknowledged commits: it ends at revision %d, and %d was acknowledged", e.head.Revision, acked.Revision)
	}
	switch have, known, err := e.at(r, acked.Revision); {
	case err != nil:
		return damaged("the log is not whole", e.head, err)
	case known && have != acked:
		return e.lost("the file lost acknowledged commits: its revision %d is not the one that was acknowledged", acked.Revision)
	}
	return nil
}

func (e ends) lost(format string, args ...any) error {
	return &store.Damaged{What: fmt.Sprintf(format, args...), Have: e.head,
		Next: restore + ", which resets the mark; where an older file was put here, put the newer one back"}
}

// at is the head at a revision, if the store still knows it.
func (e ends) at(r *rows, revision uint64) (h journal.Head, known bool, err error) {
	switch {
	case revision == e.head.Revision:
		return e.head, true, nil
	case revision == e.base.Revision:
		return e.base, true, nil
	case revision < e.base.Revision:
		return h, false, nil
	}
	raw, ok := r.Get(store.LogKey(store.Rev(revision)))
	if !ok {
		return h, false, fmt.Errorf("row %d is missing", revision)
	}
	row, err := journal.ParseRow(raw)
	return journal.Head{Revision: row.Revision, Hash: row.Hash()}, true, err
}
