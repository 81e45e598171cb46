package control

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// dry runs the call on a snapshot and keeps nothing.
func (d *Door) dry(ctx context.Context, c Call, fn func(*work) ([]journal.Fact, error)) (Done, error) {
	var done Done
	var counts bool
	now := d.now()
	err := d.store.View(ctx, func(r store.Reader) error {
		var err error
		done, counts, _, err = d.dryRun(r, now, fn)
		return err
	})
	switch {
	case counts:
		return d.dryCounted(ctx, fn)
	case err != nil:
		return Done{}, err
	}
	return done, nil
}

// errDry ends the transaction of a dry run that kept nothing.
var errDry = errors.New("a dry run")

// dryCounted is a dry run of a call that counts its refusals. It is decided in a
// transaction, after all tries before it; a refusal is counted there, since who
// tries without being counted could go through all that there is to try.
func (d *Door) dryCounted(ctx context.Context, fn func(*work) ([]journal.Fact, error)) (Done, error) {
	var done Done
	var refusal error
	now := d.now() // ahead of a closure that may run again
	_, err := d.store.Update(ctx, func(tx store.Tx) error {
		var notes []row
		var err error
		done, _, notes, err = d.dryRun(tx, now, fn)
		if refusal = err; len(notes) == 0 {
			return cmp.Or(err, errDry)
		}
		for _, n := range notes {
			tx.Put(n.key, n.val)
		}
		return nil
	})
	if errors.Is(err, errDry) {
		err = nil
	}
	if err = cmp.Or(err, refusal); err != nil {
		return Done{}, err
	}
	return done, nil
}

// dryRun decides on what r reads. The notes are those of a counted refusal.
func (d *Door) dryRun(r store.Reader, now time.Time, fn func(*work) ([]journal.Fact, error)) (done Done, counts bool, notes []row, err error) {
	tx := &dryTx{Reader: r}
	w := &work{Tx: tx, now: now}
	facts, err := fn(w)
	done = w.done
	done.Facts, done.Rows, done.Rev = facts, tx.rows, store.Rev(r.Head().Revision)
	if w.refusal != nil {
		notes = tx.notes
	}
	return done, w.counts, notes, cmp.Or(err, w.refusal, tx.err)
}

// dryTx notes what would be written.
type dryTx struct {
	store.Reader
	rows  []Row
	notes []row
	err   error
}

func (t *dryTx) Put(key string, val []byte) {
	t.rows, t.notes = append(t.rows, Row{Key: key}), append(t.notes, row{key, val})
}

func (t *dryTx) Delete(key string) { t.rows = append(t.rows, Row{Key: key, Gone: true}) }

func (t *dryTx) Log(store.Entry) {}

func (t *dryTx) Trim(store.Rev) {
	t.err = errors.Join(t.err, &Refused{"UNSUPPORTED", "the log is not trimmed in a dry run", "run it"})
}
