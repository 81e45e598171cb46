package lifecycle_test

import (
	"slices"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// RUN-4, DISK-3: a serial that the owner puts right before anything was written
// is the one that the wipe's grant names.
func TestRetirementTakesTheSerialPutRight(t *testing.T) {
	h := brunning(t, run.Attest).do(lifecycle.RetireDevice{Serial: "wrong"})
	h.do(lifecycle.RetireDevice{Serial: "right"}).told("run.serial")
	h.idles(lifecycle.RetireDevice{Serial: "right"})
	h.idles(lifecycle.RetireDevice{})
	h.do(lifecycle.OffConfirmed{Epoch: lifecycle.SlotOf(&h.Node).Epoch})
	if !slices.Equal(h.Node.Grant.Serials, []string{"right"}) {
		t.Errorf("the grant names %v", h.Node.Grant.Serials)
	}
	h.idles(lifecycle.RetireDevice{Serial: "late"}) // the wipe has begun
}

// RUN-1, MACH-7: what waits behind a run can be taken back, and then never runs.
func TestCancelTakesBackWhatWaitsBehind(t *testing.T) {
	h := brunning(t, run.Attest).do(lifecycle.RunRequest{Action: run.Wipe}, lifecycle.RunCancel{})
	h.refused(sm.InvalidState, lifecycle.RunCancel{})
	h.do(lifecycle.RunReport{Epoch: h.Node.Run.Epoch, OK: true})
	if h.Node.Run.State != run.Succeeded {
		t.Errorf("the run is %s", h.Node.Run.State)
	}
}

// PROV-2: a machine that recovers to deployed, or was released unwiped, is the
// provision axis' own in failed too.
func TestDisksOfAFailedMachine(t *testing.T) {
	h := bway("deployed", t)
	none := verb(provision.Undeploy)
	none.Wipe = provision.WipeNone
	h.do(none)
	h.do(h.reported(false)).prov(provision.Failed)
	h.do(lifecycle.Listed{Device: "d"}, lifecycle.RunRequest{Action: run.Wipe})
	h.refused(sm.Conflict, lifecycle.RunBegin{World: idle, Serial: "s"})
}

// PROV-13: nobody's machine is enrolled over his allocation.
func TestEnrollAsksForAllocations(t *testing.T) {
	h := adopted(t)
	h.do(lifecycle.FactoryReset{Call: ops, World: idle})
	in := lifecycle.EnrollMetal{Call: ops, Metal: lifecycle.Metal{BMC: "b-9", ReportsMACs: true}, World: lifecycle.World{Open: 2}}
	h.refused(sm.Conflict, in)
	in.World = lifecycle.World{Missing: "placement"}
	h.refused(sm.Unavailable, in)
}

// EDGE-20: the holder takes no record that enrolls on its own.
func TestEntryTakesNoStrangersRecord(t *testing.T) {
	h := bway("deploying", t)
	h.do(lifecycle.Sighted{MAC: nicB})
	h.refused(sm.Conflict, lifecycle.SetEntry{Epoch: h.Node.Prov.Epoch, MAC: nicB, Image: image})
}

// PROV-20, EDGE-24: only a proof of its UUID gives a machine a row that was left.
func TestJoinWithoutUUIDTakesNoRow(t *testing.T) {
	h := disabled(t)
	row := lifecycle.State{Node: lifecycle.Node{Schema: lifecycle.Schema, Reg: h.Node.Reg, Prov: provision.New(), Run: run.New(), Sched: h.Node.Sched}, Site: h.Site}
	_, err := lifecycle.Step(row, lifecycle.Join{NewID: aNode, Claims: lifecycle.Claims{EK: "ek"}, Certificate: "c"}, h.now)
	if err == nil {
		t.Error("the row has a node")
	}
}

// DISK-2: of two disks with one serial none can be approved.
func TestPlanNamesNoAmbiguousDisk(t *testing.T) {
	h := newHost(t)
	in := h.announce()
	in.Inventory.Serials = append(slices.Clone(in.Inventory.Serials), in.Inventory.Serials...)
	h.do(in).reg(registration.AwaitingSetup)
	h.refused(sm.InvalidInput, h.approveSetup())
}

// PROV-7, EDGE-5: no power verb until a retirement that took over has its off.
func TestPowerWaitsForOff(t *testing.T) {
	h := bway("enrolling", t).do(verb(provision.Retire))
	h.do(h.reported(false)).prov(provision.Failed)
	h.refused(sm.Conflict, lifecycle.Power{Call: ops, World: lifecycle.World{Serviced: true}, Request: "r", Action: "on"})
}
