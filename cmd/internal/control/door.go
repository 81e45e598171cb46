// Package control is the one door to a site's store: every change of every
// record passes through it, whoever asks.
//
// Do loads what a call is about, steps package lifecycle, and writes the
// difference with one row of the log, all in one transaction of the store. Record
// does the same for records that are no machine's. The Sweeper brings what time
// alone changes, the Reconciler what states want from the world. Nothing else
// writes, but for observations: they live in ledgers and are no change (MACH-9).
package control

import (
	"cmp"
	"context"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// A Call is who asks, and how often he may have asked before. The zero Key is no
// idempotency key.
type Call struct {
	Actor string // for the log; never ""
	// Key makes a call happen once: the same actor's same key answers what the
	// first one did, for IdempotencyLife. Digest is what was asked; the key with
	// another digest is a CONFLICT.
	Key    string
	Digest [32]byte
	// DryRun decides and writes nothing: the answer is what would be.
	DryRun bool
}

// Done is what a call did, or would do.
type Done struct {
	// Rev is the revision of the call's row; where it changed nothing, the
	// newest revision that it saw.
	Rev      store.Rev
	Facts    []journal.Fact
	Replayed bool // the idempotency key had done it before
	// Was and Next are the states around a Do; a replayed call has neither.
	Was, Next lifecycle.State
	// Rows are the keys that were written, or in a dry run would be, but for what the
	// log and the idempotency key take.
	Rows []Row
}

// A Row is a key and what became of it.
type Row struct {
	Key  string
	Gone bool
}

// A Door writes to a store. It is safe for concurrent use.
type Door struct {
	store store.Store
	now   func() time.Time
	site  siteCache
	world func(store.Reader, *lifecycle.Node) lifecycle.World
}

// Config is what a Door is made of.
type Config struct {
	Store store.Store
	Now   func() time.Time
	// World asks the parts of the control plane what they know of a node, in the
	// commit's own transaction. Nil is a site whose only part is its booters.
	World func(store.Reader, *lifecycle.Node) lifecycle.World
}

// New makes a door.
func New(c Config) *Door {
	d := &Door{store: c.Store, now: c.Now, world: c.World}
	if d.world == nil {
		d.world = Staged
	}
	return d
}

// Store is what the door writes to, for reading.
func (d *Door) Store() store.Store { return d.store }

// Now is the door's clock.
func (d *Door) Now() time.Time { return d.now() }

// Record runs fn in one transaction with a row of the log for the facts that it
// returns, for records that are no machine's. Without facts fn must have written
// to ledgers alone. fn may run again.
func (d *Door) Record(ctx context.Context, c Call, fn func(tx store.Tx, now time.Time) ([]journal.Fact, error)) (Done, error) {
	return d.record(ctx, c, func(w *work) ([]journal.Fact, error) { return fn(w.Tx, w.now) })
}

// notedTx notes what is written.
type notedTx struct {
	store.Tx
	rows []Row
}

func (t *notedTx) Put(key string, val []byte) {
	t.rows = append(t.rows, Row{Key: key})
	t.Tx.Put(key, val)
}

func (t *notedTx) Delete(key string) {
	t.rows = append(t.rows, Row{Key: key, Gone: true})
	t.Tx.Delete(key)
}

// work is one run of a call in a transaction.
type work struct {
	store.Tx
	now     time.Time
	done    Done
	refusal error // that was counted: the call is refused, and its notes stay
	counts  bool  // it counts refusals
}

// record is Record with the run's own answer.
func (d *Door) record(ctx context.Context, c Call, fn func(*work) ([]journal.Fact, error)) (Done, error) {
	if c.DryRun {
		return d.dry(ctx, c, fn)
	}
	var done Done
	var refusal error
	now := d.now() // ahead of a closure that may run again
	rev, err := d.store.Update(ctx, func(tx store.Tx) error {
		noted := &notedTx{Tx: tx}
		w := &work{Tx: noted, now: now}
		err := w.once(c, func(w *work) ([]journal.Fact, error) {
			facts, err := fn(w)
			w.done.Rows = noted.rows
			return facts, err
		})
		done, refusal = w.done, w.refusal
		return err
	})
	if err = cmp.Or(err, refusal); err != nil {
		return Done{}, err
	}
	if !done.Replayed {
		done.Rev = rev
	}
	return done, nil
}

// once runs fn unless its key has done it already, and logs what it did.
func (w *work) once(c Call, fn func(*work) ([]journal.Fact, error)) error {
	if c.Key != "" {
		if found, err := w.replay(c); found || err != nil {
			return err
		}
	}
	facts, err := fn(w)
	if err != nil || w.refusal != nil {
		return err
	}
	w.done.Facts = facts
	if len(facts) > 0 {
		w.log(c.Actor, facts)
	}
	if c.Key != "" {
		return w.remember(c)
	}
	return nil
}

// log tells the facts, and indexes them by what they are about.
func (w *work) log(actor string, facts []journal.Fact) {
	w.Log(store.Entry{Time: w.now, Actor: actor, Facts: facts})
	rev := store.Rev(w.Head().Revision + 1)
	for i, f := range facts {
		if i == 0 || f.Subject != facts[i-1].Subject {
			w.Put(eventKey(f.Subject, rev), nil)
		}
	}
}
