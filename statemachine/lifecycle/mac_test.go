package lifecycle_test

import (
	"slices"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// propose is the proposal of mac that a BMC's power cycle proved.
func propose(mac netboot.MAC) lifecycle.Propose {
	return lifecycle.Propose{Proposal: lifecycle.Proposal{MAC: mac, Cycled: true}}
}

// unowned puts a record that is nobody's into the machine's reach.
func (h *host) unowned(b netboot.Record) *host {
	h.Node.NICs = append(slices.Clip(h.Node.NICs), b)
	if b.State == netboot.Discovered {
		h.Site.Discovered++
	}
	return h
}

// BOOT-11, BOOT-15, EDGE-20: a machine known by its UUID alone boots nothing by
// an entry, and does not go on, before its MAC is confirmed.
func TestNothingBeforeTheMAC(t *testing.T) {
	h := byUUID(t)
	h.refused(sm.Conflict, h.entry(nicA)) // seen with its UUID, and still a stranger's
	h.refused(sm.Conflict, h.entry(nicB)) // never seen
	done := h.reported(true)
	h.refused(sm.Conflict, done)
	if slot := lifecycle.SlotOf(&h.Node); h.prov(provision.Enrolling).Node.Prov.Ended != "" || slot.Epoch != done.Epoch {
		t.Errorf("the attempt did not stay open: %+v", h.Node.Prov)
	}
	h.do(lifecycle.ConfirmMAC{Call: ops, MAC: nicA}, h.entry(nicA), done).prov(provision.Inspecting)

	failed := byUUID(t)
	failed.do(failed.reported(false)).prov(provision.Failed) // a failure needs no MAC
	told := newHost(t).do(lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: lifecycle.Metal{BMC: "10.9.0.1", ReportsMACs: true}})
	told.do(told.entry(nicA), told.reported(true)).prov(provision.Inspecting) // its driver knows the NICs
}

// BOOT-11: a MAC becomes a candidate only if it was seen with the machine's own
// product UUID, in either byte order.
func TestCandidateHasTheProduct(t *testing.T) {
	for name, c := range map[string]struct {
		server  registration.ServerID
		product netboot.ServerID
		code    sm.Code
	}{
		"the same":          {uuid, netboot.ServerID(uuid), ""},
		"the other order":   {uuid, netboot.ServerID(uuid.Swapped()), ""},
		"another":           {uuid, netboot.ServerID{9, 8, 7}, sm.Conflict},
		"none sent":         {uuid, netboot.ServerID{}, sm.Conflict},
		"the node has none": {registration.ServerID{}, netboot.ServerID(uuid), sm.Conflict},
		"neither has one":   {registration.ServerID{}, netboot.ServerID{}, sm.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			for _, trusted := range []bool{false, true} {
				h := byUUID(t)
				h.Node.Claims.Server = c.server
				h.unowned(netboot.Record{At: netboot.At{State: netboot.Discovered}, MAC: nicB, Product: c.product})
				in := propose(nicB)
				if in.Trusted = trusted; c.code != "" {
					h.refused(c.code, in)
					continue
				}
				h.do(in)
			}
		})
	}
}

// BOOT-11: the mark of a candidate goes once its machine waits for no MAC, so
// that the MAC is anybody's again.
func TestCandidateIsDismissed(t *testing.T) {
	for name, end := range map[string]func(h *host){
		"another MAC confirmed": func(h *host) { h.do(lifecycle.ConfirmMAC{Call: ops, MAC: nicB}) },
		"deleted":               func(h *host) { h.do(lifecycle.DeleteNode{Call: ops, World: idle}) },
		"retired by its owner": func(h *host) {
			h.do(h.reported(false), lifecycle.Listed{Device: "dev-1"}, lifecycle.RetireDevice{Serial: "disk-1"})
			h.do(h.stepped(run.Wiped), lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch})
			h.do(h.stepped(run.Evicted), lifecycle.RetireReport{On: run.Cleaned})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := byUUID(t).do(propose(nicA))
			if end(h); h.boot(nicA, netboot.Discovered).Candidate != "" {
				t.Errorf("%+v", h.record(nicA))
			}
			h.told("boot.discovered").do(verbOn(nicA, netboot.Enroll)).boot(nicA, netboot.Enrolling)
		})
	}
	h := byUUID(t).do(propose(nicA)).unowned(netboot.Record{At: netboot.At{State: netboot.Discovered}, MAC: nicB, Candidate: string(another)})
	h.do(lifecycle.ConfirmMAC{Call: ops, MAC: nicA})
	if h.record(nicB).Candidate != string(another) {
		t.Error("another machine's candidate was dismissed")
	}
}

