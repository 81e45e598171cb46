package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// SightingLife is how long a sighting is remembered (BOOT-10).
const SightingLife = 24 * time.Hour

// MaxSightings is how many MACs one booter may report (BOOT-10).
const MaxSightings = 256

// sightingsLedger has a row for each booter: what it reported last.
const sightingsLedger = "sightings/"

// Seen is one booter's sightings of a MAC.
type Seen struct {
	MAC         netboot.MAC
	Product     registration.ServerID // as sent; zero when none was
	Arch        int
	First, Last time.Time
	Count       uint64
	Relay       string
}

// Sighting is a MAC as all booters saw it.
type Sighting struct {
	Seen
	Relays, Booters []string
}

// Sightings are the MACs that booters reported and that have not been forgotten,
// newest first (BOOT-18). A MAC whose record goes beyond discovered, or that has a
// boot entry, is the business of its record (BOOT-10).
func Sightings(r store.Reader, now time.Time) []Sighting {
	byMAC := map[netboot.MAC]*Sighting{}
	prefix := store.LedgerPrefix + sightingsLedger
	for key, raw := range r.Range(prefix, Beyond(prefix)) {
		var seen []Seen
		if json.Unmarshal(raw, &seen) != nil {
			continue
		}
		for _, x := range seen {
			if now.Sub(x.Last) < SightingLife {
				merge(byMAC, strings.TrimPrefix(key, prefix), x)
			}
		}
	}
	all := make([]Sighting, 0, len(byMAC))
	for mac, x := range byMAC {
		if !beyond(r, mac) {
			all = append(all, *x)
		}
	}
	slices.SortFunc(all, func(a, b Sighting) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(b.MAC.String(), a.MAC.String()))
	})
	return all
}

// beyond reports whether a MAC has a record beyond discovered, or a boot entry.
func beyond(r store.Reader, mac netboot.MAC) bool {
	raw, ok := r.Get(lifecycle.RowBoot + mac.String())
	if !ok {
		return false
	}
	var boot struct{ Record netboot.Record }
	return json.Unmarshal(raw, &boot) == nil && (boot.Record.State != netboot.Discovered || boot.Record.Entry != netboot.Entry{})
}

// merge adds what one booter saw.
func merge(byMAC map[netboot.MAC]*Sighting, booter string, x Seen) {
	s, ok := byMAC[x.MAC]
	if !ok {
		s = &Sighting{Seen: Seen{MAC: x.MAC, First: x.First}}
		byMAC[x.MAC] = s
	}
	if x.Last.After(s.Last) { // the newest report says what the machine is
		s.Last, s.Product, s.Arch = x.Last, x.Product, x.Arch
	}
	if x.First.Before(s.First) {
		s.First = x.First
	}
	s.Count += x.Count
	s.Booters = append(s.Booters, booter)
	if x.Relay != "" && !slices.Contains(s.Relays, x.Relay) {
		s.Relays = append(s.Relays, x.Relay)
	}
}

// SightingOf is what booters saw of one MAC.
func SightingOf(r store.Reader, mac netboot.MAC) (Seen, bool) {
	raw, ok := r.Get(store.LedgerPrefix + lastSighting + mac.String())
	if !ok {
		return Seen{}, false
	}
	var s Seen
	return s, json.Unmarshal(raw, &s) == nil
}

// lastSighting has a row for each boot record: when it was last seen.
const lastSighting = "sighted/"

// Spoken reports whether a product UUID is that of a machine which was enrolled by
// its BMC: auto-enroll passes its MACs by (BOOT-15).
func Spoken(r store.Reader, product netboot.ServerID) bool {
	if product == (netboot.ServerID{}) {
		return false
	}
	id, ok := r.Get(lifecycle.RowBy + "server/" + registration.ServerID(product).Key().String())
	if !ok {
		return false
	}
	raw, _ := r.Get(lifecycle.RowNode + string(id))
	var n struct{ Claims lifecycle.Claims }
	return json.Unmarshal(raw, &n) == nil && n.Claims.BMC != ""
}

