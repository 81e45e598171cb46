package booting

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// A World is what a booter serves from: the site as of one revision. It is not safe
// for concurrent use.
type World struct {
	Incarnation string
	Revision    uint64
	Policy      api.Policy
	boots       map[booter.MAC]served
	at          map[netip.Addr][]booter.MAC // more than one only where the site is wrong
}

// served is a boot record, as it came and as the decision takes it.
type served struct {
	api.ServedBoot
	rec booter.Record
	net netip.Prefix
	via netip.Addr // the gateway
}

// NewWorld is the world of a snapshot.
func NewWorld(s api.BootSnapshot) *World {
	w := &World{Incarnation: s.Incarnation, Revision: s.Revision, Policy: s.Policy, boots: make(map[booter.MAC]served, len(s.Boots)), at: map[netip.Addr][]booter.MAC{}}
	for _, b := range s.Boots {
		w.put(b)
	}
	return w
}

// Take takes a delta in. false says that the delta is not of this world: take a
// snapshot.
func (w *World) Take(d api.BootDelta) bool {
	if d.Reset || d.Incarnation != w.Incarnation || d.Revision < w.Revision {
		return false
	}
	w.Revision = d.Revision
	if d.Policy != nil {
		w.Policy = *d.Policy
	}
	for _, text := range d.Delete {
		if mac, ok := parseMAC(text); ok {
			w.drop(mac)
		}
	}
	for _, b := range d.Put {
		w.put(b)
	}
	return true
}

// put sets a record. One whose MAC cannot be read is nobody's to serve.
func (w *World) put(b api.ServedBoot) {
	mac, ok := parseMAC(b.MAC)
	if !ok {
		return
	}
	w.drop(mac)
	s := served{ServedBoot: b}
	s.rec = record(b)
	s.net, _ = netip.ParsePrefix(b.Networking["network"])
	s.via, _ = netip.ParseAddr(b.Networking["gateway"])
	w.boots[mac] = s
	if a := s.rec.Address; a.IsValid() {
		w.at[a] = append(w.at[a], mac)
	}
}

func (w *World) drop(mac booter.MAC) {
	a := w.boots[mac].rec.Address
	if left := slices.DeleteFunc(w.at[a], func(m booter.MAC) bool { return m == mac }); len(left) > 0 {
		w.at[a] = left
	} else {
		delete(w.at, a)
	}
	delete(w.boots, mac)
}

// record is a boot record as the decision takes it. What this program does not know
// it does not serve (EDGE-18).
func record(b api.ServedBoot) booter.Record {
	r := booter.Record{State: netboot.State(b.State), Image: b.Image, RootHash: b.RootSet, Rescue: b.Mode == string(netboot.Rescue)}
	r.Newer = !slices.Contains([]string{"", string(netboot.Normal), string(netboot.Rescue)}, b.Mode)
	if b.Address != "" {
		a, err := netip.ParseAddr(b.Address)
		r.Address, r.Newer = a.Unmap(), r.Newer || err != nil
	}
	if b.Entry != nil {
		r.Entry = booter.Entry{Image: b.Entry.Image, Args: b.Entry.Args}
	}
	return r
}

// Snapshot is the world as it came, its records in the order of their MACs.
func (w *World) Snapshot() api.BootSnapshot {
	s := api.BootSnapshot{Incarnation: w.Incarnation, Revision: w.Revision, Policy: w.Policy, Boots: make([]api.ServedBoot, 0, len(w.boots))}
	for _, mac := range slices.SortedFunc(maps.Keys(w.boots), compareMACs) {
		s.Boots = append(s.Boots, w.boots[mac].ServedBoot)
	}
	return s
}

func compareMACs(a, b booter.MAC) int { return slices.Compare(a[:], b[:]) }

// Len is how many records there are.
func (w *World) Len() int { return len(w.boots) }

// At is who has an address reserved; nobody, where that could be more than one.
func (w *World) At(a netip.Addr) (booter.MAC, bool) {
	if all := w.at[a]; len(all) == 1 {
		return all[0], true
	}
	return booter.MAC{}, false
}

// network is the network that a record's address is in, and its gateway: its own, as
// it was written with the address, else the policy's.
func (w *World) network(s served) (netip.Prefix, netip.Addr) {
	if s.net.IsValid() {
		return s.net, s.via
	}
	p, _ := netip.ParsePrefix(w.Policy.Network)
	gw, _ := netip.ParseAddr(w.Policy.Gateway)
	return p, gw
}

func parseMAC(text string) (booter.MAC, bool) {
	m, err := netboot.ParseMAC(text)
	return booter.MAC(m), err == nil
}
