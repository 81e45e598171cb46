package lifecycle

import (
	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// Writing is the kind of write that a grant permits.
type Writing string

// The writings (MACH-7). Each is one step of one axis; nothing else writes.
const (
	WriteSetup      Writing = "setup"
	WriteCommission Writing = "commission"
	WriteDeploy     Writing = "deploy"
	WriteRelease    Writing = "release"
	WriteRetire     Writing = "retire"
	WriteInstall    Writing = "install" // a run's
	WriteWipe       Writing = "wipe"    // a run's, or a retirement's
)

// Grant permits the writes of one attempt on one node (MACH-7). The zero
// Grant permits none. An agent writes to no disk without one that names its
// node, the attempt's epoch and the disk.
type Grant struct {
	Writing   Writing
	Epoch     uint64
	Plan      [32]byte // digest of what is written; zero where the writing itself says it
	Inventory [32]byte // digest of the inventory that stood when it was made
	Serials   []string // disks that may be written
	Approver  string
}

// settleGrant gives the attempt that holds the machine its grant when it
// enters a writing step, and takes the grant of one that ended. Nothing else
// makes grants. It compares kind and epoch, so that a grant is made once for
// an attempt and never changes. A write that nobody asked for is refused, and
// with it the step that would have begun it.
func (w *work) settleGrant() error {
	kind, epoch := writes(&w.Node)
	switch {
	case kind == w.Node.Grant.Writing && epoch == w.Node.Grant.Epoch:
		return nil
	case kind == "":
		w.Node.Grant = Grant{}
		return nil
	}
	g := w.grant(kind, epoch)
	if g.Approver == "" {
		return refuse(w.name, "MACH-7", sm.Denied, "nobody approved the writes that this begins", "")
	}
	w.Node.Grant = g
	w.factWhy(GrantMade, string(kind)+" for "+g.Approver)
	return nil
}

// writes is the writing that the attempt of n may do now, and its epoch.
func writes(n *Node) (Writing, uint64) {
	switch slot := SlotOf(n); slot.Holder {
	case Setup:
		return WriteSetup, slot.Epoch
	case Workflow:
		return workflowWrites(n), slot.Epoch
	case OwnerRun:
		return runWrites(n.Run.Action), slot.Epoch
	case Retirement:
		if n.Run.Retire.State == run.Wiping {
			return WriteWipe, slot.Epoch
		}
	}
	return "", 0
}

// disks refuses the writes of every other axis where the provision axis
// answers for the disks: what it wiped, installed or lends cannot be undone by
// a setup or a run that it knows nothing of.
func (w *work) disks() error {
	p := &w.Node.Prov
	answers := p.State == provision.Ready || p.State == provision.Deployed || p.State == provision.Rescue ||
		p.State == provision.Failed && (p.FailedFrom == provision.Rescue || p.Wipe == provision.WipeNone)
	if answers {
		return refuse(w.name, "PROV-2", sm.Conflict, "the provision axis answers for the disks of a machine in "+string(p.State), "release or retire it by its own axis")
	}
	return nil
}

// workflowWrites is what a provision state writes. Commissioning and retiring
// write nothing in a pool without agents, where they have no wipe mode (EDGE-10).
// Retiring waits for confirmed off where it took the machine over (EDGE-5), and
// for an inventory, which says what its grant may name.
func workflowWrites(n *Node) Writing {
	switch p := &n.Prov; {
	case p.State == provision.Deploying:
		return WriteDeploy
	case p.Wipe == "" || p.Wipe == provision.WipeNone:
		return ""
	case p.State == provision.Commissioning:
		return WriteCommission
	case p.State == provision.Releasing:
		return WriteRelease
	case p.State == provision.Retiring && !p.AwaitOff && n.Inventory.Digest != provision.Hash{}:
		return WriteRetire
	}
	return ""
}

// runWrites is what a run writes: attest writes nothing (RUN-10).
func runWrites(a run.Action) Writing {
	switch a {
	case run.Provision:
		return WriteInstall
	case run.Wipe:
		return WriteWipe
	}
	return ""
}

// grant is the grant of kind for the attempt that holds the machine, with the
// inventory that stands now. An owner's run may write the one disk that the
// inventory names (RUN-4), and its approver is that inventory.
func (w *work) grant(kind Writing, epoch uint64) Grant {
	n := &w.Node
	g := Grant{Writing: kind, Epoch: epoch, Inventory: n.Inventory.Digest, Serials: n.Inventory.Serials}
	switch kind {
	case WriteSetup:
		g.setup(&n.Reg)
	case WriteInstall, WriteWipe:
		g.Approver = "inventory:" + n.Claims.Device
		g.Serials = n.Run.Disk()
	default:
		g.Approver = n.Prov.Approver
	}
	return g
}

// setup takes plan, disks and approver from what the operator approved.
func (g *Grant) setup(r *registration.Record) {
	g.Plan, g.Inventory, g.Serials, g.Approver = r.Plan.Digest, r.Plan.Inventory, r.Plan.Serials, r.Plan.Approver
}
