package lifecycle

import (
	"cmp"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// Mint is what is drawn for a setup before the step, since a step may run
// twice (SET-5): one bound key, three ticket keys, and the bundle that carries
// their secrets, sealed to the agent's key.
type Mint struct {
	Bound   registration.Key
	Tickets [3]registration.Key
	Sealed  registration.Sealed
}

// The scopes of minted keys.
const (
	ScopeAgent  = "agent"
	ScopeTicket = "ticket"
)

// whole reports whether all is there, no key twice, and none with a right
// that a machine must not have.
func (m *Mint) whole() bool {
	keys := []registration.Key{m.Bound, m.Tickets[0], m.Tickets[1], m.Tickets[2]}
	want := ScopeAgent
	for i, k := range keys {
		if !wellMade(k) || slices.ContainsFunc(keys[:i], func(o registration.Key) bool { return o.ID == k.ID || o.Hash == k.Hash }) {
			return false
		}
		if k.Scope != want {
			return false
		}
		want = ScopeTicket // all but the first
	}
	return sealed(m.Sealed)
}

// wellMade reports whether k names itself, in a word, and has its hash.
func wellMade(k registration.Key) bool {
	return k.ID != "" && len(k.ID) <= MaxName && !strings.ContainsFunc(k.ID, notASCII) && k.Hash != registration.Hash{}
}

// MaxSealed bounds a sealed secret, in bytes: the largest is a bundle of four
// keys, HPKE-sealed and in base64, of about 1 KiB.
const MaxSealed = 16 << 10

// sealed reports whether s is ciphertext as text, such as base64: rows keep
// nothing else unharmed.
func sealed(s registration.Sealed) bool {
	return s != "" && len(s) <= MaxSealed && !strings.ContainsFunc(string(s), notASCII)
}

// ApproveSetup lets a machine's disks be written: the only input that leads to
// setting_up (SET-1). It needs an operator session; no key can (SET-2).
//
// One commit opens the attempt with its epoch and deadline, puts the minted
// keys and the sealed bundle into the row, and makes the grant, which names
// the approver and the disks. The order of refusals is permission, state and
// slot, world, version, inputs, plan (SET-3, EDGE-15).
type ApproveSetup struct {
	Call
	World World
	Shown registration.Hash // digest of the plan that the operator saw (SET-14)
	// AgentKey is the hash of the agent key that the page showed and the bundle
	// is sealed to; zero where it said that the bundle goes in clear (SET-17).
	AgentKey registration.Hash
	// MACs are those that the page said are covered, in the inventory's order
	// (SET-18).
	MACs     []registration.MAC
	Realized registration.Plan // of the inventory as it stands: digest, inventory, serials, hostname, disk image
	Boot     string            // digest of the boot program that the plan names; empty is none
	Mint     Mint
}

// Name is approve-setup.
func (ApproveSetup) Name() string { return "approve-setup" }

func (in ApproveSetup) apply(w *work) error {
	if !in.Operator {
		return refuse(w.name, "SET-2", sm.Denied, "only an operator session may let disks be written", "sign in as an operator")
	}
	row := w.Node.Reg
	plan := in.plan(&row)
	err := w.reg(registration.Event{Event: on(registration.ApproveSetup), Facts: w.regFacts(&in.World),
		Bound: in.Mint.Bound, Tickets: in.Mint.Tickets, Sealed: in.Mint.Sealed, Plan: plan, Image: w.Site.Policy.Enrollment})
	if err != nil {
		return err
	}
	if err := w.disks(); err != nil {
		return err
	}
	if err := w.answers(&in.World); err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	if err := in.inputs(w, &row); err != nil {
		return err
	}
	return in.planned(w, &row, &plan)
}

// on is an event that brings nothing but its kind.
func on(k registration.Kind) sm.Event[registration.Kind] {
	return sm.Event[registration.Kind]{On: k}
}

// plan is the realized plan with the MACs it covers: those of the inventory
// that the announcing session was seen with (SET-18).
func (in *ApproveSetup) plan(row *registration.Record) registration.Plan {
	p := in.Realized
	p.Approver, p.MACs, p.LeftOut = in.By, nil, nil
	for _, m := range row.Inventory.MACs {
		if slices.Contains(row.Inventory.Seen, m) {
			p.MACs = append(p.MACs, m)
		} else {
			p.LeftOut = append(p.LeftOut, m)
		}
	}
	p.InClear = row.AgentKey == registration.Hash{}
	return p
}

// inputs checks what the operator brings (SET-4).
func (in *ApproveSetup) inputs(w *work, row *registration.Record) error {
	switch {
	case !hostname(in.Realized.Hostname):
		return invalid(w.name, "SET-4", "hostname %q is no RFC 1123 label", in.Realized.Hostname)
	case in.Realized.Disk != "" && !slices.Contains(in.World.Staged, in.Realized.Disk):
		return refuse(w.name, "SET-4", sm.InvalidInput, fmt.Sprintf("disk image %q is not staged", in.Realized.Disk), "stage it first")
	case in.Boot != "" && !slices.Contains(in.World.Staged, in.Boot):
		return refuse(w.name, "SET-4", sm.InvalidInput, fmt.Sprintf("boot program %q is not staged", in.Boot), "stage it first, as the esp of an image")
	case !in.Mint.whole():
		return invalid(w.name, "SET-5", "the setup needs a bound key, three ticket keys and a sealed bundle, all different")
	case in.Realized.Digest == registration.Hash{}:
		return invalid(w.name, "SET-4", "the layout is not realized")
	case row.AgentKey == registration.Hash{} && !w.Site.Policy.ClearBundles:
		return refuse(w.name, "EDGE-14", sm.Conflict, "a stock agent's bundle would go in clear, and policy forbids that", "allow clear bundles, or boot an agent that makes a key")
	}
	return in.disks(w, row)
}

// disks checks the disks that the plan writes: at least one, each named once,
// and each of the inventory. The serial is all by which the node finds a disk
// before it writes (DISK-3).
func (in *ApproveSetup) disks(w *work, row *registration.Record) error {
	serials := in.Realized.Serials
	if len(serials) == 0 || len(serials) > MaxSerials {
		return invalid(w.name, "SET-4", "the plan writes 1 to %d disks", MaxSerials)
	}
	for i, serial := range serials {
		if serial == "" || occurs(row.Inventory.Serials, serial) != 1 || slices.Contains(serials[:i], serial) {
			return invalid(w.name, "SET-4", "the plan writes a disk that the inventory does not have exactly once, or one twice")
		}
	}
	return nil
}

// occurs is how often a serial is in an inventory: two disks of one serial
// cannot be told apart (DISK-2).
func occurs(serials []string, serial string) int {
	n := 0
	for _, s := range serials {
		if s == serial {
			n++
		}
	}
	return n
}

// planned checks the plan against what stands now: it is of this inventory,
// it, the agent key and the MACs are those that the operator saw (SET-14,
// SET-17), and no MAC that it covers belongs to another machine (SET-18). An
// announce may have come between the page and the click; without the pin, the
// approval would go to whoever sent it.
func (in *ApproveSetup) planned(w *work, row *registration.Record, plan *registration.Plan) error {
	switch {
	case plan.Inventory != row.Inventory.Digest || subtle.ConstantTimeCompare(plan.Digest[:], in.Shown[:]) != 1:
		return refuse(w.name, "SET-14", sm.Conflict, "the inventory now gives another plan than the operator saw", "look at the new plan and approve that")
	case in.AgentKey != row.AgentKey:
		return refuse(w.name, "SET-17", sm.Conflict, "the machine now announces another agent key than the operator saw", "look at the page again, and seal the bundle to the new key")
	case !slices.Equal(in.MACs, plan.MACs):
		return refuse(w.name, "SET-18", sm.Conflict, "the approval now covers other MACs than the operator saw", "look at the new MACs and approve those")
	}
	return in.unclaimed(w, plan)
}

// unclaimed refuses a plan with a MAC that is another machine's (SET-18). A
// decommissioned record is a tombstone's, and no claim any more (MACH-1).
func (in *ApproveSetup) unclaimed(w *work, plan *registration.Plan) error {
	for _, m := range plan.MACs {
		if i := w.Node.nic(netboot.MAC(m)); i >= 0 {
			b := &w.Node.NICs[i]
			if b.Owner != (netboot.Owner{}) && !w.Node.owns(b) && b.State != netboot.Decommissioned {
				return &Refused{Input: w.name, Req: "SET-18", Reason: "MAC_CLAIMED", code: sm.Conflict,
					Why:  "MAC " + netboot.MAC(m).String() + " is " + cmp.Or(b.Owner.Node, "another machine") + "'s",
					Next: "delete or retire that node if the NIC has moved, or take the NIC out and announce again"}
			}
		}
	}
	return nil
}

// MaxLabel is the longest host name label (RFC 1123 section 2.1, RFC 1035
// section 2.3.4).
const MaxLabel = 63

// hostname reports whether s is one RFC 1123 label in lower case: it ends in
// a file that boot evaluates (SET-4).
func hostname(s string) bool {
	if s == "" || len(s) > MaxLabel || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') {
			return false
		}
	}
	return true
}

