// Package store is the contract by which a site keeps its rows and its one log:
// ordered keys, one writer at a time, group commit, and a row of the log for each
// change, written in the same commit.
//
// A closure given to Update may run again and shares its durable commit with
// others, so nothing in it waits, sends or draws an ID. What it logs becomes the
// next row of a hash chain (package journal) whose revisions have no gap and are
// seen in order; the keys that it touched are noted in it. That row is outbox,
// audit trail and change feed at once (EVENT-1, ID-6).
//
// The stores are packages bolt and postgres below this one. Package storetest
// holds what each promises.
package store

import (
	"context"
	"iter"
	"time"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// Rev is a revision of the log: 0 before the first row.
type Rev uint64

// A Reader is what a closure reads: a snapshot of what is durable, or, within an
// update, also what the updates before it in the same commit wrote. Byte slices
// die with the closure. It is for the closure's own goroutine alone.
type Reader interface {
	// Get returns the value of key. An empty value is there.
	Get(key string) ([]byte, bool)
	// Range yields lo <= key < hi in order of bytes. Within an update, what the
	// closure itself puts or deletes ahead of the cursor is seen.
	Range(lo, hi string) iter.Seq2[string, []byte]
	// Head is the end of the log.
	Head() journal.Head
	// Base is the head before the oldest row that the store still has: the
	// rows up to it were sealed and left (see Tx.Trim).
	Base() journal.Head
}

// A Tx is what an updating closure sees. Its writes never fail at once: the first
// error sticks, and Update returns it.
type Tx interface {
	Reader
	// Put writes a copy of val. Keys are 1 to MaxKey bytes of printable ASCII, and
	// none begins with LogPrefix or MetaPrefix.
	Put(key string, val []byte)
	Delete(key string)
	// Log says what the commit has to tell. A closure that writes outside of
	// LedgerPrefix must log, once; one that tells something may write nothing.
	Log(Entry)
	// Trim drops the rows of the log up to and including to, which the caller has
	// sealed and made durable elsewhere. The newest row always stays.
	Trim(to Rev)
}

// An Entry is a row of the log before it has its place. The store adds the keys.
type Entry struct {
	Time  time.Time
	Actor string
	Facts []journal.Fact
}

// A Store keeps a site. It is safe for concurrent use.
type Store interface {
	// View runs fn on a snapshot of what is durable. A view is over within
	// MaxView; later reads see nothing, and View returns *TooLong.
	View(ctx context.Context, fn func(Reader) error) error

	// Update runs fn and makes what it wrote durable, with its row of the log,
	// before it returns. Where fn returns an error nothing of it is kept, and
	// that error is returned. Rev is that of fn's row, or of the newest row that
	// fn saw where it logged none.
	//
	// A context that ends before fn ran withdraws it; after that Update waits for
	// the commit, so that its outcome is known. *Unknown means that it is not: fn
	// may be durable or not, and the store has stopped (see Failed).
	Update(ctx context.Context, fn func(Tx) error) (Rev, error)

	// Changed returns a channel that is closed as soon as the log has a row after
	// rev, and at the latest when the store stops.
	Changed(after Rev) <-chan struct{}

	// Failed is closed when the store has stopped for good: after *Unknown, when
	// another writer has taken over, or by Close. Err says which; it is nil before.
	Failed() <-chan struct{}
	Err() error

	// Close waits for the updates that have begun.
	Close() error
}

// The prefixes of keys that the contract knows.
const (
	// LogPrefix is where the rows of the log are, by LogKey.
	LogPrefix = "log/"
	// MetaPrefix is what the store keeps of itself.
	MetaPrefix = "meta/"
	// LedgerPrefix is for observations: they are overwritten, need no row of the
	// log and are named in none (MACH-9).
	LedgerPrefix = "ledger/"
)

// Limits of the contract.
const (
	MaxKey   = 1000     // bytes, below journal.MaxKey
	MaxValue = 16 << 20 // bytes
	MaxView  = time.Second
)
