package lifecycle_test

import (
	"slices"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// SET-14, SET-17, SET-18: what the page showed is what is approved. An announce
// that came between the page and the click has changed one thing of it.
func TestApprovalPinsThePage(t *testing.T) {
	for name, edit := range map[string]func(*lifecycle.Announce){
		"another agent's key": func(in *lifecycle.Announce) { in.AgentKey[0]++ },
		"a stock agent":       func(in *lifecycle.Announce) { in.AgentKey = registration.Hash{} },
		"another NIC seen":    func(in *lifecycle.Announce) { in.Inventory.Seen = []registration.MAC{registration.MAC(nicB)} },
		"one more NIC seen": func(in *lifecycle.Announce) {
			in.Inventory.Seen = []registration.MAC{registration.MAC(nicA), registration.MAC(nicB)}
		},
		"no NIC seen": func(in *lifecycle.Announce) { in.Inventory.Seen = nil },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, func(p *lifecycle.Policy) { p.ClearBundles = true }).do(lifecycle.Sighted{MAC: nicA})
			h.do(h.announce())
			page := h.approveSetup()
			ann := h.announce()
			edit(&ann)
			h.do(ann).refused(sm.Conflict, page)
			if r := h.reg(registration.AwaitingSetup).Node.Reg; r.Bound.ID != "" || r.Bundle.Sealed != "" || h.Node.Grant.Writing != "" {
				t.Errorf("something was minted: %+v, grant %+v", r, h.Node.Grant)
			}
			h.do(h.approveSetup()).reg(registration.SettingUp) // the page as it is now
		})
	}
}

// SET-18: another machine's tombstone has given its MACs up (MACH-1).
func TestDecommissionedMACIsNobodys(t *testing.T) {
	h := awaiting(t)
	h.Node.NICs = slices.Clone(h.Node.NICs)
	b := &h.Node.NICs[slices.IndexFunc(h.Node.NICs, func(b netboot.Record) bool { return b.MAC == nicA })]
	b.Owner = netboot.Owner{Node: string(another)}
	h.refused(sm.Conflict, h.approveSetup())
	b.State = netboot.Decommissioned
	h.do(h.approveSetup()).reg(registration.SettingUp)
}

// SET-4, DISK-3: a plan names 1 to 1,024 disks by their serials, each once.
func TestPlannedDisks(t *testing.T) {
	for name, serials := range map[string][]string{
		"none": nil, "one twice": {"disk-1", "disk-1"}, "one without a serial": {"disk-1", ""}, "one that is not there": {"disk-1", "disk-9"},
		"too many": slices.Repeat([]string{"disk-1"}, lifecycle.MaxSerials+1),
	} {
		t.Run(name, func(t *testing.T) {
			h := awaiting(t)
			in := h.approveSetup()
			in.Realized.Serials = serials
			h.refused(sm.InvalidInput, in)
		})
	}
	h := awaiting(t)
	in := h.approveSetup()
	in.Realized.Serials = []string{"disk-2", "disk-1"}
	if h.do(in); !slices.Equal(h.Node.Grant.Serials, in.Realized.Serials) {
		t.Errorf("granted %v", h.Node.Grant.Serials)
	}
}
