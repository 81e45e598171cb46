package bolt

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// The file's buckets. The log has its own, since it only grows at its end.
const (
	stateBucket = "state"
	logBucket   = "log"
)

// logEnd is the first key after those of the log.
const logEnd = "log0"

// logFill is how full the pages of the log are made: nothing is put between rows.
const logFill = 0.95

// rows are the two buckets of a transaction as one space of keys.
type rows struct {
	state, log *bbolt.Bucket
	harmed     func(error) // is told of damage
	err        error       // the first damage
}

func (s *Store) rows(tx *bbolt.Tx) *rows {
	r := &rows{harmed: s.fail}
	r.open(tx)
	return r
}

// openRows is for a file that is not served yet: nobody need be told.
func openRows(tx *bbolt.Tx) *rows {
	r := &rows{harmed: func(error) {}}
	r.open(tx)
	return r
}

// open finds the buckets. Without them every read is damage.
func (r *rows) open(tx *bbolt.Tx) {
	defer r.caught()
	r.state, r.log = tx.Bucket([]byte(stateBucket)), tx.Bucket([]byte(logBucket))
	r.log.FillPercent = logFill
}

func (r *rows) of(key string) *bbolt.Bucket {
	if strings.HasPrefix(key, store.LogPrefix) {
		return r.log
	}
	return r.state
}

// caught turns a panic of bbolt, or a page that the disk does not give, into
// damage. Nothing of the caller runs under it.
func (r *rows) caught() {
	p := recover()
	if p == nil {
		return
	}
	if r.err == nil {
		r.err = damaged("a page cannot be read", journal.Head{}, fmt.Errorf("%v", p))
		r.harmed(r.err)
	}
}

// Err is the damage that a read met.
func (r *rows) Err() error { return r.err }

// Get returns the value of key, in the file's own memory.
func (r *rows) Get(key string) (val []byte, ok bool) {
	defer r.caught()
	val = r.of(key).Get([]byte(key))
	return val, val != nil
}

// Range walks the keys of both buckets in order.
func (r *rows) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		_ = r.walk(r.state, lo, min(hi, store.LogPrefix), yield) &&
			r.walk(r.log, max(lo, store.LogPrefix), min(hi, logEnd), yield) &&
			r.walk(r.state, max(lo, logEnd), hi, yield)
	}
}

func (r *rows) walk(b *bbolt.Bucket, lo, hi string, yield func(string, []byte) bool) bool {
	if lo >= hi {
		return true
	}
	end := []byte(hi)
	c, k, v := r.seek(b, lo)
	for ; k != nil && bytes.Compare(k, end) < 0; k, v = r.next(c) {
		if !yield(string(k), v) {
			return false
		}
	}
	return r.err == nil
}

func (r *rows) seek(b *bbolt.Bucket, lo string) (c *bbolt.Cursor, k, v []byte) {
	defer r.caught()
	c = b.Cursor()
	k, v = c.Seek([]byte(lo))
	return c, k, v
}

func (r *rows) next(c *bbolt.Cursor) (k, v []byte) {
	defer r.caught()
	return c.Next()
}

// Head is the end of the log.
func (r *rows) Head() journal.Head {
	head, _ := r.heads()
	return head
}

// Base is the head before the oldest row.
func (r *rows) Base() journal.Head {
	_, base := r.heads()
	return base
}

func (r *rows) heads() (head, base journal.Head) {
	head, base, err := store.Heads("", r.Get)
	if err != nil && r.err == nil {
		r.err = damaged("the log has no end", journal.Head{}, err)
		r.harmed(r.err)
	}
	return head, base
}
