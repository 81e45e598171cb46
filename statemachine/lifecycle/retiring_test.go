package lifecycle_test

import (
	"slices"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// bretiring is a host that was adopted, and so never inspected, in retirement.
func bretiring(t testing.TB) *host {
	t.Helper()
	return bmanaged(adopted(t)).do(verb(provision.Retire)).prov(provision.Retiring)
}

// EDGE-10, MACH-7, PROV-19: a retirement without inventory may write no disk,
// and has no evidence, until its ramdisk has told what there is.
func TestRetirementLearnsInventory(t *testing.T) {
	h := bretiring(t)
	if h.Node.Grant.Writing != "" {
		t.Errorf("a grant of no known disks: %+v", h.Node.Grant)
	}
	h.refused(sm.InvalidInput, h.wiped())
	late := h.inspected()
	late.Epoch--
	h.refused(sm.Conflict, late)
	h.do(h.inspected()).told("node.provision.inspected", lifecycle.GrantMade).idles(h.inspected())
	if g := h.Node.Grant; g.Writing != lifecycle.WriteRetire || !slices.Equal(g.Serials, []string{"disk-1"}) || g.Inventory != [32]byte{3} || g.Approver != ops.By {
		t.Errorf("%+v", g)
	}
	other := h.inspected()
	other.Inventory = lifecycle.Inventory{Digest: provision.Hash{4}, Serials: []string{"disk-1", "disk-2"}}
	h.refused(sm.Conflict, other)
	in := h.reported(true)
	in.World.Off = true
	h.do(h.wiped(), in).prov(provision.Retired)
	h.refused(sm.Conflict, lifecycle.Inspected{Epoch: h.Node.Prov.Epoch, Inspection: other.Inspection})
}

// A machine without disks is proved by evidence that names none.
func TestRetirementWithoutDisks(t *testing.T) {
	h := bretiring(t)
	found := h.inspected()
	found.Inventory.Serials = nil
	h.do(found)
	in := h.reported(true)
	in.World.Off = true
	h.do(h.wiped(), in).prov(provision.Retired)
}

// BOOT-11, DISK-3, PROV-19: what is another machine, or names disks that no
// evidence could tell apart, fails the retirement, and nothing of it is kept.
func TestRetirementOfAnImpostor(t *testing.T) {
	for name, edit := range map[string]func(*lifecycle.Inspected){
		"another UUID":  func(in *lifecycle.Inspected) { in.Server = registration.ServerID{9} },
		"a NIC is gone": func(in *lifecycle.Inspected) { in.MACs = []netboot.MAC{nicB} },
		"no inventory":  func(in *lifecycle.Inspected) { in.Inventory = lifecycle.Inventory{} },
		"empty serial":  func(in *lifecycle.Inspected) { in.Inventory.Serials = []string{"disk-1", ""} },
	} {
		h := bretiring(t)
		in := h.inspected()
		edit(&in)
		h.do(in).prov(provision.Failed).idles(in)
		if p := h.Node.Prov; p.FailedFrom != provision.Retiring || h.Node.Inventory.Digest != (provision.Hash{}) || h.Node.Sched.Service != "maintenance" {
			t.Errorf("%s: %+v, %+v", name, p, h.Node.Inventory)
		}
		h.refused(sm.Conflict, h.inspected())
	}
	h := enrolledMetal(t).do(verb(provision.Retire)) // took itself over, and is not seen off yet
	h.refused(sm.Conflict, h.inspected())
	h.do(lifecycle.OffConfirmed{Epoch: h.Node.Prov.Epoch}, h.inspected())
	for _, way := range []string{"ready", "deployed", "inspecting", "releasing", "failed deploying", "adopted"} {
		h := bway(way, t)
		h.refused(sm.Conflict, h.inspected())
	}
	bad := h.inspected()
	bad.Inventory.Serials = []string{"\x00"}
	h.refused(sm.InvalidInput, bad)
	newHost(t).refused(sm.NotFound, bad)
}

// PROV-19, DISK-3: inspecting's serials are one disk's each, whoever reports.
func TestInspectionSerials(t *testing.T) {
	for name, serials := range map[string][]string{
		"empty": {"disk-1", ""}, "doubled": {"disk-2", "disk-1", "disk-2"}, "too many": make([]string, lifecycle.MaxSerials+1),
	} {
		for _, agents := range []bool{true, false} {
			h := bway("inspecting", t)
			in := h.reported(true)
			in.World.Agentless = !agents
			in.Inspected = &lifecycle.Inspection{Server: uuid, MACs: []netboot.MAC{nicA}, Inventory: lifecycle.Inventory{Digest: provision.Hash{1}, Serials: serials}}
			h.do(in).prov(provision.Failed).idles(in)
			if h.Node.Inventory.Digest != (provision.Hash{}) {
				t.Errorf("%s, agents %t: kept %+v", name, agents, h.Node.Inventory)
			}
		}
	}
	h := bway("inspecting", t)
	in := h.reported(true)
	in.World.Agentless = true
	in.Inspected = &lifecycle.Inspection{Inventory: lifecycle.Inventory{Digest: provision.Hash{1}, Serials: []string{"disk-1", "disk-2"}}}
	if h.do(in).prov(provision.Commissioning); len(h.Node.Inventory.Serials) != 2 { // out of band, without UUID and NICs
		t.Errorf("%+v", h.Node.Inventory)
	}
}

// EDGE-10: without agents nothing may be written, in commissioning or retiring.
func TestNoGrantWithoutAgents(t *testing.T) {
	alone := func(on provision.Kind) lifecycle.Verb {
		v := verb(on)
		v.World.Agentless = true
		return v
	}
	for _, on := range []provision.Kind{provision.Provide, provision.Retire} {
		if h := ready(t).do(alone(on)); h.Node.Grant.Writing != "" || h.Node.Prov.Wipe != "" {
			t.Errorf("%s: %+v, wipes by %q", on, h.Node.Grant, h.Node.Prov.Wipe)
		}
	}
	h := ready(t).do(alone(provision.Retire))
	in := h.reported(true)
	in.World.Agentless, in.World.Off = true, true
	h.do(in).prov(provision.Retired)
}

// RUN-9: the inventory learns that its device is gone, whichever axis retired it.
func TestRetiredDeviceGoesOffline(t *testing.T) {
	h := ready(t).do(lifecycle.Listed{Device: "dev-1"}, verb(provision.Retire))
	in := h.reported(true)
	in.World.Off = true
	h.do(h.wiped(), in).prov(provision.Retired)
	if got := bneeds(h); !slices.Equal(got, []string{lifecycle.NeedOffline + " dev-1"}) {
		t.Errorf("needs %v", got)
	}
	if got := bneeds(retiredMetal(t)); len(got) > 0 {
		t.Errorf("no device, and needs %v", got)
	}
	h.do(lifecycle.DeleteNode{Call: ops, World: idle})
	if got := bneeds(h); len(got) > 0 {
		t.Errorf("deleted, and needs %v", got)
	}
}