// Drain takes the sealed bundle for the session that announced AgentKey. The
// bundle itself is in the state before the step (SET-6, SET-17).
//
// It succeeds once. A second drain, a stale epoch, another session's key and a
// passed deadline are CONFLICTs; outside setting_up it is INVALID_STATE. A
// lost answer is not given again: the deadline ends that attempt (EDGE-6).
type Drain struct {
	Epoch    uint64
	AgentKey registration.Hash // of the session that asks; zero: a stock agent
	Held     bool              // the booter holds the node's live connection
}

// Name is drain.
func (Drain) Name() string { return "drain" }

func (in Drain) apply(w *work) error {
	ev := registration.Event{Event: sm.Event[registration.Kind]{On: registration.Drain, Epoch: in.Epoch}, AgentKey: in.AgentKey}
	if err := w.reg(ev); err != nil {
		return err
	}
	if !in.Held {
		return refuse(w.name, "SET-6", sm.Conflict, "the booter does not hold the node's live connection", "drain once the machine is connected")
	}
	w.fact(BundleDrained)
	return nil
}

// SetupReport is setup-complete or setup-failed, as the sentinel said (SET-8).
// Another epoch is a CONFLICT, and so is success with the bundle undrained; a
// repeat of what was decided succeeds without effect (SET-9, MACH-4). Failure
// kills every key of the attempt (SET-11).
type SetupReport struct {
	Epoch uint64
	OK    bool
	Why   string // of a failure; cut at 512 bytes
}

