package lifecycle

import (
	"slices"
	"strings"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// Report is how the open attempt of the provision axis ended (PROV-2). A report
// of another attempt is a CONFLICT, the same one again succeeds without effect
// (MACH-4). It counts after the deadline too, as long as nothing expired the
// attempt (EDGE-6).
//
// Success is believed only as far as it is proved: a wipe by evidence that
// stands for this epoch (PROV-19), a machine's end by confirmed off (BMC-2), an
// inspection by the UUID and NICs of the machine that was enrolled (BOOT-11).
// Short of that the node fails, and is put into maintenance (JOINT-7).
//
// World is read for each report anew. Off in it is a reading of BMC-2 that began
// after the attempt did; a success of retiring without it is refused, and right
// when it comes again.
type Report struct {
	Epoch uint64
	OK    bool
	Why   string
	World World
	// Inspected is what the ramdisk found: required for inspecting's success
	// where the pool's machines run agents.
	Inspected *Inspection
}

// Inspection is a machine as its ramdisk reports it. It replaces the node's
// inventory, on which grants and wipe evidence rest, only where it is the
// enrolled machine's.
type Inspection struct {
	Server    registration.ServerID
	MACs      []netboot.MAC
	Inventory Inventory
}

// Name is workflow-report.
func (Report) Name() string { return "workflow-report" }

func (in Report) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	e := provision.Event{Event: sm.Event[provision.Kind]{On: provision.Fail, Epoch: in.Epoch}, Why: cutReason(in.Why), Facts: w.provFacts(&in.World)}
	if in.OK {
		e.On = provision.Succeeded
		if why := in.impostor(w); why != "" {
			e.On, e.Why = provision.Fail, why
		}
	}
	if err := w.prov(e); err != nil {
		return err
	}
	if in.OK && e.On == provision.Fail {
		w.Node.Prov.Ended = provision.Succeeded // as it was reported, so that its repeat is known
	}
	if w.Node.Prov != w.was.Node.Prov {
		if err := w.reported(&in); err != nil {
			return err
		}
	}
	if err := w.failed(); err != nil {
		return err
	}
	return w.retiredJoint()
}

// reported records what a decided report brought. A success rests on what the
// world says, so a world that cannot say makes none.
func (w *work) reported(in *Report) error {
	if in.OK {
		if err := w.answers(&in.World); err != nil {
			return err
		}
		if w.was.Node.Prov.State == provision.Enrolling && w.Node.awaitsMAC() {
			return refuse(w.name, "BOOT-11", sm.Conflict, "the machine still waits for its MAC", "confirm the MAC, and report again")
		}
	}
	if w.Node.Prov.State == provision.Commissioning && in.Inspected != nil {
		w.Node.Inventory = in.Inspected.Inventory
		if err := w.names(w.Node.Inventory.Serials...); err != nil {
			return err
		}
	}
	if w.Node.Prov.State == w.was.Node.Prov.State && w.Node.Prov.Ended != w.was.Node.Prov.Ended {
		w.factWhy(NodeReported, string(w.Node.Prov.Ended))
	}
	return nil
}

// impostor says why what inspecting found cannot be the machine that was
// enrolled, or could not be wiped later: no write may follow then (BOOT-11).
func (in *Report) impostor(w *work) string {
	n := &w.Node
	if n.Prov.State != provision.Inspecting || in.Epoch != n.Prov.Epoch {
		return ""
	}
	switch got := in.Inspected; {
	case got == nil && !in.World.Agentless:
		return unreported
	case got == nil:
		return ""
	case !in.World.Agentless:
		return got.impostor(n)
	default:
		return got.Inventory.unfit() // out of band, which sees neither UUID nor NICs
	}
}

// unreported is why an inspection without inventory fails.
const unreported = "the ramdisk reported no inventory"

// impostor says why a machine that a ramdisk reports is not n.
func (got *Inspection) impostor(n *Node) string {
	switch why := got.Inventory.unfit(); {
	case got.Inventory.Digest == provision.Hash{}:
		return unreported
	case why != "":
		return why
	case n.Claims.Server != registration.ServerID{} && n.Claims.Server.Key() != got.Server.Key():
		return "the ramdisk runs on a machine with another UUID"
	}
	// More NICs than are known is no mismatch: a card may have been added. One that is
	// missing is another machine, or no longer this one.
	for _, m := range n.MACs() {
		if !slices.Contains(got.MACs, m) {
			return "the ramdisk runs on a machine without NIC " + m.String()
		}
	}
	return ""
}

