package lifecycle

import (
	"iter"
	"net/netip"
	"slices"

	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// settle completes a step with all that follows from its moves: the attempt's
// grant and boot entries, addresses, counts, facts and version. It is the one
// place for each, so that no input can forget it.
//
// It works on the difference between the state before and the state made, and
// may still refuse: then the whole step never was.
func (w *work) settle() error {
	// Entries and marks go before addresses and facts are worked out, as they may
	// change records; the version is last, since facts are what it counts.
	w.preempt()
	w.endEntries()
	w.dismiss()
	if err := w.settleGrant(); err != nil {
		return err
	}
	if err := w.settlePool(); err != nil {
		return err
	}
	w.count()
	w.tell()
	// A record that came to absent has no row; until here its address was still to see.
	if w.cloned {
		gone := func(b netboot.Record) bool { return b.State == netboot.Absent }
		w.Node.NICs = slices.DeleteFunc(w.Node.NICs, gone)
	}
	if len(w.facts) > 0 && w.Node.ID != "" {
		w.Node.Version++
	}
	return nil
}

// dismiss takes back the marks of candidates of a node that waits for no MAC
// any more: it has one, or it is retired or a tombstone (BOOT-11, BOOT-17).
func (w *work) dismiss() {
	n := &w.Node
	for i := range n.NICs {
		if c := n.NICs[i].Candidate; c != "" && c == string(n.ID) && (!n.Live() || n.retired() || len(n.MACs()) > 0) {
			// Dismiss is legal in every state.
			_ = w.boot(i, netboot.Event{On: netboot.Dismiss, Candidate: c})
		}
	}
}

// endEntries takes the boot entries of attempts that ended, or that came to a
// step that boots nothing (BOOT-14).
func (w *work) endEntries() {
	epoch := boots(&w.Node)
	for i := range w.Node.NICs {
		if b := &w.Node.NICs[i]; b.Entry.Epoch != 0 && b.Entry.Epoch != epoch && w.Node.owns(b) {
			// EndEntry is legal in every state.
			_ = w.boot(i, netboot.Event{On: netboot.EndEntry, Entry: b.Entry, By: w.Node.owner()})
		}
	}
}

// settlePool takes the addresses that records came to hold and frees those
// they lost. An address changes hands nowhere else. What is lost is freed
// first, so that one step may hand an address on; what policy no longer lends
// is not freed at all.
func (w *work) settlePool() error {
	if !w.cloned {
		return nil
	}
	for a := range gives(&w.was.Node, &w.Node) {
		if !w.Site.lends(a) {
			continue
		}
		p, err := w.Site.Pool.Put(a)
		if err != nil {
			return err
		}
		w.Site.Pool = p
	}
	// A Take that fails means that the value offered an address twice, and refuses the
	// step: no two machines ever get one.
	for a := range gives(&w.Node, &w.was.Node) {
		p, err := w.Site.Pool.Take(a)
		if err != nil {
			return err
		}
		w.Site.Pool = p
	}
	return nil
}

// gives yields the addresses that boot records of has hold, and that the same
// MACs' records of other do not.
func gives(has, other *Node) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		for i := range has.NICs {
			b := &has.NICs[i]
			j := other.nic(b.MAC)
			if kept := j >= 0 && other.NICs[j].Address == b.Address; b.Address.IsValid() && !kept && !yield(b.Address) {
				return
			}
		}
	}
}

// count keeps the site's counts of strangers, which bound what anonymous
// callers can make it store (REG-10, BOOT-16).
func (w *work) count() {
	w.Site.Unapproved += unapproved(&w.Node) - unapproved(&w.was.Node)
	if w.cloned {
		w.Site.Discovered += discovered(&w.Node) - discovered(&w.was.Node)
	}
}

// unapproved is 1 for a row that was never approved, else 0. A row that was
// disabled before anybody approved it counts on: a stranger made it, and only an
// approval or a delete frees its place (REG-10).
func unapproved(n *Node) int {
	if n.Reg.State == registration.Absent || n.Reg.OnceApproved {
		return 0
	}
	return 1
}