// Name is setup-complete or setup-failed.
func (in SetupReport) Name() string { return string(in.kind()) }

// kind is the axis's event for the outcome.
func (in SetupReport) kind() registration.Kind {
	if in.OK {
		return registration.SetupComplete
	}
	return registration.SetupFailed
}

func (in SetupReport) apply(w *work) error {
	ev := registration.Event{Event: sm.Event[registration.Kind]{On: in.kind(), Epoch: in.Epoch}, Why: in.Why}
	if err := w.reg(ev); err != nil {
		return err
	}
	return w.completed()
}

// completed is JOINT-1: a row that came from setting_up to approved takes its
// approved MACs' records along (SET-10). Elsewhere it does nothing. A MAC that
// has no record is passed by; another machine's record is left alone and
// reported, so that a person can look.
func (w *work) completed() error {
	if w.was.Node.Reg.State != registration.SettingUp || w.Node.Reg.State != registration.Approved {
		return nil
	}
	for _, m := range w.Node.Reg.Plan.MACs {
		i := w.Node.nic(netboot.MAC(m))
		if i < 0 {
			continue
		}
		was := w.Node.NICs[i]
		if err := w.boot(i, netboot.Event{On: netboot.Complete, By: w.Node.owner(), Image: w.Node.Reg.Image}); err != nil {
			return err
		}
		if was.State == netboot.Enrolling && was.Owner != (netboot.Owner{}) && !w.Node.owns(&was) {
			w.facts = append(w.facts, Fact{Name: RecordLeft, MAC: was.MAC, Why: "it is " + was.Owner.Node + "'s"})
		}
	}
	return nil
}
