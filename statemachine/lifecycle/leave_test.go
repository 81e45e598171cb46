package lifecycle_test

import (
	"errors"
	"slices"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// REG-11, JOINT-4: disable in each state; keys, code, token and session die in
// the same commit, boot records stay.
func TestDisable(t *testing.T) {
	want := map[registration.State]sm.Code{registration.Absent: sm.NotFound, registration.AwaitingSetup: sm.InvalidState, registration.SettingUp: sm.InvalidState}
	each(t, func(h *host, s registration.State) {
		in := lifecycle.Disable{Call: ops}
		if code := want[s]; code != "" {
			h.refused(code, in)
			return
		}
		h.do(in).reg(registration.Disabled)
		if f := h.Node.Reg.Fields(); f&^(registration.FieldPlan|registration.FieldImage|registration.FieldApproved) != 0 {
			h.t.Errorf("a disabled row has {%s}", registration.Table.FieldNames(f))
		}
		h.idles(in)
	})
	h := adopted(t)
	keys, nics := h.Node.Reg, slices.Clone(h.Node.NICs)
	h.do(lifecycle.Disable{Call: ops}).told("registration.disabled", lifecycle.SessionEnded)
	if got := h.revoked(); !slices.Contains(got, keys.Bound.ID) || len(got) != 4 {
		t.Errorf("revoked %v, want the bound key and three tickets", got)
	}
	if !slices.Equal(h.Node.NICs, nics) {
		t.Errorf("boot records moved: %+v", h.Node.NICs)
	}
	h.prov(provision.Adopted) // the other axes do not move
	h.refused(sm.Denied, lifecycle.SessionOpened{Epoch: 2, Gateway: "gw"})
	h.refused(sm.Unauthenticated, lifecycle.Refresh{Key: keys.Bound.Hash, Inventory: sysinfo()})
	h.refused(sm.Denied, lifecycle.Join{Certificate: "c2"})
}

// REG-12, JOINT-2: what a factory reset ends, and what it keeps.
func TestFactoryReset(t *testing.T) {
	h := adopted(t)
	h.do(lifecycle.Join{Certificate: "c1"}, lifecycle.Schedule{Call: ops, On: schedule.Drain}, lifecycle.Taint{Call: ops, Add: []string{"team"}},
		lifecycle.Condition{Key: "disk-pressure", On: true}, lifecycle.Power{Call: ops, World: idle, Request: "p1", Action: "on"},
		lifecycle.Configure{Call: ops, Settings: registration.Settings{Reservoir: 1 << 30}})
	keys, generation, was := h.Node.Reg, h.Node.Identity.Generation, h.record(nicA)
	h.do(lifecycle.FactoryReset{Call: ops, World: idle}).reg(registration.AwaitingSetup).prov(provision.Absent)

	n := h.Node
	if f := n.Reg.Fields(); f != 0 || n.Reg.Ended != "" || !n.Reg.OnceApproved || n.Reg.Settings.Reservoir != 1<<30 {
		t.Errorf("row: {%s} %+v", registration.Table.FieldNames(f), n.Reg)
	}
	if got := h.revoked(); !slices.Contains(got, keys.Bound.ID) || len(got) != 4 {
		t.Errorf("revoked %v", got)
	}
	b := h.boot(nicA, netboot.Enrolling)
	if b.Image != "" || b.Address != was.Address || b.Networking != was.Networking || b.Owner != was.Owner {
		t.Errorf("boot record %+v, was %+v", b, was)
	}
	if n.ID != aNode || n.Identity.Generation != generation+1 || len(n.Identity.Live) != 0 {
		t.Errorf("ID %s, identity %+v", n.ID, n.Identity)
	}
	h.told(lifecycle.IdentityRevoked, lifecycle.CertificateEnded, lifecycle.SessionEnded, lifecycle.CommandEnded)
	if s := n.Sched; s.State != schedule.Cordoned || !slices.Equal(s.Taints, []string{"team"}) || len(n.Conditions) != 0 || len(n.Commands) != 0 {
		t.Errorf("scheduling %+v, conditions %v, commands %v (EDGE-3)", s, n.Conditions, n.Commands)
	}
	// A new approval leads through the gate again.
	h.do(h.announce())
	h.do(h.approveSetup())
	h.do(h.drain())
	h.do(h.ended(true)).reg(registration.Approved).boot(nicA, netboot.Enrolled)
	h.do(lifecycle.SessionOpened{Epoch: 2, Gateway: "gw"}).prov(provision.Adopting)
}

// EDGE-3: maintenance survives a reset.
func TestResetKeepsMaintenance(t *testing.T) {
	call := ops
	call.Reason = "fan"
	h := adopted(t).do(lifecycle.Maintain{Call: call, Set: true}, lifecycle.FactoryReset{Call: ops, World: idle})
	if h.Node.Sched.Service != schedule.Maintenance || h.Node.Sched.Why != "fan" {
		t.Errorf("%+v", h.Node.Sched)
	}
}

// REG-12, REG-18, EDGE-3, EDGE-4: what forbids a reset.
func TestFactoryResetRefused(t *testing.T) {
	each(t, func(h *host, s registration.State) {
		in := lifecycle.FactoryReset{Call: ops, World: idle}
		switch s {
		case registration.Approved, registration.Disabled:
			h.do(in).reg(registration.AwaitingSetup)
		case registration.Absent:
			h.refused(sm.NotFound, in)
		default:
			h.refused(sm.InvalidState, in)
		}
	})
	for name, c := range map[string]struct {
		code  sm.Code
		count int
		edit  func(*lifecycle.World)
	}{
		"instances":          {sm.Conflict, 2, func(w *lifecycle.World) { w.Instances = 2 }},
		"a reservation":      {sm.Conflict, 1, func(w *lifecycle.World) { w.Reservations = 1 }},
		"a migration":        {sm.Conflict, 1, func(w *lifecycle.World) { w.Migrations = 1 }},
		"open allocations":   {sm.Conflict, 3, func(w *lifecycle.World) { w.Open = 3 }},
		"image not staged":   {sm.Conflict, 0, func(w *lifecycle.World) { w.Staged = nil }},
		"nobody can tell":    {sm.Unavailable, 0, func(w *lifecycle.World) { w.Missing = "migrations" }},
		"nobody and nothing": {sm.Conflict, 0, func(w *lifecycle.World) { *w = lifecycle.World{Missing: "placement"} }},
	} {
		t.Run(name, func(t *testing.T) {
			h := adopted(t)
			in := lifecycle.FactoryReset{Call: ops, World: idle}
			c.edit(&in.World)
			err := h.refused(c.code, in)
			if d, ok := errors.AsType[*lifecycle.Detailed](err); c.count > 0 && (!ok || d.Count != c.count) {
				t.Errorf("no count of %d: %v", c.count, err)
			}
		})
	}
	h := newHost(t, func(p *lifecycle.Policy) { p.Enrollment = "" })
	h.do(h.register())
	h.do(h.approve()).refused(sm.Conflict, lifecycle.FactoryReset{Call: ops, World: idle}) // no image
}

// REG-13, JOINT-3: delete is disable-first.
func TestDeleteRow(t *testing.T) {
	each(t, func(h *host, s registration.State) {
		in := lifecycle.DeleteRow{Call: ops, World: idle}
		switch s {
		case registration.Absent:
			h.idles(in)
			in.World.Missing = "placement"
			h.idles(in)
		case registration.Approved, registration.SettingUp:
			h.refused(sm.Conflict, in)
		default:
			h.do(in).reg(registration.Absent).told("registration.absent", lifecycle.NodeDeleted).idles(in)
			if h.Node.Live() || h.Node.Claims != (lifecycle.Claims{}) {
				h.t.Errorf("no tombstone: %+v", h.Node)
			}
		}
	})
}

// REG-13: a row once approved takes node, keys and boot records along.
func TestDeleteOnceApproved(t *testing.T) {
	h := adopted(t).do(lifecycle.Disable{Call: ops})
	h.refused(sm.InvalidState, lifecycle.DeleteRow{Call: ops, World: idle}) // PROV-8: cordon first
	h.do(lifecycle.Schedule{Call: ops, On: schedule.Cordon})

	busy := idle
	busy.Open = 2
	err := h.refused(sm.Conflict, lifecycle.DeleteRow{Call: ops, World: busy})
	if d, ok := errors.AsType[*lifecycle.Detailed](err); !ok || d.Count != 2 {
		t.Errorf("no count: %v", err)
	}
	busy.Missing = "placement"
	h.refused(sm.Unavailable, lifecycle.DeleteRow{Call: ops, World: busy})

	h.do(lifecycle.DeleteRow{Call: ops, World: idle}).told(lifecycle.NodeDeleted, lifecycle.IdentityRevoked)
	h.boot(nicA, netboot.Decommissioned) // bound
	h.boot(nicB, netboot.Decommissioned) // unbound, with one of its MACs
	if h.Node.Deleted != h.now {
		t.Errorf("deleted at %s", h.Node.Deleted)
	}
}

// REG-13: another machine's record is not its to decommission.
func TestDeleteLeavesOthersRecords(t *testing.T) {
	h := awaiting(t)
	h.Node.NICs = slices.Clone(h.Node.NICs)
	h.Node.NICs[1].Owner = netboot.Owner{Node: string(another)}
	h.do(lifecycle.DeleteRow{Call: ops, World: idle}).boot(nicA, netboot.Decommissioned)
	h.boot(nicB, netboot.Enrolling)
}

// EDGE-8: a row that was never approved, on a node with another axis, goes
// alone; once approved is always once approved.
func TestDeleteNeverApproved(t *testing.T) {
	h := newHost(t).do(lifecycle.Sighted{MAC: nicA}, lifecycle.Join{NewID: aNode, Claims: lifecycle.Claims{Server: uuid}, Certificate: "c"})
	h.do(h.register())
	busy := idle
	busy.Open = 1
	h.do(lifecycle.DeleteRow{Call: ops, World: busy}).reg(registration.Absent).prov(provision.Adopting).boot(nicA, netboot.Enrolling)
	if !h.Node.Live() || len(h.Node.Identity.Live) != 1 {
		t.Errorf("the node did not stay: %+v", h.Node)
	}

	h = adopted(t).do(lifecycle.FactoryReset{Call: ops, World: idle}, lifecycle.DeleteRow{Call: ops, World: idle})
	h.boot(nicA, netboot.Decommissioned)
	h = disabled(t)
	h.do(h.register(), lifecycle.DeleteRow{Call: ops, World: idle})
	if h.Node.Live() {
		t.Error("a re-armed row counts as never approved")
	}
}

// EDGE-9: a run or a setup that holds the machine is named; the node's own
// acceptance run is ended by the delete.
func TestDeleteWhileHeld(t *testing.T) {
	h := approved(t).do(lifecycle.Listed{Device: "dev"}, lifecycle.RunRequest{Action: run.Attest}, lifecycle.RunBegin{World: idle, Pin: true}, lifecycle.Disable{Call: ops})
	err := h.refused(sm.Conflict, lifecycle.DeleteRow{Call: ops, World: idle})
	if d, ok := errors.AsType[*lifecycle.Detailed](err); !ok || d.Holder.Holder != lifecycle.OwnerRun {
		t.Errorf("the refusal names no run: %v", err)
	}

	h = approved(t).do(lifecycle.SessionOpened{Epoch: 1, Gateway: "gw"}, lifecycle.Disable{Call: ops}).prov(provision.Adopting)
	epoch := h.Node.Prov.Epoch
	h.do(lifecycle.DeleteRow{Call: ops, World: idle}).prov(provision.Absent)
	h.refused(sm.NotFound, lifecycle.Report{Epoch: epoch, OK: true, World: idle})

	h = newHost(t).do(lifecycle.Join{NewID: aNode, Claims: lifecycle.Claims{Server: uuid}, Certificate: "c"})
	h.do(h.announce(), h.reported(false))
	h.do(h.approveSetup())
	err = h.refused(sm.Conflict, lifecycle.DeleteNode{Call: ops, World: idle})
	if d, ok := errors.AsType[*lifecycle.Detailed](err); !ok || d.Holder.Holder != lifecycle.Setup {
		t.Errorf("the refusal names no setup: %v", err)
	}
}

// JOINT-5, PROV-20: a node's delete shuts its row and frees its claims; the
// row waits without a node, and the next register makes a new one.
func TestDeleteNode(t *testing.T) {
	h := adopted(t)
	h.refused(sm.InvalidState, lifecycle.DeleteNode{Call: ops, World: idle})
	h.do(lifecycle.Schedule{Call: ops, On: schedule.Cordon}, lifecycle.DeleteNode{Call: ops, World: idle}).reg(registration.Disabled)
	if h.Node.Live() || h.Node.Claims != (lifecycle.Claims{}) || len(h.Node.Identity.Live) != 0 {
		t.Errorf("tombstone: %+v", h.Node)
	}
	if got := h.revoked(); len(got) != 4 {
		t.Errorf("revoked %v", got)
	}
	h.boot(nicA, netboot.Decommissioned)
	h.idles(lifecycle.DeleteNode{Call: ops, World: idle})
	in := h.register()
	h.refused(sm.NotFound, in) // a tombstone is no machine

	row, epoch := h.Node.Reg, h.Site.Epoch
	h.Node = lifecycle.Fresh() // as a store reads the row alone
	h.Node.Reg = row
	in.NewID = another
	h.do(in).reg(registration.Pending)
	if h.Node.ID != another || !h.Node.Reg.OnceApproved || h.Site.Epoch != epoch {
		t.Errorf("%+v", h.Node)
	}

	h.Node = lifecycle.Fresh() // REG-12: so does a reset
	h.Node.Reg = row
	h.refused(sm.InvalidInput, lifecycle.FactoryReset{Call: ops, World: idle})
	h.do(lifecycle.FactoryReset{Call: ops, World: idle, NewID: another}).reg(registration.AwaitingSetup)
	if h.Node.ID != another || h.Node.Claims.Server != uuid || !h.Node.Reg.OnceApproved {
		t.Errorf("%+v", h.Node)
	}

	live := newHost(t).do(lifecycle.Join{NewID: another, Claims: lifecycle.Claims{Server: uuid}, Certificate: "c"})
	live.Node.Reg = row // EDGE-24: the live node that holds the UUID takes the row
	live.do(live.register()).reg(registration.Pending)
	if live.Node.ID != another || !live.Node.Reg.Rearmed {
		t.Errorf("%+v", live.Node)
	}

	h = awaiting(t).do(lifecycle.Listed{Device: "dev"})
	h.do(lifecycle.DeleteNode{Call: ops, World: idle, Gone: true}).reg(registration.Absent)
}

// JOINT-6: retirement by either axis takes identity, records and row.
func TestRetiredJoint(t *testing.T) {
	h := retiredDevice(t).reg(registration.Disabled).told("registration.disabled", lifecycle.IdentityRevoked)
	if len(h.revoked()) != 1 {
		t.Errorf("revoked %v", h.revoked())
	}
	retiredMetal(t).boot(nicA, netboot.Decommissioned)
}

// EDGE-5: retirement takes a setup over: it ends as failed with a constant
// reason, its epoch is dead, and nothing is written before confirmed off.
func TestRetirementTakesASetup(t *testing.T) {
	h := awaiting(t).do(lifecycle.Listed{Device: "dev"})
	h.do(h.approveSetup())
	late := h.drain()
	h.do(lifecycle.RetireDevice{Serial: "disk-1"}).reg(registration.AwaitingSetup)
	if h.Node.Reg.LastError != registration.ReasonPreempted || h.Node.Grant.Writing != "" {
		t.Errorf("%+v, grant %+v", h.Node.Reg, h.Node.Grant)
	}
	if got := h.revoked(); len(got) != 4 {
		t.Errorf("revoked %v", got)
	}
	h.refused(sm.InvalidState, late)
	h.do(lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch})
	if h.Node.Grant.Writing != lifecycle.WriteWipe {
		t.Errorf("grant %+v", h.Node.Grant)
	}
	h.do(lifecycle.RetireReport{On: run.Wiped, Epoch: h.Node.Run.Retire.Epoch})
	h.do(lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch})
	h.do(lifecycle.RetireReport{On: run.Evicted, Epoch: h.Node.Run.Retire.Epoch}, lifecycle.RetireReport{On: run.Cleaned}).reg(registration.Absent)
}

