package lifecycle

import (
	"crypto/subtle"
	"fmt"
	"slices"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// Register is the anonymous call of a hand-installed machine's agent (REG-2 to
// REG-4, REG-7). The code, token and key are drawn before the step; the key is
// used only if a window lets the machine in.
//
// From absent, pending and disabled the row comes to pending, or to approved
// by an open window; a re-armed one always needs its code. It is a CONFLICT
// elsewhere, for a retired node, and for another machine's row, and
// RATE_LIMITED where strangers are too many.
type Register struct {
	NewID     NodeID // for a machine that has no node
	Server    registration.ServerID
	Inventory registration.Inventory
	// Code and Poll end within registration.CodeLife from now.
	Code, Poll registration.Expiring
	// Bound is of ScopeAgent; Waiting is its secret, sealed for the poll.
	Bound   registration.Key
	Waiting registration.Sealed
	Recent  int // registers of this UUID in the last hour
}

// Name is register.
func (Register) Name() string { return "register" }

func (in Register) apply(w *work) error {
	facts := w.regFacts(&World{})
	if w.Site.AutoApprove.open(w.now) {
		facts |= registration.Window
	}
	err := w.reg(registration.Event{Event: on(registration.Register), Facts: facts, Server: in.Server, Inventory: in.Inventory,
		Code: kept(in.Code), Poll: kept(in.Poll), Bound: in.Bound, Waiting: in.Waiting})
	if err != nil {
		return err // state before inputs (EDGE-15)
	}
	if err := in.check(w); err != nil {
		return err
	}
	if err := w.known(in.Server); err != nil {
		return err
	}
	if err := w.stranger(in.Recent); err != nil {
		return err
	}
	if err := w.assign(in.NewID); err != nil {
		return err
	}
	w.Node.Claims.Server = in.Server
	if w.Node.Reg.State == registration.Approved {
		w.Site.AutoApprove.take()
	} else {
		w.fact(RowClaimable)
	}
	return nil
}

// check refuses what no agent of ours sends: a placeholder UUID (EDGE-13), a
// secret that is dead or outlives its hour, a key with too many rights.
func (in *Register) check(w *work) error {
	switch {
	case in.Server.Placeholder():
		return invalid(w.name, "EDGE-13", "the UUID is a firmware placeholder")
	case !in.Code.Holds(w.now) || in.Code.Until.After(w.now.Add(registration.CodeLife)):
		return invalid(w.name, "REG-5", "a claim code lives one hour")
	case !in.Poll.Holds(w.now) || in.Poll.Until.After(w.now.Add(registration.CodeLife)):
		return invalid(w.name, "REG-6", "a poll token lives at most one hour")
	case !deliverable(in.Bound, in.Waiting):
		return invalid(w.name, "REG-7", "the key for an open window is missing")
	}
	return w.inventory(&in.Inventory)
}

// deliverable reports whether bound is an agent's key, with its secret sealed for
// the poll.
func deliverable(bound registration.Key, waiting registration.Sealed) bool {
	return wellMade(bound) && bound.Scope == ScopeAgent && sealed(waiting)
}

// kept is e as rows keep its time.
func kept(e registration.Expiring) registration.Expiring {
	e.Until = keep(e.Until)
	return e
}

// stranger bounds what anonymous callers may create (REG-10): rows that nobody
// ever approved, in all, and attempts of one UUID within the hour. A UUID that
// has a row already is no stranger.
func (w *work) stranger(recent int) error {
	limit := orDefault(w.Site.Policy.MaxUnapproved, MaxUnapproved)
	switch {
	case w.was.Node.Reg.State == registration.Absent && w.Site.Unapproved >= limit:
		return &Refused{Input: w.name, Req: "REG-10", code: sm.RateLimited, Count: w.Site.Unapproved,
			Why: "the site has too many rows that nobody approved", Next: "an operator approves or deletes some"}
	case recent >= MaxReregister:
		return refuse(w.name, "REG-10", sm.RateLimited, fmt.Sprintf("the machine registered %d times within the hour", recent), "try again in an hour")
	}
	return nil
}

// Announce is a machine in the enrollment ramdisk, relayed by its booter
// (REG-8). Where it changes nothing it succeeds without a fact.
//
// It creates a row in awaiting_setup, refreshes one there, and ends a setup
// whose bundle is still unconsumed when the agent's key is another one
// (SET-17, EDGE-14). Every other row is left alone. A strict site without an
// open enroll window answers ACCESS_DENIED (REG-10).
type Announce struct {
	NewID NodeID
	// Routing is the UUID that the session or bus speaks for, Server the one
	// in the body; they must be equal (REG-9).
	Routing, Server registration.ServerID
	// Inventory.Seen are the MACs with which the booter saw the session: an
	// approval covers these alone (SET-18).
	Inventory registration.Inventory
	AgentKey  registration.Hash // zero: a stock agent
}

// Name is announce.
func (Announce) Name() string { return "announce" }

func (in Announce) apply(w *work) error {
	row := &w.Node.Reg
	if in.Routing != in.Server || in.Server.Placeholder() {
		return invalid(w.name, "REG-9", "the UUID is a placeholder, or not the one that the session speaks for")
	}
	if err := w.known(in.Server); err != nil {
		return err
	}
	if err := w.inventory(&in.Inventory); err != nil {
		return err
	}
	if row.State != registration.Absent {
		return in.again(w)
	}
	return in.first(w)
}

// first creates the row, within what policy lets strangers do. A window's slot
// goes in the same commit, and only where the site is strict: strictness binds
// announces alone, since a register has its claim code (EDGE-12). The UUID of a
// retired node is answered with success and nothing else (EDGE-4).
func (in *Announce) first(w *work) error {
	facts := w.regFacts(&World{})
	strict := w.Site.Policy.Strict
	if !strict || w.Site.Enroll.open(w.now) {
		facts |= registration.Admitted
	}
	if facts&registration.Retired != 0 {
		return nil
	}
	if err := w.stranger(0); err != nil {
		return err
	}
	if err := w.announce(in, facts); err != nil {
		return err
	}
	if err := w.assign(in.NewID); err != nil {
		return err
	}
	w.Node.Claims.Server = in.Server
	if strict {
		w.Site.Enroll.take()
	}
	return nil
}

// again refreshes a row that awaits setup, or ends a setup whose machine
// shows another key (SET-17). Only what an approval would rest on is worth a
// commit: the inventory's digest, the MACs that were seen, the agent's key.
func (in *Announce) again(w *work) error {
	was := w.Node.Reg
	if err := w.announce(in, 0); err != nil {
		return err
	}
	is := &w.Node.Reg
	if is.State == was.State && is.State == registration.AwaitingSetup &&
		(is.Inventory.Digest != was.Inventory.Digest || is.AgentKey != was.AgentKey || !slices.Equal(is.Inventory.Seen, was.Inventory.Seen)) {
		w.fact(InventoryChanged)
	} else if is.State == was.State {
		w.Node.Reg = was // nothing to write: last_seen is a ledger's (MACH-9)
	}
	return nil
}

// announce moves the axis; facts are the guards of policy.
func (w *work) announce(in *Announce, facts sm.Guard) error {
	return w.reg(registration.Event{Event: on(registration.Announce), Facts: facts,
		Server: in.Server, Inventory: in.Inventory, AgentKey: in.AgentKey})
}

// Approve is an operator with the claim code of a pending row (REG-14). The
// caller counts a *statemachine.Refused with INVALID_INPUT as a wrong try (REG-5);
// the INVALID_INPUT of a *Refused says nothing of the code.
//
// A UUID alone approves nothing. The same operator may repeat the code within
// its hour: that succeeds, and the key drawn for the repeat is not used
// (EDGE-16).
type Approve struct {
	Call
	Hash    registration.Hash // of the code presented
	Bound   registration.Key
	Waiting registration.Sealed
}

// Name is approve.
func (Approve) Name() string { return "approve" }

func (in Approve) apply(w *work) error {
	err := w.reg(registration.Event{Event: on(registration.Approve), By: in.By,
		Code: registration.Expiring{Hash: in.Hash}, Bound: in.Bound, Waiting: in.Waiting})
	if err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	if !deliverable(in.Bound, in.Waiting) {
		return invalid(w.name, "REG-14", "the bound key is missing")
	}
	return nil
}

// Refresh is the agent with its bound key (REG-15, SET-13). It replaces the
// inventory of an approved row, shows that the agent has its key (REG-6), and
// completes a setup whose bundle was drained. Without the right key it is
// UNAUTHENTICATED, whatever the row's state.
type Refresh struct {
	Key       registration.Hash // of the key presented
	Inventory registration.Inventory
}

// Name is refresh.
func (Refresh) Name() string { return "refresh" }

func (in Refresh) apply(w *work) error {
	r := &w.Node.Reg
	switch bound := r.Bound.Hash; {
	case bound == registration.Hash{} || subtle.ConstantTimeCompare(bound[:], in.Key[:]) != 1:
		return refuse(w.name, "REG-15", sm.Unauthenticated, "this is not the machine's bound key", "register again")
	case r.Waiting != "" && !r.Poll.Holds(w.now): // the sweeper only has not come yet
		return refuse(w.name, "REG-6", sm.Unauthenticated, "the key was not acknowledged before its poll token ended", "disable the machine and register again")
	}
	if err := w.inventory(&in.Inventory); err != nil {
		return err
	}
	was := w.Node.Reg
	if err := w.reg(registration.Event{Event: on(registration.Refresh), Inventory: in.Inventory}); err != nil {
		return err
	}
	if was.State == registration.Approved && (was.Inventory.Digest != in.Inventory.Digest || was.Waiting != "") {
		w.fact(InventoryChanged)
	} else if was.State == registration.Approved {
		w.Node.Reg = was
	}
	return w.completed()
}

// Acknowledge is the agent that has the key it polled for (REG-6): the
// plaintext and its token go. A token that is unknown, over or used is
// UNAUTHENTICATED.
type Acknowledge struct{ Token registration.Hash }

// Name is key-acknowledged.
func (Acknowledge) Name() string { return string(registration.Acknowledge) }

func (in Acknowledge) apply(w *work) error {
	poll := w.Node.Reg.Poll
	if !poll.Holds(w.now) || subtle.ConstantTimeCompare(poll.Hash[:], in.Token[:]) != 1 {
		return refuse(w.name, "EDGE-17", sm.Unauthenticated, "the poll token is dead", "disable the machine and register again")
	}
	if err := w.reg(registration.Event{Event: on(registration.Acknowledge)}); err != nil {
		return err
	}
	w.fact(KeyDelivered)
	return nil
}