// discovered counts the records in discovered that are in n's reach.
func discovered(n *Node) int {
	count := 0
	for i := range n.NICs {
		if n.NICs[i].State == netboot.Discovered {
			count++
		}
	}
	return count
}

// tell adds the facts that the difference itself shows: one for each axis that
// moved or began another attempt (EVENT-2), one for each key, and the edge that
// wakes placement. What no difference shows, an input adds by itself.
func (w *work) tell() {
	was, is := &w.was.Node, &w.Node
	if was.Reg.State != is.Reg.State {
		w.factWhy("registration."+string(is.Reg.State), is.Reg.LastError)
	}
	w.tellBoot()
	// By state or epoch: an attempt that begins again in its state is news as well, as
	// of an acceptance run in adopting.
	if was.Prov.State != is.Prov.State || was.Prov.Epoch != is.Prov.Epoch {
		w.tellProv(&is.Prov)
	}
	if was.Run.State != is.Run.State || was.Run.Epoch != is.Run.Epoch {
		w.factWhy("run."+string(is.Run.State), is.Run.Reason)
	}
	if was.Run.Retire.State != is.Run.Retire.State || was.Run.Retire.Epoch != is.Run.Retire.Epoch {
		w.fact(RetirementStepped + string(is.Run.Retire.State))
	}
	if is.Conn.Link.rank() != was.Conn.Link.rank() {
		w.fact("node.connectivity." + is.Conn.Link.String())
	}
	w.tellKeys()
	// The edge alone: whoever could use the node before is not woken again (TAINT-2).
	if to := audience(is); to != nobody && to != audience(was) && is.Live() {
		w.factWhy(NodeWake, to)
	}
	for i := range w.facts {
		if f := &w.facts[i]; f.Why == "" {
			f.Why = w.reason // the caller's, where there is no closer one (API-1)
		}
	}
}

// tellProv tells of the provision axis; an axis that ended says nothing of its
// own, since the delete or reset does.
func (w *work) tellProv(p *provision.Record) {
	switch p.State {
	case provision.Adopting:
		w.fact(NodeAdopting)
	case provision.Absent:
	case provision.Rescue:
		if p.Activity != provision.Return { // whose beginning has a name of its own
			w.fact("node.provision.rescue")
		}
	default:
		w.factWhy("node.provision."+string(p.State), p.LastError.Code)
	}
}

// tellBoot tells of each boot record that changed, by its MAC.
func (w *work) tellBoot() {
	if !w.cloned {
		return
	}
	for i := range w.Node.NICs {
		b, j := &w.Node.NICs[i], w.was.Node.nic(w.Node.NICs[i].MAC)
		if j < 0 && b.State == netboot.Absent {
			continue
		}
		if j < 0 || w.was.Node.NICs[j] != *b {
			w.facts = append(w.facts, Fact{Name: "boot." + string(b.State), MAC: b.MAC})
		}
	}
}

// tellKeys says which keys were made and which revoked, by ID (REG-11).
func (w *work) tellKeys() {
	was, is := keysOf(&w.was.Node.Reg), keysOf(&w.Node.Reg)
	// Most steps touch no key.
	if was == is {
		return
	}
	for _, k := range was {
		if k.ID != "" && !slices.Contains(is[:], k) {
			w.facts = append(w.facts, Fact{Name: KeyRevoked, Key: k.ID})
		}
	}
	for _, k := range is {
		if k.ID != "" && !slices.Contains(was[:], k) {
			w.facts = append(w.facts, Fact{Name: KeyMade, Key: k.ID})
		}
	}
}

// keysOf are the keys of a row that can open anything.
func keysOf(r *registration.Record) [4]registration.Key {
	return [4]registration.Key{r.Bound, r.Tickets[0], r.Tickets[1], r.Tickets[2]}
}
