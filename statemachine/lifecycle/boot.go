package lifecycle

import (
	"cmp"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
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

// code is err's wire name, if it has one.
func code(err error) string {
	if c, ok := err.(interface{ Code() string }); ok {
		return c.Code()
	}
	return ""
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

// BootVerb is an operator's verb on one boot record (BOOT-12): enroll,
// decommission, reactivate, purge or set-mode. It reaches what belongs to no
// machine: a bound record leaves with its machine (BOOT-4), so that
// decommissioning it by hand is a CONFLICT. Purge frees the address.
//
// Mode rescue is the exception: it may be set on any record, also a machine's, and
// stays until it is set back (BOOT-5).
type BootVerb struct {
	Call
	On     netboot.Kind
	MAC    netboot.MAC
	Mode   netboot.Mode // set-mode
	Spoken bool         // enroll: the MAC is a candidate's or metal node's by its product UUID
}

// Name is boot- and the verb.
func (in BootVerb) Name() string { return "boot-" + string(in.On) }

func (in BootVerb) apply(w *work) error {
	if err := in.check(w); err != nil {
		return err
	}
	e := netboot.Event{On: in.On, Mode: in.Mode}
	if in.Spoken {
		e.Facts |= netboot.Claimed
	}
	w.lend(&e)
	// Enroll by hand makes a record that is absent (EDGE-19); to the other verbs it is
	// NOT_FOUND (EDGE-17), and the empty one is dropped with the step.
	i := w.record(in.MAC)
	if err := w.boot(i, e); err != nil {
		return err
	}
	// The same mode again changes no record, and is not told.
	if in.On == netboot.SetMode && w.cloned {
		w.factWhy("boot.mode", string(in.Mode))
	}
	return w.call(in.Call)
}

// check keeps the axis's other events, which joints and holders raise, away
// from operators.
func (in *BootVerb) check(w *work) error {
	switch in.On {
	case netboot.Enroll, netboot.Decommission, netboot.Reactivate, netboot.Purge:
		return nil
	case netboot.SetMode:
		if in.Mode == netboot.Normal || in.Mode == netboot.Rescue {
			return nil
		}
		return invalid(w.name, "BOOT-5", "the mode is normal or rescue")
	}
	return invalid(w.name, "BOOT-12", "%q is no operator's verb; legal: enroll, decommission, reactivate, purge, set-mode", in.On)
}

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
		return &Refused{Input: w.name, Req: "MACH-3", code: sm.Conflict, Holder: w.slot, Why: "the caller does not hold the machine"}
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
	e := netboot.Event{On: netboot.SetEntry, By: w.Node.owner(), Entry: netboot.Entry{Epoch: in.Epoch, Image: in.Image, Args: in.Args}}
	w.lend(&e)
	if err := w.boot(i, e); err != nil {
		return err
	}
	return in.check(w)
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
	if err := w.awaitsMAC(); err != nil {
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

// awaitsMAC refuses what only a machine without MACs may do (BOOT-17).
func (w *work) awaitsMAC() error {
	if err := w.live(); err != nil {
		return err
	}
	switch {
	case w.Node.Claims.BMC == "":
		return refuse(w.name, "PROV-14", sm.NotFound, "the node has no BMC binding", "")
	case w.Node.retired(), len(w.Node.MACs()) > 0:
		return refuse(w.name, "BOOT-17", sm.InvalidState, "the node is retired or has MACs", "")
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
	if err := w.awaitsMAC(); err != nil {
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

// SetPolicy replaces the site's policy. A new network, gateway, server or
// exclusion makes a new pool, without the addresses that records hold. The same
// policy again changes nothing. Attempts that are under way keep what they
// were approved with (SET-5).
//
// Reserved is every address that a boot record of the site holds, decommissioned
// ones too, read in the commit's own transaction: one that is left out is lent a
// second time.
type SetPolicy struct {
	Call
	Policy   Policy
	Reserved []netip.Addr // held by boot records
}

// Name is set-policy.
func (SetPolicy) Name() string { return "set-policy" }

func (in SetPolicy) apply(w *work) error {
	p := in.Policy
	// Before the comparison, which takes the parsed allow-list in.
	if err := p.prepare(); err != nil {
		return err
	}
	if reflect.DeepEqual(p, w.Site.Policy) {
		return w.call(in.Call)
	}
	if old := &w.Site.Policy; p.Network != old.Network || p.Gateway != old.Gateway || p.Server != old.Server || !slices.Equal(p.Exclude, old.Exclude) {
		if err := w.newPool(&p, in.Reserved); err != nil {
			return err
		}
	}
	w.Site.Policy = p
	w.factWhy(PolicyChanged, in.Reason)
	return w.call(in.Call)
}

// newPool makes the pool anew; a policy without network has none.
func (w *work) newPool(p *Policy, reserved []netip.Addr) error {
	if !p.Network.IsValid() {
		w.Site.Pool = Pool{}
		return nil
	}
	exclude := append([]netip.Addr{p.Gateway, p.Server}, p.Exclude...)
	// Records may hold addresses of the network before; NewPool passes them by.
	pool, err := NewPool(p.Network, append(exclude, reserved...)...)
	w.Site.Pool = pool
	return err
}

// The kinds of window.
const (
	AutoApproveWindow = "auto-approve"
	EnrollWindow      = "enroll"
)

// SetWindow opens or closes one of the site's windows (REG-7, REG-10). A zero
// Window closes it.
type SetWindow struct {
	Call
	Kind   string
	Window Window // from NewWindow
}

// Name is set-window.
func (SetWindow) Name() string { return "set-window" }

func (in SetWindow) apply(w *work) error {
	name, was := WindowClosed, w.Site
	if in.Window != (Window{}) {
		// To NewWindow no slots mean no budget, which is a window for everyone.
		if in.Window.Budget && in.Window.Slots == 0 {
			return invalid(w.name, "REG-7", "a budget of no slots opens nothing; close the window instead")
		}
		// Again, by the time of the step: the 24 h count from there (REG-7).
		win, err := NewWindow(w.now, in.Window.End, in.Window.Slots)
		if err != nil {
			return err
		}
		in.Window, name = win, WindowOpened
	}
	switch in.Kind {
	case AutoApproveWindow:
		w.Site.AutoApprove = in.Window
	case EnrollWindow:
		w.Site.Enroll = in.Window
	default:
		return invalid(w.name, "REG-10", "%q is no window; legal: %s, %s", in.Kind, AutoApproveWindow, EnrollWindow)
	}
	if w.Site.AutoApprove != was.AutoApprove || w.Site.Enroll != was.Enroll {
		w.factWhy(name, in.Kind)
	}
	return w.call(in.Call)
}
