package control

import (
	"context"
	"net/netip"
	"strconv"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// Load reads the state that a call on t would step, in a view of the caller's. A
// machine that is not there gives a fresh node without an ID.
func (d *Door) Load(r store.Reader, t Target) (lifecycle.State, error) {
	s, _, err := d.load(r, t)
	return s, err
}

// Read is Load in a view of its own, and the head of the log that it is as of.
func (d *Door) Read(ctx context.Context, t Target) (s lifecycle.State, head journal.Head, err error) {
	err = d.store.View(ctx, func(r store.Reader) error {
		head = r.Head()
		s, _, err = d.load(r, t)
		return err
	})
	return s, head, err
}

// Reserved are the addresses that boot records hold.
func Reserved(r store.Reader) []netip.Addr {
	var all []netip.Addr
	prefix := lifecycle.RowBy + "address/"
	for key := range r.Range(prefix, Beyond(prefix)) {
		if a, err := netip.ParseAddr(strings.TrimPrefix(key, prefix)); err == nil {
			all = append(all, a)
		}
	}
	return all
}

// ChangedAt is the revision of the newest change of a row that has no version of
// its own: the policy's, a boot record's, and those that callers of Record tell
// Changed of. It is 0 where none was seen.
func ChangedAt(r store.Reader, key string) uint64 {
	raw, _ := r.Get(changedLedger + key)
	rev, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil {
		return 0
	}
	return rev
}

// Changed notes that the commit of tx changes such a row.
func Changed(tx store.Tx, key string) {
	tx.Put(changedLedger+key, strconv.AppendUint(nil, tx.Head().Revision+1, 10))
}

// changedLedger is when rows that have no version of their own changed.
const changedLedger = store.LedgerPrefix + "changed/"
