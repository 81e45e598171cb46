package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// IdempotencyLife is how long a key answers for the call that used it.
const IdempotencyLife = 24 * time.Hour

// The ledgers of idempotency keys: by actor and key, and by the time of use.
const (
	usedKeys   = store.LedgerPrefix + "used/"
	usedByTime = store.LedgerPrefix + "used-at/"
)

// used is what the ledger keeps of a call with a key. Its answer is made from the
// records as they stand: a secret that was in the first answer is not kept, and so
// not given again.
type used struct {
	Digest string
	Rev    store.Rev
	At     time.Time
	Facts  []journal.Fact
}

// name hides what callers choose as keys, and makes it fit a key of the store.
func (c *Call) name() string {
	sum := sha256.Sum256([]byte(c.Actor + "\x00" + c.Key))
	return hex.EncodeToString(sum[:16])
}

// replay answers from the ledger, if the key is in it.
func (w *work) replay(c Call) (bool, error) {
	raw, ok := w.Get(usedKeys + c.name())
	if !ok {
		return false, nil
	}
	var u used
	if err := json.Unmarshal(raw, &u); err != nil {
		return false, fmt.Errorf("the ledger of idempotency keys: %w", err)
	}
	switch {
	case w.now.Sub(u.At) >= IdempotencyLife:
		return false, nil
	case u.Digest != hex.EncodeToString(c.Digest[:]):
		return false, conflict("the idempotency key was used for another call", "take a new key for a new call")
	}
	w.done = Done{Rev: u.Rev, Facts: u.Facts, Replayed: true}
	return true, nil
}

// remember writes what the call did under its key, in its own commit.
func (w *work) remember(c Call) error {
	rev := store.Rev(w.Head().Revision)
	if len(w.done.Facts) > 0 {
		rev++ // of the row that this closure logs
	}
	name := c.name()
	raw, err := json.Marshal(used{hex.EncodeToString(c.Digest[:]), rev, w.now.UTC().Round(0), w.done.Facts})
	if err != nil {
		return err
	}
	if old, ok := w.Get(usedKeys + name); ok { // it has ended
		var u used
		if err := json.Unmarshal(old, &u); err == nil {
			w.Delete(usedByTime + timeKey(u.At) + "/" + name)
		}
	}
	w.Put(usedKeys+name, raw)
	w.Put(usedByTime+timeKey(w.now)+"/"+name, nil)
	return nil
}

// timeKey orders keys by time, from 1970 to 2262.
func timeKey(t time.Time) string { return fmt.Sprintf("%019d", max(0, t.UnixNano())) }

// Replayed is what a call did that was made before by its key; false where it was
// not. It is for calls that act outside of the store before they write: another call
// with the key is a CONFLICT by then.
func (d *Door) Replayed(ctx context.Context, c Call) (done Done, found bool, err error) {
	if c.Key == "" || c.DryRun {
		return Done{}, false, nil
	}
	now := d.now()
	err = d.store.View(ctx, func(r store.Reader) error {
		w := &work{Tx: &dryTx{Reader: r}, now: now}
		var err error
		found, err = w.replay(c)
		done = w.done
		return err
	})
	return done, found, err
}
