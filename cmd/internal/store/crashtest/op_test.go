package crashtest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// site is the name of the stores' logs.
const site = "crash"

// A kind is what an operation does.
type kind int

const (
	plain   kind = iota // a record, its index, an older record away
	large               // a record of several pages
	trims               // plain, and old rows of the log away
	refused             // writes, and then returns an error
	beat                // an observation alone, without a row of the log
)

// errRefused is what a refused operation returns.
var errRefused = errors.New("refused, as it was meant")

// An op is the nth operation of a client. What it does follows from that, so that
// whoever knows which operations were done knows what there is.
type op struct {
	client, n int
	trim      store.Rev // what a trimming one drops; 0 for others
}

func (o op) String() string { return fmt.Sprintf("%d/%d", o.client, o.n) }

// draw is a number below n that follows from the operation and a use.
func (o op) draw(use string, n int) int {
	h := fnv.New64a()
	fmt.Fprint(h, o, use)
	x := h.Sum64()
	x ^= x >> 31
	x *= 0x94d049bb133111eb
	return int((x ^ x>>29) % uint64(n))
}

func (o op) kind() kind {
	switch d := o.draw("kind", 20); {
	case d < 3:
		return large
	case d < 5:
		return trims
	case d < 8:
		return refused
	case d < 10:
		return beat
	}
	return plain
}

// The keys of an operation's parts.
func (o op) record() string  { return fmt.Sprintf("rec/%d/%06d", o.client, o.n) }
func (o op) index() string   { return fmt.Sprintf("by/%02d/%s", o.draw("index", 100), o) }
func (o op) last() string    { return fmt.Sprintf("last/%d", o.client) }
func (o op) beatKey() string { return fmt.Sprintf("%sbeat/%d", store.LedgerPrefix, o.client) }
func (o op) ledger() string  { return fmt.Sprintf("%sseen/%d", store.LedgerPrefix, o.client) }
func (o op) before(n int) op { return op{client: o.client, n: o.n - n} }
func (o op) trimmed() bool   { return o.trim > 0 }
func (o op) value() []byte   { return []byte(strings.Repeat(o.String()+";", o.size())) }
func (o op) number() []byte  { return fmt.Append(nil, o.n) }

// size is how often the value of the record repeats the operation's name.
func (o op) size() int {
	if o.kind() == large {
		return 1000 + o.draw("size", 1500)
	}
	return 1 + o.draw("size", 200)
}

// kept is how many records of a client there are at once.
const kept = 8

// write does the operation's changes by put and del; the revision is that of its row.
func (o op) write(rev uint64, put func(key string, val []byte), del func(key string)) {
	put(o.record(), o.value())
	put(o.index(), []byte(o.record()))
	put(o.last(), o.number())
	put(o.ledger(), o.number())
	put("count", fmt.Append(nil, rev)) // every commit changes this page
	if old := o.before(1 + o.draw("over", kept-2)); o.draw("rewrite", 3) == 0 && old.n > 0 {
		put(old.record(), o.value())
	}
	if old := o.before(kept); old.n > 0 {
		del(old.record())
		del(old.index())
	}
}

// do is the operation's closure.
func (o op) do(tx store.Tx) error {
	if o.kind() == beat {
		tx.Put(o.beatKey(), o.number())
		return nil
	}
	o.write(tx.Head().Revision+1, tx.Put, tx.Delete)
	if o.trimmed() {
		tx.Trim(o.trim)
	}
	tx.Log(entry(o))
	if o.kind() == refused {
		return errRefused
	}
	return nil
}

// entry is the operation's row of the log.
func entry(o op) store.Entry {
	return store.Entry{Time: time.Unix(int64(o.n), 0), Actor: fmt.Sprint("client-", o.client),
		Facts: []journal.Fact{{Type: "crash.op", Subject: o.String(), Body: fmt.Sprint(uint64(o.trim))}}}
}

// opOf reads the operation that a row of the log tells of.
func opOf(row journal.Row) (o op, err error) {
	if len(row.Facts) != 1 {
		return o, fmt.Errorf("row %d tells %d facts", row.Revision, len(row.Facts))
	}
	f := row.Facts[0]
	if _, err := fmt.Sscanf(f.Subject+" "+f.Body, "%d/%d %d", &o.client, &o.n, &o.trim); err != nil {
		return o, fmt.Errorf("row %d tells %q %q: %w", row.Revision, f.Subject, f.Body, err)
	}
	return o, nil
}
