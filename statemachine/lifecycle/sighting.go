package lifecycle

import (
	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// Sighted is a PXE sighting of a MAC (BOOT-1, BOOT-7, BOOT-15, BOOT-16,
// BOOT-19). Its admission is decided here and nowhere else. The state holds
// the MAC's boot record, if there is one, and the record to evict.
//
// A new MAC becomes a discovered record; policy may admit it in the same
// commit, with the lowest free address. A sighting of a record that policy
// passes by changes nothing: last_seen is a ledger's (MACH-9). With the pool
// exhausted a new MAC is recorded all the same, and a known one is answered
// UNAVAILABLE (EDGE-19).
//
// Whatever comes of it, this packet is not answered: the client's retry is, by the
// record as it stands then (BOOT-22). Tag, Spoken and Oldest are read in the
// commit's own transaction.
type Sighted struct {
	MAC     netboot.MAC
	Product netboot.ServerID // as sent; zero when none was
	Tag     string           // that inventory knows of the MAC
	Spoken  bool             // the product UUID is a machine's that was enrolled without MACs, or the MAC a metal node's
	Oldest  netboot.MAC      // the oldest discovered record that never held an address; zero: none
}

// Name is sighted.
func (Sighted) Name() string { return "sighted" }

func (in Sighted) apply(w *work) error {
	known := w.Node.nic(in.MAC) >= 0 && w.Node.NICs[w.Node.nic(in.MAC)].State != netboot.Absent
	if !known && !in.room(w) {
		return nil // it lives in the ledger alone (EDGE-19)
	}
	i := w.record(in.MAC)
	// Sight before admission: only a record that stands can be admitted, and it stands
	// also where admission fails.
	if err := w.boot(i, netboot.Event{On: netboot.Sight, Product: in.Product}); err != nil {
		return err
	}
	err := w.boot(i, in.admission(w))
	if err != nil && !known && code(err) == string(sm.Unavailable) {
		w.facts = append(w.facts, Fact{Name: AdmissionFailed, MAC: in.MAC, Why: "no free address"})
		return nil // the record stands; only the admission failed (EDGE-19)
	}
	// Nothing moved. The slice as it came in says so to settle: a segment that boots
	// again and again must cost no commit.
	if known && w.Node.NICs[i] == w.was.Node.NICs[w.was.Node.nic(in.MAC)] {
		w.Node.NICs, w.cloned = w.was.Node.NICs, false
	}
	return err
}

// room makes room for a new record, and reports whether there is any. Records
// that hold an address, or are a machine's or its candidate, are never evicted
// (BOOT-16).
func (in *Sighted) room(w *work) bool {
	// The bound is the site's count and no scan: a flood of MACs is just when a scan
	// would hurt.
	if w.Site.Discovered < orDefault(w.Site.Policy.MaxDiscovered, MaxDiscovered) {
		return true
	}
	i := w.Node.nic(in.Oldest)
	return i >= 0 && in.Oldest != in.MAC && w.boot(i, netboot.Event{On: netboot.Evict}) == nil
}

// admission is the event that judges the sighting: by policy, by whether the
// MAC is spoken for (BOOT-15), and by what is left in the pool.
func (in *Sighted) admission(w *work) netboot.Event {
	e := netboot.Event{On: netboot.Admit}
	p := &w.Site.Policy
	if !p.Strict && p.admits(in.MAC, in.Tag) {
		e.Facts |= netboot.Admitted
	}
	if in.Spoken {
		e.Facts |= netboot.Claimed
	}
	w.lend(&e)
	return e
}

// lend offers the lowest free address to an event that may reserve one.
//
// It is an offer. A record that holds an address keeps its own (BOOT-19), and only
// settle takes from the pool what a record came to hold. An exhausted pool offers
// nothing, and the axis refuses where it needs an address.
func (w *work) lend(e *netboot.Event) {
	if a, ok := w.Site.Pool.Lowest(); ok {
		e.Address = a
		e.Networking = netboot.Networking{Network: w.Site.Policy.Network, Gateway: w.Site.Policy.Gateway}
	}
}
