package lifecycle

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// MaxArgs bounds a boot entry's kernel arguments: the kernel's own
// COMMAND_LINE_SIZE on x86 is 2048.
const MaxArgs = 2048

// SetEntry is the slot's holder that boots a MAC of its machine (BOOT-14). An
// unbound or absent record is bound to the machine. The entry is served instead
// of the state's own answer, and goes with the attempt (see settle). A caller
// that does not hold the machine is told who does.
//
// It needs no operator: the right to boot the machine came with the attempt. The
// image is named here and served only where a booter has it staged (BOOT-6).
type SetEntry struct {
	Epoch uint64 // of the holder's attempt
	MAC   netboot.MAC
	Image string
	Args  string
}

// Name is set-entry.
func (SetEntry) Name() string { return "set-entry" }

func (in SetEntry) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	// Zero is no attempt's epoch, though a slot that waits by reminder may show it.
	if w.slot.Holder == Free || w.slot.Epoch != in.Epoch || in.Epoch == 0 {
		return &Refused{Input: w.name, Req: "MACH-3", code: sm.Conflict, Holder: w.slot, Why: "the caller does not hold the machine", Next: void}
	}
	if boots(&w.Node) == 0 {
		return &Refused{Input: w.name, Req: "BOOT-14", code: sm.Conflict, Holder: w.slot, Why: "the attempt is at a step that boots nothing"}
	}
	i := w.record(in.MAC)
	// Whoever sends the machine's UUID could be any MAC of the segment, and would be
	// served what is meant for the machine.
	if w.Node.awaitsMAC() && !w.Node.owns(&w.Node.NICs[i]) {
		return refuse(w.name, "BOOT-15", sm.Conflict, "the machine still waits for its MAC, and this one may be a stranger's", "confirm the MAC first")
	}
	if b := &w.Node.NICs[i]; b.State == netboot.Enrolling && b.Owner == (netboot.Owner{}) && !w.Node.covers(b.MAC) {
		return refuse(w.name, "EDGE-20", sm.Conflict, "the record enrolls on its own, and may be another machine's", "decommission it first")
	}
	e := netboot.Event{On: netboot.SetEntry, By: w.Node.owner(), Entry: netboot.Entry{Epoch: in.Epoch, Image: in.Image, Args: in.Args}}
	w.lend(&e)
	if err := w.boot(i, e); err != nil {
		return err
	}
	return in.check(w)
}

// covers reports whether mac is one that the setup in progress was approved for
// (SET-18).
func (n *Node) covers(mac netboot.MAC) bool {
	return n.Reg.State == registration.SettingUp && slices.Contains(n.Reg.Plan.MACs, registration.MAC(mac))
}

// check holds what is booted to its limits. It comes after the record's own
// refusals (EDGE-15).
func (in *SetEntry) check(w *work) error {
	if len(in.Args) > MaxArgs || strings.ContainsFunc(in.Args, control) || !utf8.ValidString(in.Args) {
		return invalid(w.name, "BOOT-14", "the arguments are over %d bytes, have control characters, or are not UTF-8", MaxArgs)
	}
	return netboot.CheckImage(in.Image)
}

// Proposal is what makes a MAC the candidate of a machine (BOOT-11): what the
// BMC did and what ledgers of sightings know. Each is evidence against a
// stranger on the segment that shows the machine's UUID as its own.
//
// The zero Proposal proves nothing. The caller works the fields out over the
// sightings of all booters, and takes a UUID in both byte orders as one (MACH-1).
type Proposal struct {
	MAC         netboot.MAC
	Cycled      bool // the machine's BMC just power-cycled it into PXE
	Late        bool // the first sighting came over 10 minutes after
	SecondMAC   bool // the product UUID came from a second MAC within 24 h
	SecondOwner bool // it belongs to a second machine of the site
	Trusted     bool // the pool trusts its provisioning network
}

// Propose makes a MAC the candidate of a machine that was enrolled by UUID
// alone, or binds it where the pool trusts its network (BOOT-11). What does not
// prove itself is a CONFLICT; a person may still confirm the MAC.
type Propose struct{ Proposal }

// Name is propose.
func (Propose) Name() string { return "propose" }

func (in Propose) apply(w *work) error {
	if err := w.needsMAC(); err != nil {
		return err
	}
	if !in.Cycled || in.Late || in.SecondMAC || in.SecondOwner {
		return refuse(w.name, "BOOT-11", sm.Conflict, "the sighting does not prove that the MAC is the machine's", "confirm the MAC by hand")
	}
	i := w.record(in.MAC)
	e := netboot.Event{On: netboot.Propose, Candidate: string(w.Node.ID), By: w.Node.owner()}
	if err := w.boot(i, e); err != nil {
		return err
	}
	// The UUID is the record's, of its first sighting: no later packet can change it.
	if p := registration.ServerID(w.Node.NICs[i].Product); p.Placeholder() || p.Key() != w.Node.Claims.Server.Key() {
		return refuse(w.name, "BOOT-11", sm.Conflict, "the MAC was not seen with the machine's product UUID", "confirm the MAC by hand")
	}
	w.facts = append(w.facts, Fact{Name: MACDiscovered, MAC: in.MAC})
	// Even so the ramdisk must report the same UUID and NICs before any write
	// (BOOT-11).
	if in.Trusted {
		e.On = netboot.Bind
		if err := w.boot(i, e); err != nil {
			return err
		}
		w.bound()
	}
	return nil
}

// bound ends an enrolling's wait for its first MAC: from now on it has as long
// as any other (MACH-5).
func (w *work) bound() {
	if p := &w.Node.Prov; p.State == provision.Enrolling {
		p.Deadline = w.now.Add(cmp.Or(w.Site.Policy.Deadlines.Enrolling, provision.EnrollingDeadline))
	}
}

// needsMAC refuses what only a machine without MACs may do (BOOT-17).
func (w *work) needsMAC() error {
	if err := w.live(); err != nil {
		return err
	}
	switch {
	case w.Node.Claims.BMC == "":
		return refuse(w.name, "PROV-14", sm.NotFound, "the node has no BMC binding", "enroll the machine by its BMC first")
	case w.Node.retired():
		return refuse(w.name, "BOOT-17", sm.InvalidState, "the node is retired", "delete the node first")
	case len(w.Node.MACs()) > 0:
		return refuse(w.name, "BOOT-17", sm.InvalidState, "the node has a MAC already", "nothing is left to confirm")
	}
	return nil
}

// ConfirmMAC is JOINT-10: a person says that a MAC is the machine's, the
// candidate or another (BOOT-17). The waiting boot goes on from it.
//
// Nothing here proves the MAC. The person answers for it, and the ramdisk must
// still report the machine's UUID and NICs before any write (BOOT-11).
type ConfirmMAC struct {
	Call
	MAC netboot.MAC
}

// Name is confirm-mac.
func (ConfirmMAC) Name() string { return "confirm-mac" }

func (in ConfirmMAC) apply(w *work) error {
	if err := w.needsMAC(); err != nil {
		return err
	}
	i := w.record(in.MAC)
	// Ahead of the binding, which takes the mark away.
	why := "another MAC than the candidate"
	if w.Node.NICs[i].Candidate == string(w.Node.ID) {
		why = "the candidate"
	}
	if err := w.boot(i, netboot.Event{On: netboot.Bind, By: w.Node.owner()}); err != nil {
		return err
	}
	w.bound()
	w.facts = append(w.facts, Fact{Name: MACConfirmed, MAC: in.MAC, Why: why})
	return w.call(in.Call)
}
