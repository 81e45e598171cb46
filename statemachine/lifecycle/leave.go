package lifecycle

import (
	"slices"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// The reasons with which identities are revoked (ID-2).
const (
	revokedByVerb   = "identity revoked"
	revokedByReset  = "factory-reset"
	revokedByDelete = "node-deleted"
	revokedByRetire = "retired"
)

// Disable shuts a machine out (JOINT-4, REG-11): keys, code and token die, and
// its session closes, in the same commit. Boot records and the other axes stay
// where they are; placement passes the machine by. Disabling twice changes
// nothing; before approval it is INVALID_STATE.
type Disable struct{ Call }

// Name is disable.
func (Disable) Name() string { return "disable" }

func (in Disable) apply(w *work) error {
	if err := w.reg(registration.Event{Event: on(registration.Disable)}); err != nil {
		return err
	}
	if w.was.Node.Reg.State != registration.Disabled {
		w.closeSession()
	}
	// Even where nothing changed: a stale version is a conflict all the same (EDGE-15).
	return w.call(in.Call)
}

// closeSession ends the session in the record, once. The gateway that carries it
// learns of that by its feed, and without one only when the certificate expires
// (ID-2).
func (w *work) closeSession() {
	if w.Node.Conn.close(w.now) {
		w.fact(SessionEnded)
	}
}

// FactoryReset sends a machine back to the setup gate (JOINT-2, REG-12). It
// destroys no data by itself.
//
// The node keeps its ID, settings, taints, cordon and maintenance; its keys,
// certificates and every other axis end, and its enrolled records enroll again
// at the addresses they have. While anything is on the machine or holds it,
// that is a CONFLICT with the count or the holder (REG-18, EDGE-3).
type FactoryReset struct {
	Call
	World World
	NewID NodeID // for a disabled row whose node is gone
}

// Name is factory-reset.
func (FactoryReset) Name() string { return "factory-reset" }

func (in FactoryReset) apply(w *work) error {
	if err := w.reg(registration.Event{Event: on(registration.FactoryReset), Facts: w.regFacts(&in.World)}); err != nil {
		return countOf(err, in.World.occupied())
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	if err := w.answers(&in.World); err != nil {
		return err
	}
	// A disabled row may stand without a node, since its node was deleted; the machine
	// comes back as a new one (PROV-20).
	if err := w.assign(in.NewID); err != nil {
		return err
	}
	w.Node.Claims.Server = w.Node.Reg.Server
	// None where the node was just made: its records went with the old one (BOOT-4).
	if err := w.bootAll(netboot.Reset, w.Node.owns); err != nil {
		return err
	}
	w.revoke(revokedByReset)
	return w.startAnew()
}

// startAnew ends every axis but registration and netboot; maintenance, cordon
// and operator taints stay (REG-12, EDGE-3).
func (w *work) startAnew() error {
	n := &w.Node
	// With the zero World: what on the machine forbids a reset the registration table
	// has asked already (REG-18).
	if err := w.prov(provision.Event{Event: onProv(provision.End), Facts: w.provFacts(&World{})}); err != nil {
		return err
	}
	if err := w.run(run.Event{Event: sm.Event[run.Kind]{On: run.End}}); err != nil {
		return err
	}
	if err := w.retire(run.RetireEvent{Event: sm.Event[run.RetireKind]{On: run.EndSteps}}); err != nil {
		return err
	}
	// The number of the newest session stays, so that late news of it is still old
	// (LIVE-6).
	sched, _, err := schedule.Step(n.Sched, schedule.Event{On: schedule.Reset})
	n.Sched, n.Conn, n.Conditions, n.Inventory = sched, Connectivity{Session: n.Conn.Session}, nil, Inventory{}
	w.cancelCommands()
	return err
}

// onProv is an event that brings nothing but its kind.
func onProv(k provision.Kind) sm.Event[provision.Kind] {
	return sm.Event[provision.Kind]{On: k}
}

// bootAll sends an event to every boot record that picked names, in the name
// of the machine as it was before the step: a joint may have taken its ID or
// row by then. One record that refuses refuses the whole joint (EDGE-18).
func (w *work) bootAll(k netboot.Kind, picked func(*netboot.Record) bool) error {
	for i := range w.Node.NICs {
		if !picked(&w.Node.NICs[i]) {
			continue
		}
		if err := w.boot(i, netboot.Event{On: k, By: w.was.Node.owner()}); err != nil {
			return err
		}
	}
	return nil
}

// revoke ends every live certificate and raises the generation (ID-2), so that
// no older identity renews or joins again, and closes the session.
func (w *work) revoke(why string) {
	n := &w.Node
	for _, serial := range n.Identity.Live {
		w.facts = append(w.facts, Fact{Name: CertificateEnded, Key: serial, Why: why})
	}
	// Raised by each call, also where no certificate is live: it is all that keeps out
	// an identity that the record knows no more.
	n.Identity.Generation++
	n.Identity.Live = nil
	n.Prov.Proof = provision.Hash{} // evidence counts by the identity that signed it (PROV-19)
	w.factWhy(IdentityRevoked, why)
	w.closeSession()
}

// cancelCommands drops what waits in the node's queue (PROV-8). Unlike the end of
// one command it drops the request IDs too: the machine that they were meant for
// is gone or starts anew, and an old ID must not answer for it.
func (w *work) cancelCommands() {
	w.endCommands("cancelled", func(Command) bool { return true })
	w.Node.Commands = nil
}

// DeleteRow removes a registration row (JOINT-3, REG-13). A row that was never
// approved goes alone; one that was takes its node along.
//
// It is disable-first: CONFLICT from approved and setting_up. An absent row is
// success without effect.
//
// For an absent row no World is asked for, so that a retry succeeds while the rest
// of the site is away.
type DeleteRow struct {
	Call
	World World
}

// Name is registration-delete.
func (DeleteRow) Name() string { return "registration-delete" }

func (in DeleteRow) apply(w *work) error {
	facts, count, err := in.facts(w)
	if err != nil {
		return err
	}
	was := w.Node.Reg
	if err := w.reg(registration.Event{Event: on(registration.Delete), Facts: facts}); err != nil {
		return countOf(err, count)
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	// Once approved is for good: neither reset nor re-arm makes the row one that goes
	// alone (EDGE-8).
	if was.State == registration.Absent || !was.OnceApproved && w.otherAxis() {
		return nil
	}
	if w.Node.Live() {
		return w.bury(in.World)
	}
	return nil
}

// otherAxis reports whether the node has an axis besides registration and
// netboot, by which it stays when its row goes (EDGE-8).
func (w *work) otherAxis() bool {
	return w.Node.Prov.State != provision.Absent || w.Node.Claims.Device != ""
}

// facts are the guards of a delete: those of the provision axis too, where the
// node goes with the row.
func (in *DeleteRow) facts(w *work) (g sm.Guard, open int, err error) {
	n := &w.Node
	if n.Reg.State == registration.Absent || !n.Reg.OnceApproved && w.otherAxis() {
		return 0, 0, nil // nothing to ask: no row, or one that goes alone
	}
	if err := w.answers(&in.World); err != nil {
		return 0, 0, err
	}
	if n.Prov.State != provision.Absent {
		err := w.leaves(&in.World)
		// Only the state's refusal anchors the row. What else the table may say, open
		// allocations above all, the guards below tell with their own count.
		if r, ok := err.(*sm.Refused); ok && r.Code() == string(sm.InvalidState) {
			g |= registration.Anchored
		}
	}
	g = g.With(registration.Held, in.held(w)).With(registration.Allocated, in.World.Open > 0)
	return g, in.World.Open, nil
}

// leaves asks the provision axis whether its node may be deleted, and moves
// nothing.
func (w *work) leaves(world *World) error {
	p := &w.Node.Prov
	ev := provision.Event{Event: onProv(provision.Delete), Facts: w.provFacts(world)}
	_, err := provision.Table.Next(p.State, provision.Delete, provision.Guards(p, &ev))
	return err
}

// held reports whether an attempt forbids the delete. Where the node has a
// provision axis that is the slot's holder, but for an attempt of its own, which
// ends with the node (EDGE-9); a run that only waits holds nothing. A device
// alone must have no run unfinished (EDGE-23).
func (in *DeleteRow) held(w *work) bool {
	if w.Node.Prov.State == provision.Absent {
		return w.Node.Run.Unfinished()
	}
	return w.slot.Holder != Free && w.slot.Holder != Workflow
}

// countOf adds to a refusal how many stand in the way, so that a caller knows
// what to release. Other refusals stay as they are.
//
// Only conflicts are counted: to release something cures no other code.
func countOf(err error, count int) error {
	r, ok := err.(*sm.Refused)
	if d, detailed := err.(*Detailed); detailed {
		r, ok = d.Refused, true
	}
	if !ok || count == 0 || r.Code() != string(sm.Conflict) {
		return err
	}
	d := &Detailed{Refused: r, Count: count}
	if old, detailed := err.(*Detailed); detailed {
		d.Holder = old.Holder
	}
	return d
}

// DeleteNode makes a node a tombstone (JOINT-5, PROV-8). A tombstone, or no
// node, is success without effect.
type DeleteNode struct {
	Call
	World World
	// Gone says that the inventory has the device offline, or no longer
	// (EDGE-23).
	Gone bool
}

// Name is node-delete.
func (DeleteNode) Name() string { return "node-delete" }

func (in DeleteNode) apply(w *work) error {
	// Ahead of the version, which a retry has as it was before its first try (PROV-8).
	// The fact stands once, with the commit that buried the node.
	if !w.Node.Live() {
		return nil
	}
	if err := in.legal(w); err != nil {
		return countOf(err, in.World.Open)
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	if err := w.answers(&in.World); err != nil {
		return err
	}
	// A setup in progress refuses here: its row cannot leave without ending the attempt
	// that writes the disks (PROV-20).
	if err := w.reg(registration.Event{Event: on(registration.Withdraw)}); err != nil {
		return err
	}
	return w.bury(in.World)
}

// legal decides the delete by the axis that the node has: provision by its
// table; a device of the inventory by its runs and the inventory (EDGE-23). A
// node with neither has nothing but its row, which is deleted instead.
func (in *DeleteNode) legal(w *work) error {
	n := &w.Node
	switch {
	case n.Prov.State != provision.Absent:
		if err := w.leaves(&in.World); err != nil {
			return w.detail(worded(err, nodeVerbs()))
		}
	case n.Claims.Device == "":
		return refuse(w.name, "PROV-8", sm.InvalidState, "the node has a registration row alone", "delete that row")
	case n.Run.Unfinished():
		return &Refused{Input: w.name, Req: "EDGE-23", code: sm.Conflict, Why: "a run is unfinished", Holder: w.slot, Next: "cancel a run that waits; let one that has begun end"}
	case !in.Gone:
		return refuse(w.name, "EDGE-23", sm.InvalidState, "the inventory still has the device", "retire it there first")
	case in.World.Open > 0:
		return occupied(w.name, "PROV-8", in.World.Open)
	}
	return nil
}

// bury makes the node a tombstone: claims freed, identity revoked, boot
// records decommissioned, commands cancelled, the attempt of its own axis
// ended (PROV-8). Its registration row is already as it will be.
//
// What stays is what others refer to: ID, version, time of the delete, and the
// generation, below which no identity ever comes back (PROV-20, ID-2).
func (w *work) bury(world World) error {
	n := &w.Node
	if err := w.prov(provision.Event{Event: onProv(provision.Delete), Facts: w.provFacts(&world)}); err != nil {
		return err
	}
	if err := w.bootAll(netboot.Withdraw, w.goesAlong); err != nil {
		return err
	}
	w.revoke(revokedByDelete)
	w.cancelCommands()
	// From here on the claims are free: whoever names one of them is a new node.
	n.Claims, n.Metal, n.Inventory, n.Conditions = Claims{}, Metal{}, Inventory{}, nil
	n.Run, n.Sched, n.Conn, n.Request = run.New(), schedule.New(), Connectivity{}, ""
	n.Deleted = w.now
	w.fact(NodeDeleted)
	return nil
}

// goesAlong reports whether a boot record goes with a node that is deleted: one
// of its own, or an unbound one with a MAC that its registration announced
// (REG-13, EDGE-9). What is announced proves nothing, so another machine's
// candidate stays.
func (w *work) goesAlong(b *netboot.Record) bool {
	if w.was.Node.owns(b) {
		return true
	}
	strangers := b.Candidate != "" && b.Candidate != string(w.was.Node.ID)
	return b.Owner == (netboot.Owner{}) && !strangers && slices.Contains(w.was.Node.Reg.Inventory.MACs, registration.MAC(b.MAC))
}

// retiredJoint is JOINT-6: a node that came to its end by either axis loses
// identity, boot records and registration (PROV-10, RUN-9).
func (w *work) retiredJoint() error {
	// The joint is the step into the end, and so is done once.
	if !w.Node.retired() || w.was.Node.retired() {
		return nil
	}
	if err := w.reg(registration.Event{Event: on(registration.Withdraw)}); err != nil {
		return err
	}
	if w.Node.Prov.State != provision.Retired { // so that no verb brings it back
		if err := w.prov(provision.Event{Event: onProv(provision.End)}); err != nil {
			return err
		}
	}
	if err := w.run(run.Event{Event: onRun(run.Interrupt)}); err != nil { // what still waits
		return err
	}
	w.revoke(revokedByRetire)
	return w.bootAll(netboot.Withdraw, w.was.Node.owns)
}

// RevokeIdentity ends a machine's identity (JOINT-9, ID-2). Coming back needs
// fresh evidence.
type RevokeIdentity struct{ Call }

// Name is revoke-identity.
func (RevokeIdentity) Name() string { return "revoke-identity" }

func (in RevokeIdentity) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	why := in.Reason
	if why == "" {
		why = revokedByVerb
	}
	w.revoke(why)
	return nil
}
