package control

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// sightedWithin is how soon after its power cycle a machine's MAC must be seen for
// the first time (BOOT-11).
const sightedWithin = 10 * time.Minute

// propose makes MACs candidates of the machines that our agent has just cycled into
// PXE (BOOT-11). What does not prove itself stays as it is: a person may confirm it.
func (d *Door) propose(ctx context.Context, actor string, seen []Seen) {
	for _, x := range seen {
		if x.Product == (registration.ServerID{}) {
			continue
		}
		var id lifecycle.NodeID
		err := d.store.View(ctx, func(r store.Reader) error {
			id = ""
			raw, _ := r.Get(lifecycle.RowBy + "server/" + x.Product.Key().String())
			if n := lifecycle.NodeID(raw); n != "" && !CycledAt(r, n).IsZero() && !beyond(r, x.MAC) {
				id = n
			}
			return nil
		})
		if err != nil || id == "" {
			continue
		}
		// A refusal is the usual case: the machine has its MAC, or nothing is proved.
		_, _ = d.Do(ctx, Call{Actor: actor}, Target{Node: id, MACs: []netboot.MAC{x.MAC}}, func(l *Look) (lifecycle.Input, error) {
			return lifecycle.Propose{Proposal: evidence(l, id, x)}, nil
		})
	}
}

// evidence is what the sightings of all booters say for and against a MAC.
func evidence(r store.Reader, id lifecycle.NodeID, x Seen) lifecycle.Proposal {
	p := lifecycle.Proposal{MAC: x.MAC}
	first := x.First
	prefix := store.LedgerPrefix + sightingsLedger
	for _, raw := range r.Range(prefix, Beyond(prefix)) {
		var all []Seen
		if json.Unmarshal(raw, &all) != nil {
			p.SecondMAC = true // what cannot be read proves nothing
			continue
		}
		for _, y := range all {
			switch same := y.Product.Key() == x.Product.Key(); {
			case y.MAC == x.MAC && y.First.Before(first):
				first = y.First
			case y.MAC != x.MAC && same && x.Last.Sub(y.Last) < SightingLife:
				p.SecondMAC = true
			}
		}
	}
	if shared(r, x) {
		p.SecondMAC = true
	}
	if made := recordedAt(r, x.MAC); !made.IsZero() && made.Before(first) {
		first = made // a booter that forgot it and sees it again
	}
	at := CycledAt(r, id)
	p.Cycled = !at.IsZero() && !first.Before(at)
	p.Late = first.Sub(at) > sightedWithin
	p.SecondOwner = secondOwner(r, id, x.Product)
	return p
}

// saidLedger has a row for each UUID and MAC that sent it: when it last did. What a
// booter or a MAC says later takes nothing back.
const saidLedger = "said/"

func saidKey(product registration.ServerID, mac netboot.MAC) string {
	return store.LedgerPrefix + saidLedger + product.Key().String() + "/" + mac.String()
}

// said keeps that a MAC sent a UUID, whatever becomes of its record.
func said(tx store.Tx, x Seen) error {
	if x.Product == (registration.ServerID{}) {
		return nil
	}
	key := saidKey(x.Product, x.MAC)
	if raw, ok := tx.Get(key); ok && !x.Last.After(parseTime(raw)) {
		return nil
	}
	raw, err := x.Last.UTC().Round(0).MarshalText()
	if err == nil {
		tx.Put(key, raw)
	}
	return err
}

// shared reports whether a second MAC sent a UUID within a day (BOOT-11).
func shared(r store.Reader, x Seen) bool {
	prefix := store.LedgerPrefix + saidLedger + x.Product.Key().String() + "/"
	for key, raw := range r.Range(prefix, Beyond(prefix)) {
		// A time that cannot be read proves nothing, and is as now.
		at := parseTime(raw)
		if key != prefix+x.MAC.String() && (at.IsZero() || x.Last.Sub(at) < SightingLife) {
			return true
		}
	}
	return false
}

// parseTime is a time that a ledger has; zero where it is none.
func parseTime(raw []byte) (t time.Time) {
	if t.UnmarshalText(raw) != nil {
		return time.Time{}
	}
	return t
}

// recordedAt is when a MAC that nobody has claimed was first reported; zero: unknown.
func recordedAt(r store.Reader, mac netboot.MAC) time.Time {
	raw, _ := r.Get(store.LedgerPrefix + discoveredAt + mac.String())
	ns, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// secondOwner reports whether a UUID is that of another machine too: of a
// registration row, since live nodes share none.
func secondOwner(r store.Reader, id lifecycle.NodeID, product registration.ServerID) bool {
	raw, ok := r.Get(lifecycle.RowRegistration + product.Key().String())
	var row struct{ Node lifecycle.NodeID }
	return ok && (json.Unmarshal(raw, &row) != nil || row.Node != id && row.Node != "")
}
