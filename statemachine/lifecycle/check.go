package lifecycle

import (
	"strings"
	"unicode/utf8"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// Limits of what inputs bring.
const (
	MaxMACs       = 256 // NICs of one machine: the largest servers have tens
	MaxSerials    = 1024
	MaxName       = 128 // bytes of a serial, claim, actor or profile name
	MaxReason     = 256 // bytes of a reason (API-3's calls, API-1)
	MinNodeIDBody = 26  // API-5
	MaxNodeIDBody = 52  // API-5
)

// nodePrefix begins every node ID (API-5).
const nodePrefix = "node_"

// crockford is lower-case Crockford base32.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// Valid reports whether id is well formed (API-5).
func (id NodeID) Valid() bool {
	body, ok := strings.CutPrefix(string(id), nodePrefix)
	return ok && len(body) >= MinNodeIDBody && len(body) <= MaxNodeIDBody && strings.Trim(body, crockford) == ""
}

// Call is what every operator's input brings.
//
// Permission is decided before the step, by API-4's actions: a name here is no
// right. Version is that of the node and not of the site; site-wide calls leave it
// zero.
type Call struct {
	By       string // the identity, for the audit chain
	Operator bool   // an operator session, not opened with a key (SET-2, ID-8)
	Version  uint64 // of the node, as the caller saw it; zero is any (API-1)
	Reason   string // optional; the facts carry it
}

// call checks what is common to operators' inputs: the caller's name, the
// reason, and the version last (EDGE-15).
func (w *work) call(c Call) error {
	if c.By == "" {
		return invalid(w.name, "API-1", "the caller has no name")
	}
	if err := w.names(c.By); err != nil {
		return err
	}
	switch {
	case len(c.Reason) > MaxReason || strings.ContainsFunc(c.Reason, control) || !utf8.ValidString(c.Reason):
		return invalid(w.name, "API-1", "the reason is over %d bytes, has control characters, or is not UTF-8", MaxReason)
	case c.Version != 0 && c.Version != w.was.Node.Version:
		return refuse(w.name, "API-1", sm.Conflict, "the node has changed since the caller saw it", "read it again and decide anew")
	}
	w.reason = c.Reason
	return nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// live refuses what needs a node where there is none.
func (w *work) live() error {
	switch {
	case w.Node.Live():
		return nil
	case w.Node.ID != "":
		return refuse(w.name, "API-1", sm.NotFound, "there is no such node: it was deleted", "its machine joins as a new node")
	}
	return refuse(w.name, "API-1", sm.NotFound, "there is no such node", "let its machine join or register, or enroll it, first")
}

// inventory checks the limits of a reported inventory.
func (w *work) inventory(inv *registration.Inventory) error {
	if len(inv.MACs) > MaxMACs || len(inv.Seen) > MaxMACs || len(inv.Serials) > MaxSerials {
		return invalid(w.name, "REG-9", "an inventory names at most %d MACs and %d disks", MaxMACs, MaxSerials)
	}
	return w.names(inv.Serials...)
}

// names checks the length of names.
func (w *work) names(names ...string) error {
	for _, n := range names {
		if len(n) > MaxName || strings.ContainsFunc(n, control) || !utf8.ValidString(n) {
			return invalid(w.name, "REG-9", "a name is over %d bytes, has control characters, or is not UTF-8", MaxName)
		}
	}
	return nil
}

// assign makes the machine a node with id if it is none yet (MACH-1), keeping
// a registration row that was left without one (PROV-20, EDGE-24).
func (w *work) assign(id NodeID) error {
	switch {
	case w.Node.Live():
		return nil
	case w.Node.ID != "":
		return refuse(w.name, "MACH-1", sm.NotFound, "the node is a tombstone", "its machine joins as a new node")
	case !id.Valid():
		return invalid(w.name, "API-5", "a new node needs an ID: node_ and 26 to 52 characters of lower-case Crockford base32")
	}
	n := Fresh()
	n.ID, n.Reg, n.NICs = id, w.Node.Reg, w.Node.NICs
	w.Node = n
	return nil
}

// rowless refuses a registration row without a node: it may be a disabled one
// that REG-3 or REG-12 alone give a node again (PROV-20). Who names no UUID has
// proved none, and the caller loads the state without the row.
func (w *work) rowless() error {
	if w.Node.ID == "" && w.Node.Reg.State != registration.Absent {
		return refuse(w.name, "PROV-20", sm.InvalidInput, "a registration row without a node is not this input's to take", "load the state without the row; register or factory-reset give it a node")
	}
	return nil
}

// known refuses a UUID that is not the one by which the machine is known, in
// either byte order: it would give one machine's row to another (MACH-1).
func (w *work) known(id registration.ServerID) error {
	for _, has := range [...]registration.ServerID{w.Node.Reg.Server, w.Node.Claims.Server} {
		if has != (registration.ServerID{}) && has.Key() != id.Key() {
			return refuse(w.name, "MACH-1", sm.Conflict, "the machine is known by another UUID", "one machine's claims never move to another")
		}
	}
	return nil
}

// same refuses a path that names claims of another live node (MACH-1). found
// are the nodes that the claims' indexes name.
func (w *work) same(found []NodeID) error {
	for _, id := range found {
		if id != w.Node.ID {
			return refuse(w.name, "MACH-1", sm.Conflict, "the claims are those of "+string(id)+" and of another machine", "find out which machine it is, and delete the other node")
		}
	}
	return nil
}

// record is the position of mac's boot record, made absent where none is.
//
// Inputs name only MACs whose records, if there are any, the state holds. To the
// step a record that was not loaded is one that does not exist.
func (w *work) record(mac netboot.MAC) int {
	if i := w.Node.nic(mac); i >= 0 {
		return i
	}
	w.Node.NICs, w.cloned = append(w.nics(), netboot.New(mac)), true
	return len(w.Node.NICs) - 1
}
