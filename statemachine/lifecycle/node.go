package lifecycle

import (
	"slices"
	"time"

	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// Schema is the newest form of a row that this version writes. A row with a
// newer one is shown and never written (MACH-8).
const Schema = 1

// State is what one step may read and write. Neither part is changed in
// place, slices included. Begin one with a Node of [Fresh], or by [Load]: Step
// refuses the zero Node.
type State struct {
	Node Node
	Site Site
}

// NodeID is our name of a machine: "node_" and 26 to 52 characters of
// lower-case Crockford base32 (API-5). Empty is no node: then State holds a
// boot record that is nobody's, or a registration row whose node is gone.
type NodeID string

// Node is one machine: its axes, claims and keys, and one attempt slot
// (MACH-3), which is [SlotOf].
type Node struct {
	ID      NodeID
	Schema  uint32
	Version uint64    // from 1; each commit that changes the node raises it (API-1)
	Deleted time.Time // set: a tombstone, which holds no claims (MACH-1)
	Claims  Claims
	Metal   Metal  `json:",omitzero"`
	Request string // ID of the enroll that made it (PROV-17)

	Reg   registration.Record `json:",omitzero"` // in a row of its own
	NICs  []netboot.Record    `json:",omitzero"` // its boot records, and others that an input names
	Prov  provision.Record
	Sched schedule.Record
	Run   run.Record
	Conn  Connectivity

	Identity   Identity
	Inventory  Inventory // as its agent last reported it on the provision or run axis
	Grant      Grant     `json:",omitzero"`
	Commands   []Command
	Conditions []string // NoSchedule reasons of controllers, sorted
}

// Claims are the names by which a machine is known, besides the UUID of its
// registration row and the MACs of its boot records. Each has a unique index
// (MACH-1). Empty is no claim.
type Claims struct {
	Server      registration.ServerID
	EK          string // digest of the TPM's endorsement key
	HardwareKey string
	BMC         string // canonical address
	Device      string // of the inventory
}

// Inventory is what of a reported inventory decisions need.
type Inventory struct {
	Digest  provision.Hash
	Serials []string // of its disks, as WWN or serial
}

// Identity is the machine's proven identity (ID-2).
type Identity struct {
	Generation uint64   // raised by each revocation; an older one never renews
	Live       []string // serials of live certificates, oldest first
	// Quarantined says that two machines used one of them, and none has joined
	// with fresh evidence since (LIVE-5).
	Quarantined bool
}

// Command is a power command (PROV-7). It is kept until it expires, also when
// it is done, so that its request ID answers it and makes no second one.
type Command struct {
	ID      string
	Verb    string
	Expires time.Time
	Begun   bool   `json:",omitzero"` // an agent carries it out, or did when it stopped
	Done    bool   `json:",omitzero"` // carried out, failed or cancelled
	Result  string `json:",omitzero"` // how it ended, in words
}

// MaxCertificates bounds Identity.Live: one in use, one renewed, and slack for
// renewals whose answers were lost.
const MaxCertificates = 8

// Fresh is a node that nobody has seen.
func Fresh() Node {
	return Node{Schema: Schema, Reg: registration.New(), Prov: provision.New(), Sched: schedule.New(), Run: run.New()}
}

// Live reports whether n is a node and no tombstone.
func (n *Node) Live() bool { return n.ID != "" && n.Deleted.IsZero() }

// unknown is a state of n's own axes that this version does not know (EDGE-18),
// and whether there is one. No state at all is one: such a value was begun neither
// by Fresh nor by Load. Boot records answer for themselves.
func (n *Node) unknown() (raw string, unknown bool) {
	switch {
	case !registration.Table.Knows(n.Reg.State):
		return string(n.Reg.State), true
	case !provision.Table.Knows(n.Prov.State):
		return string(n.Prov.State), true
	case !run.Table.Knows(n.Run.State):
		return string(n.Run.State), true
	case n.Run.Retire.State != "" && !run.Retirement.Knows(n.Run.Retire.State):
		return string(n.Run.Retire.State), true
	case !schedule.Table.Knows(n.Sched.State):
		return string(n.Sched.State), true
	case !schedule.ServiceTable.Knows(n.Sched.Service):
		return string(n.Sched.Service), true
	case n.Conn.Link.rank() < 0:
		return string(n.Conn.Link), true
	}
	return "", false
}

// owner is n as the owner of boot records.
func (n *Node) owner() netboot.Owner {
	return netboot.Owner{Node: string(n.ID), Server: netboot.ServerID(n.Reg.Server)}
}

// owns reports whether boot record b belongs to n.
func (n *Node) owns(b *netboot.Record) bool { return n.ID != "" && b.Owner.Node == string(n.ID) }

// MACs are the MACs of n's own boot records, in their order.
func (n *Node) MACs() []netboot.MAC {
	var macs []netboot.MAC
	for i := range n.NICs {
		if n.owns(&n.NICs[i]) && n.NICs[i].State != netboot.Decommissioned {
			macs = append(macs, n.NICs[i].MAC)
		}
	}
	return macs
}

// awaitsMAC reports whether n is known by its BMC and product UUID alone, and no
// driver will tell its NICs: nobody knows yet which MAC is its own (BOOT-11).
func (n *Node) awaitsMAC() bool {
	return n.Claims.BMC != "" && !n.Metal.ReportsMACs && len(n.MACs()) == 0
}

// nic is the position of mac's boot record in n, or -1.
func (n *Node) nic(mac netboot.MAC) int {
	return slices.IndexFunc(n.NICs, func(b netboot.Record) bool { return b.MAC == mac })
}