// unfit says why the disks of i cannot be told apart. A grant and wipe evidence
// name disks by these serials, so each must be one disk's (DISK-3, PROV-19).
func (i *Inventory) unfit() string {
	serials := slices.Sorted(slices.Values(i.Serials))
	switch {
	case len(serials) > MaxSerials:
		return "the inventory has too many disks"
	case slices.Contains(serials, ""):
		return "a disk has no serial"
	case len(slices.Compact(serials)) < len(i.Serials):
		return "two disks have one serial"
	}
	return ""
}

// Inspected is the ramdisk of a retirement that began with no inventory, as of
// a host that was adopted: without one no disk can be granted, and no evidence
// can count (EDGE-10). It is judged as inspecting's is, and a mismatch fails
// the retirement. In any other state, for another attempt, and before confirmed
// off it is a CONFLICT; what is known already changes nothing.
type Inspected struct {
	Epoch uint64
	Inspection
}

// Name is inspected.
func (Inspected) Name() string { return "inspected" }

func (in Inspected) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	n := &w.Node
	if n.Prov.State != provision.Retiring && n.Prov.FailedFrom != provision.Retiring || in.Epoch != n.Prov.Epoch {
		return refuse(w.name, "MACH-4", sm.Conflict, "no such attempt of a retirement is open", void)
	}
	if n.Prov.AwaitOff {
		return refuse(w.name, "EDGE-5", sm.Conflict, "nothing may boot before the machine is confirmed off", "confirm that it is off")
	}
	if err := w.names(in.Inventory.Serials...); err != nil {
		return err
	}
	if why := in.impostor(n); why != "" {
		if err := w.prov(provision.Event{Event: sm.Event[provision.Kind]{On: provision.Fail, Epoch: in.Epoch}, Why: why}); err != nil {
			return err
		}
		return w.failed()
	}
	return in.record(w)
}

// record takes the inventory, once: a grant that stands names its disks.
func (in *Inspected) record(w *work) error {
	n := &w.Node
	switch {
	case n.Inventory.Digest == in.Inventory.Digest && n.Prov.State == provision.Retiring:
		return nil
	case n.Prov.State != provision.Retiring || n.Inventory.Digest != provision.Hash{}:
		return refuse(w.name, "MACH-4", sm.Conflict, "the retirement has failed, or another inventory is known", "")
	}
	n.Inventory = in.Inventory
	w.fact(NodeInspected)
	return nil
}

// cutReason bounds a reason that another program wrote to twice MaxReason in
// bytes, and drops what is not UTF-8.
func cutReason(why string) string { return strings.ToValidUTF8(why[:min(len(why), 2*MaxReason)], "") }

// DiskWipe is one disk's result (DISK-5).
type DiskWipe struct{ Serial, Result string }

// WipeEvidence is what an agent says it wiped (PROV-19). It ends nothing: the
// report of success that follows rests on it. Evidence that leaves out a disk,
// or reports one as anything but done, is INVALID_INPUT.
//
// The caller checks signature and quote, and sets Signed; who sets it unchecked
// makes every wipe proved. Digest is of the evidence as signed, for the audit.
type WipeEvidence struct {
	Epoch      uint64
	Generation uint64 // of the identity that signed it
	Signed     bool   // the signature holds, and the TPM's quote where there must be one
	Digest     provision.Hash
	Disks      []DiskWipe
}

// Name is wipe-evidence.
func (WipeEvidence) Name() string { return "wipe-evidence" }

func (in WipeEvidence) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	was := w.Node.Prov.Proof
	e := provision.Event{Event: sm.Event[provision.Kind]{On: provision.Wiped, Epoch: in.Epoch}, Proof: in.Digest}
	if err := w.prov(e); err != nil {
		return err
	}
	if why := in.lacks(&w.Node); why != "" {
		return invalid(w.name, "PROV-19", "the evidence does not count: %s", why)
	}
	if was != in.Digest {
		w.fact(NodeWiped)
	}
	return nil
}

// lacks says why the evidence does not count.
func (in *WipeEvidence) lacks(n *Node) string {
	switch {
	case !in.Signed || in.Generation != n.Identity.Generation:
		return "it is not signed by the node's current identity"
	case in.Digest == provision.Hash{}:
		return "it has no digest"
	case n.Prov.AwaitOff:
		return "nothing may be wiped before the machine is confirmed off"
	case n.Inventory.Digest == provision.Hash{}:
		return "the node has no inventory" // one without disks is proved by none
	case len(in.Disks) > MaxSerials:
		return "it names too many disks"
	}
	for _, serial := range n.Inventory.Serials {
		other := func(d DiskWipe) bool { return d.Serial == serial && d.Result != "done" }
		if !slices.Contains(in.Disks, DiskWipe{serial, "done"}) || slices.ContainsFunc(in.Disks, other) {
			return "disk " + serial + " is not reported done"
		}
	}
	return ""
}