// BOOT-14: an entry is set only by an attempt at a step that boots, and goes
// when that step ends, though the attempt's holder stays.
func TestEntryNeedsABootingStep(t *testing.T) {
	entry := func(h *host) lifecycle.SetEntry {
		return lifecycle.SetEntry{Epoch: lifecycle.SlotOf(&h.Node).Epoch, MAC: nicA, Image: "ramdisk"}
	}
	running := bway("adopting running", t) // an acceptance run boots nothing
	running.refused(sm.Conflict, entry(running))

	h := bdevice(t).do(lifecycle.RetireDevice{Serial: "disk-1"})
	h.do(entry(h), h.stepped(run.Wiped)).runs(run.Idle, run.AwaitingOff)
	if b := h.boot(nicA, netboot.Discovered); b.Entry != (netboot.Entry{}) {
		t.Errorf("wiped, and still boots %+v", b.Entry)
	}
	h.refused(sm.Conflict, entry(h))

	again := bdevice(t).do(lifecycle.RetireDevice{Serial: "disk-1"})
	again.do(entry(again), again.stepped(run.WipeFailed)).runs(run.Idle, run.Interrupting)
	if again.record(nicA).Entry != (netboot.Entry{}) {
		t.Error("the wipe failed, and its entry stays")
	}
	again.refused(sm.Conflict, entry(again))
	for name, life := range map[string]func(testing.TB) *host{"setup": settingUpHost, "run": func(t testing.TB) *host { return brunning(t, run.Attest) }, "workflow": enrolledMetal} {
		h := life(t)
		if h.do(entry(h)); h.record(nicA).Entry.Image != "ramdisk" {
			t.Errorf("%s: %+v", name, h.record(nicA))
		}
	}
}

// EDGE-15: the record's state is told before the inputs are looked at.
func TestEntryOrder(t *testing.T) {
	h := enrolledMetal(t).unowned(netboot.Record{At: netboot.At{State: netboot.Decommissioned}, MAC: nicB})
	in := h.entry(nicB)
	in.Image = "../x"
	h.refused(sm.InvalidState, in)
}

// PROV-14: a host that came by itself has no BMC, and so no MAC to confirm.
func TestMACsNeedABMC(t *testing.T) {
	h := adopted(t).do(lifecycle.Sighted{MAC: nicB})
	h.refused(sm.NotFound, lifecycle.ConfirmMAC{Call: ops, MAC: nicB})
	h.refused(sm.NotFound, propose(nicB))
	bdevice(t).refused(sm.NotFound, lifecycle.ConfirmMAC{Call: ops, MAC: nicB})
}

// JOINT-6, REG-13: a retirement takes the machine's own records alone; a delete
// takes unbound ones that it announced along, but no other machine's candidate.
func TestWhatGoesAlong(t *testing.T) {
	mark := func(h *host, b netboot.Record) *host {
		h.Node.NICs = slices.DeleteFunc(slices.Clone(h.Node.NICs), func(o netboot.Record) bool { return o.MAC == nicB })
		b.MAC = nicB
		return h.unowned(b)
	}
	free := netboot.Record{At: netboot.At{State: netboot.Discovered}}
	candidate := free
	candidate.Candidate = string(another)
	for name, c := range map[string]struct {
		b    netboot.Record
		want netboot.State
	}{"unbound": {free, netboot.Decommissioned}, "another's candidate": {candidate, netboot.Discovered}} {
		t.Run(name, func(t *testing.T) {
			h := mark(approved(t), c.b)
			h.do(lifecycle.Disable{Call: ops}, lifecycle.DeleteRow{Call: ops, World: idle}).boot(nicB, c.want)

			d := mark(approved(t), c.b).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RetireDevice{Serial: "disk-1"})
			d.do(d.stepped(run.Wiped))
			d.do(lifecycle.OffConfirmed{Epoch: d.Node.Run.Retire.Epoch}).wait(10*time.Minute).do(lifecycle.Expire{}, lifecycle.RetireReport{On: run.Cleaned})
			d.boot(nicB, netboot.Discovered)
		})
	}
}