// Sight reports a booter's sightings: it keeps them, and has each MAC judged that
// may become or be admitted (BOOT-1, BOOT-7). The errors are each MAC's own, in the
// order of seen.
func (d *Door) Sight(ctx context.Context, c Call, booter string, seen []Seen) (store.Rev, []error, error) {
	if len(seen) > MaxSightings {
		return 0, nil, &Refused{"INVALID_INPUT", fmt.Sprintf("%d sightings, at most %d (BOOT-10)", len(seen), MaxSightings), "report the newest"}
	}
	seen = inOurTime(seen, d.now())
	raw, err := json.Marshal(seen)
	if err != nil {
		return 0, nil, err
	}
	targets := make([]Target, len(seen))
	for i, x := range seen {
		targets[i].MAC = x.MAC
	}
	if len(seen) == 0 {
		rev, err := d.store.Update(ctx, func(tx store.Tx) error {
			tx.Delete(store.LedgerPrefix + sightingsLedger + booter)
			return nil
		})
		return rev, nil, err
	}
	rev, errs, err := d.Each(ctx, c, targets, func(i int, l *Look) (lifecycle.Input, error) {
		if i == 0 {
			l.tx.Put(store.LedgerPrefix+sightingsLedger+booter, raw)
		}
		return d.sighted(l, seen[i])
	})
	if err == nil {
		d.propose(ctx, c.Actor, seen)
	}
	return rev, errs, err
}

// inOurTime is seen with no time that lies ahead: a booter whose clock does, or who
// says so, would have it remembered for ever (BOOT-10).
func inOurTime(seen []Seen, now time.Time) []Seen {
	seen = slices.Clone(seen)
	for i := range seen {
		x := &seen[i]
		if x.Last.After(now) {
			x.Last = now.UTC().Round(0)
		}
		if x.First.After(x.Last) {
			x.First = x.Last
		}
	}
	return seen
}

// sighted is the input of one sighting, with what the transaction knows of the MAC.
func (d *Door) sighted(l *Look, x Seen) (lifecycle.Input, error) {
	raw, err := json.Marshal(x)
	if err != nil {
		return nil, err
	}
	if err := said(l.tx, x); err != nil {
		return nil, err
	}
	l.Note(lastSighting+x.MAC.String(), raw)
	in := lifecycle.Sighted{MAC: x.MAC, Product: netboot.ServerID(x.Product), Spoken: Spoken(l, netboot.ServerID(x.Product))}
	limit := cmp.Or(l.State.Site.Policy.MaxDiscovered, lifecycle.MaxDiscovered)
	if len(l.State.Node.NICs) > 0 || l.State.Site.Discovered < limit {
		return in, nil
	}
	return d.crowded(l, in)
}

// crowded names the record that makes room for a new one (BOOT-16): the oldest that
// never held an address.
func (d *Door) crowded(l *Look, in lifecycle.Sighted) (lifecycle.Input, error) {
	prefix := store.LedgerPrefix + discoveredLedger
	for key := range l.Range(prefix, Beyond(prefix)) {
		mac, err := netboot.ParseMAC(key[strings.LastIndexByte(key, '/')+1:])
		if err != nil {
			continue
		}
		s, err := d.Load(l, Target{MAC: mac})
		if err != nil {
			return nil, err
		}
		for _, b := range s.Node.NICs {
			if b.MAC == mac && evictable(&b) {
				in.Oldest = mac
				l.Reach(b)
				return in, nil
			}
		}
	}
	return in, nil
}

// evictable: a record that nobody has a part in, and that never held an address.
// The ledgers name no other, so that a flood of MACs finds the oldest at once.
func evictable(b *netboot.Record) bool {
	return b.State == netboot.Discovered && !b.Address.IsValid() && b.Owner == (netboot.Owner{}) && b.Candidate == "" && b.Entry == (netboot.Entry{})
}

// The ledgers of when records became evictable, by time and by MAC.
const (
	discoveredLedger = "discovered/"
	discoveredAt     = "discovered-at/"
)

// found keeps those ledgers for the boot records that a step changed.
func found(tx store.Tx, now time.Time, was, is *lifecycle.Node) {
	waits := func(n *lifecycle.Node, mac netboot.MAC) bool {
		return slices.ContainsFunc(n.NICs, func(b netboot.Record) bool { return b.MAC == mac && evictable(&b) })
	}
	for i := range is.NICs {
		if mac := is.NICs[i].MAC; waits(is, mac) && !waits(was, mac) {
			tx.Put(store.LedgerPrefix+discoveredLedger+timeKey(now)+"/"+mac.String(), nil)
			tx.Put(store.LedgerPrefix+discoveredAt+mac.String(), []byte(timeKey(now)))
		}
	}
	for i := range was.NICs {
		if mac := was.NICs[i].MAC; waits(was, mac) && !waits(is, mac) {
			at, _ := tx.Get(store.LedgerPrefix + discoveredAt + mac.String())
			tx.Delete(store.LedgerPrefix + discoveredLedger + string(at) + "/" + mac.String())
			tx.Delete(store.LedgerPrefix + discoveredAt + mac.String())
		}
	}
}