// JOINT-9: each revocation ends every certificate and raises the generation.
func TestRevokeIdentity(t *testing.T) {
	h := adopted(t).do(lifecycle.Join{Certificate: "c1"}, lifecycle.Join{Certificate: "c2"})
	g := h.Node.Identity.Generation
	h.do(lifecycle.RevokeIdentity{Call: ops}).told(lifecycle.IdentityRevoked, lifecycle.CertificateEnded, lifecycle.SessionEnded)
	h.refused(sm.Denied, lifecycle.Renew{Generation: g, Serial: "c2", Next: "c3"})
	h.do(lifecycle.RevokeIdentity{Call: ops})
	if h.Node.Identity.Generation != g+2 {
		t.Errorf("generation %d after two calls, was %d", h.Node.Identity.Generation, g)
	}
	newHost(t).refused(sm.NotFound, lifecycle.RevokeIdentity{Call: ops})
}

// EDGE-15: a stale version is a conflict even where nothing would change.
func TestVersions(t *testing.T) {
	h := disabled(t)
	old := ops
	old.Version = h.Node.Version - 1
	h.refused(sm.Conflict, lifecycle.Disable{Call: old})
	h.refused(sm.Conflict, lifecycle.FactoryReset{Call: old, World: idle})
	h.refused(sm.Conflict, lifecycle.DeleteRow{Call: old, World: idle})
	h.refused(sm.InvalidState, lifecycle.Approve{Call: old}) // the state comes first
	now := ops
	now.Version = h.Node.Version
	h.idles(lifecycle.Disable{Call: now})
	v := h.Node.Version
	if h.do(lifecycle.FactoryReset{Call: now, World: idle}); h.Node.Version != v+1 {
		t.Errorf("version %d after %d", h.Node.Version, v)
	}
	gone := newHost(t)
	gone.refused(sm.Conflict, lifecycle.DeleteRow{Call: now})
}
