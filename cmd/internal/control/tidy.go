package control

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// booterLife is how long a booter that reports no more is thought to have what it
// had staged.
const booterLife = 30 * 24 * time.Hour

// old says of each ledger whose keys strangers can choose what of it has had its
// day, so that none of them grows for ever. name is the key below the prefix.
func old() map[string]func(r store.Reader, name string, raw []byte, now time.Time) bool {
	return map[string]func(store.Reader, string, []byte, time.Time) bool{
		RegistersLedger: func(_ store.Reader, _ string, raw []byte, now time.Time) bool {
			var times []time.Time
			return json.Unmarshal(raw, &times) != nil || !slices.ContainsFunc(times, func(t time.Time) bool { return now.Sub(t) < time.Hour })
		},
		sightingsLedger: func(_ store.Reader, _ string, raw []byte, now time.Time) bool {
			var seen []Seen
			return json.Unmarshal(raw, &seen) != nil || !slices.ContainsFunc(seen, func(x Seen) bool { return now.Sub(x.Last) < SightingLife })
		},
		lastSighting: func(r store.Reader, mac string, raw []byte, now time.Time) bool {
			var x Seen
			_, kept := r.Get(lifecycle.RowBoot + mac)
			return !kept && (json.Unmarshal(raw, &x) != nil || now.Sub(x.Last) >= SightingLife)
		},
		saidLedger: func(_ store.Reader, _ string, raw []byte, now time.Time) bool {
			return now.Sub(parseTime(raw)) >= SightingLife
		},
		strings.TrimPrefix(bootedLedger, store.LedgerPrefix): func(r store.Reader, mac string, raw []byte, now time.Time) bool {
			var x Booted
			_, kept := r.Get(lifecycle.RowBoot + mac)
			return !kept && (json.Unmarshal(raw, &x) != nil || now.Sub(x.At) >= SightingLife || x.At.After(now))
		},
		strings.TrimPrefix(bootersLedger, store.LedgerPrefix): func(_ store.Reader, _ string, raw []byte, now time.Time) bool {
			var b Booter
			return json.Unmarshal(raw, &b) != nil || now.Sub(b.Seen) >= booterLife
		},
		SeenLedger:      orphan(lifecycle.RowRegistration),
		SessionsLedger:  orphan("session/"),
		OperatorsLedger: orphan("operator/"),
	}
}

// orphan: what it is about has no row below prefix.
func orphan(prefix string) func(store.Reader, string, []byte, time.Time) bool {
	return func(r store.Reader, name string, _ []byte, _ time.Time) bool {
		_, kept := r.Get(prefix + name)
		return !kept
	}
}

// The ledgers that package server keeps, of machines by their UUIDs.
const (
	RegistersLedger = "register/" // when it registered (REG-10)
	SeenLedger      = "seen/"     // when it was heard of last
	SessionsLedger  = "session-seen/"
	OperatorsLedger = "operator-seen/"
)

// tidy clears what ledgers have kept for long enough, a page a commit.
func (d *Door) tidy(ctx context.Context) error {
	for ledger, gone := range old() {
		prefix := store.LedgerPrefix + ledger
		for after := prefix; after != ""; {
			var err error
			if after, err = d.tidyFrom(ctx, prefix, after, gone); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidyPage is how many rows are looked at in one view.
const tidyPage = 1000

// tidyFrom clears a page of a ledger, and returns the key that the next begins with.
// What is to go is looked at again where it goes.
func (d *Door) tidyFrom(ctx context.Context, prefix, after string, gone func(store.Reader, string, []byte, time.Time) bool) (string, error) {
	var last string
	var found []string
	now := d.now()
	err := d.store.View(ctx, func(r store.Reader) error {
		last, found = "", nil
		n := 0
		for key, raw := range r.Range(after, Beyond(prefix)) {
			if gone(r, strings.TrimPrefix(key, prefix), raw, now) {
				found = append(found, key)
			}
			if n++; n == tidyPage {
				last = key + "\x00"
				return nil
			}
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return last, err
	}
	_, err = d.store.Update(ctx, func(tx store.Tx) error {
		for _, key := range found {
			if raw, ok := tx.Get(key); ok && gone(tx, strings.TrimPrefix(key, prefix), raw, now) {
				tx.Delete(key)
			}
		}
		return nil
	})
	return last, err
}
