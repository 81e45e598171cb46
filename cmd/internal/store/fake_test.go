package store

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// fake is an engine in memory. It is the simplest thing that keeps Batch's promises.
type fake struct {
	mu     sync.Mutex
	rows   map[string][]byte
	begin  error  // of the next batches
	apply  error  // of the next Apply
	commit error  // of the next commits
	gate   func() // runs within each commit
}

func (f *fake) open() (Batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begin != nil {
		return nil, f.begin
	}
	return &fakeBatch{f, maps.Clone(f.rows)}, nil
}

type fakeBatch struct {
	f    *fake
	rows map[string][]byte
}

func (b *fakeBatch) Get(key string) ([]byte, bool) { v, ok := b.rows[key]; return v, ok }

func (b *fakeBatch) Range(lo, hi string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, k := range slices.Sorted(maps.Keys(b.rows)) {
			if lo <= k && k < hi && !yield(k, b.rows[k]) {
				return
			}
		}
	}
}

func (b *fakeBatch) Err() error { return nil }

func (b *fakeBatch) Apply(changes iter.Seq2[string, Change]) error {
	for k, c := range changes {
		if c.Gone {
			delete(b.rows, k)
		} else {
			b.rows[k] = c.Val
		}
	}
	return b.f.apply
}

func (b *fakeBatch) Commit() error {
	if b.f.gate != nil {
		b.f.gate()
	}
	b.f.mu.Lock()
	defer b.f.mu.Unlock()
	if b.f.commit != nil {
		return b.f.commit
	}
	b.f.rows = b.rows
	return nil
}

func (b *fakeBatch) Rollback() {}

// start is a committer on a new fake.
func start(t testing.TB) (*fake, *Committer) {
	f := &fake{rows: map[string][]byte{}}
	head := journal.Start("test")
	c := NewCommitter(head, head, f.open, nil)
	t.Cleanup(c.Close)
	return f, c
}

var errDisk = errors.New("the disk is broken")

// tell logs one fact.
func tell(tx Tx) {
	tx.Log(Entry{Time: time.Unix(1, 0), Actor: "test", Facts: []journal.Fact{{Type: "test.told"}}})
}

// put writes a row and tells it.
func put(key, val string) func(Tx) error {
	return func(tx Tx) error {
		tx.Put(key, []byte(val))
		tell(tx)
		return nil
	}
}
