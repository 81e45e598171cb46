package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// bdevice is a device of the inventory of which nothing was asked.
func bdevice(t testing.TB) *host {
	t.Helper()
	return newHost(t).do(lifecycle.Listed{NewID: aNode, Device: "dev-1"})
}

// brunning has a run of the action under way.
func brunning(t testing.TB, action run.Action) *host {
	t.Helper()
	return bdevice(t).do(lifecycle.RunRequest{Action: action}, bbegin())
}

func bbegin() lifecycle.RunBegin { return lifecycle.RunBegin{World: idle, Serial: "disk-1", Pin: true} }

func (h *host) ran(ok bool) lifecycle.RunReport {
	return lifecycle.RunReport{Epoch: h.Node.Run.Epoch, OK: ok, Why: "attestation"}
}

func (h *host) stepped(on run.RetireKind) lifecycle.RetireReport {
	return lifecycle.RetireReport{On: on, Epoch: h.Node.Run.Retire.Epoch}
}

// runs demands the state of the run, and of the retirement.
func (h *host) runs(want run.State, step run.RetireStep) *host {
	h.t.Helper()
	if r := h.Node.Run; r.State != want || r.Retire.State != step {
		h.t.Fatalf("run is %s, retirement %s; want %s, %s", r.State, r.Retire.State, want, step)
	}
	return h
}

// MACH-1, MACH-2: a device is one node, by whatever path it came first.
func TestListed(t *testing.T) {
	h := bdevice(t).idles(lifecycle.Listed{Device: "dev-1"})
	if h.Node.Prov.State != provision.Absent || h.Node.Claims.Device != "dev-1" {
		t.Errorf("%+v", h.Node)
	}
	h.refused(sm.Conflict, lifecycle.Listed{Device: "dev-2"})
	h.refused(sm.Conflict, lifecycle.Listed{Device: "dev-1", Found: []lifecycle.NodeID{another}})
	newHost(t).refused(sm.InvalidInput, lifecycle.Listed{NewID: aNode})
	newHost(t).refused(sm.InvalidInput, lifecycle.Listed{NewID: aNode, Device: "\xff"})
	for _, in := range []lifecycle.Input{lifecycle.RunRequest{Action: run.Wipe}, bbegin(), lifecycle.RetireDevice{Serial: "d"}, lifecycle.RunReport{}} {
		newHost(t).refused(sm.NotFound, in)
		approved(t).refused(sm.NotFound, in) // a node, and no device
	}
}

// RUN-1: one unfinished run; the same action is consumed, another waits for
// the end and is journaled once.
func TestRunRequests(t *testing.T) {
	h := bdevice(t).do(lifecycle.RunRequest{Action: run.Wipe}).told(lifecycle.RunRequested, "run.waiting").runs(run.Waiting, run.None)
	if lifecycle.SlotOf(&h.Node).Holder != lifecycle.Free {
		t.Error("a waiting run holds the machine (MACH-2)")
	}
	h.idles(lifecycle.RunRequest{Action: run.Wipe})
	h.do(bbegin()).runs(run.Running, run.None).idles(lifecycle.RunRequest{Action: run.Wipe})
	h.do(lifecycle.RunRequest{Action: run.Attest}).told(lifecycle.RunPending).idles(lifecycle.RunRequest{Action: run.Attest})
	end := h.ran(true)
	h.do(end).told("run.succeeded", "run.waiting").runs(run.Waiting, run.None)
	if h.Node.Run.Action != run.Attest || h.Node.Run.Next != "" {
		t.Errorf("%+v", h.Node.Run)
	}
	h.idles(end)
	h.do(bbegin(), h.ran(true))
	bad := brunning(t, run.Wipe)
	bad.do(bad.ran(false)).runs(run.Failed, run.None)
	if bad.Node.Run.Reason != "attestation" {
		t.Errorf("%q", bad.Node.Run.Reason)
	}
	for range lifecycle.Needs(&bad.Node) {
		t.Error("a failed run is repeated by itself (RUN-9)")
	}
	bdevice(t).refused(sm.InvalidInput, lifecycle.RunRequest{Action: "paint"})
}

// RUN-3, RUN-4, RUN-10, PROV-13, MACH-3, MACH-7: what a run needs to begin,
// and what it may write.
func TestRunBegins(t *testing.T) {
	for _, c := range []struct {
		name   string
		action run.Action
		edit   func(*lifecycle.RunBegin)
		code   sm.Code
	}{
		{"provision", run.Provision, func(*lifecycle.RunBegin) {}, ""},
		{"wipe needs no pin", run.Wipe, func(in *lifecycle.RunBegin) { in.Pin = false }, ""},
		{"attest needs neither", run.Attest, func(in *lifecycle.RunBegin) { in.Pin, in.Serial, in.World.Open = false, "", 3 }, ""},
		{"no serial", run.Wipe, func(in *lifecycle.RunBegin) { in.Serial = "" }, sm.Conflict},
		{"no pin", run.Provision, func(in *lifecycle.RunBegin) { in.Pin = false }, sm.Conflict},
		{"allocated", run.Provision, func(in *lifecycle.RunBegin) { in.World.Open = 3 }, sm.Conflict},
		{"unsure", run.Provision, func(in *lifecycle.RunBegin) { in.World.Missing = "placement" }, sm.Unavailable},
	} {
		h := bdevice(t).do(lifecycle.RunRequest{Action: c.action})
		in := bbegin()
		if c.edit(&in); c.code != "" {
			h.refused(c.code, in)
			h.runs(run.Waiting, run.None)
			continue
		}
		h.do(in).runs(run.Running, run.None)
		g := h.Node.Grant
		if writes := c.action != run.Attest; (g.Writing != "") != writes || writes && (g.Approver != "inventory:dev-1" || len(g.Serials) != 1 || g.Serials[0] != "disk-1" || g.Epoch != h.Node.Run.Epoch) {
			t.Errorf("%s: grant %+v", c.name, g)
		}
		if want := c.action.Deadline(); !h.Node.Run.Deadline.Equal(h.now.Add(want)) {
			t.Errorf("%s: until %s (MACH-5)", c.name, h.Node.Run.Deadline)
		}
		if h.do(h.ran(true)); h.Node.Grant.Writing != "" {
			t.Errorf("%s: the grant outlived the run", c.name)
		}
	}
	waits := bdevice(t).do(lifecycle.RunRequest{Action: run.Wipe}, lifecycle.RunWaits{Why: "no serial"}).idles(lifecycle.RunWaits{Why: "no serial"})
	if waits.Node.Run.Reason != "no serial" {
		t.Errorf("the reason is %q (RUN-4)", waits.Node.Run.Reason)
	}
	if waits.do(bbegin()); waits.Node.Run.Reason != "" {
		t.Errorf("it runs, and waits for %q", waits.Node.Run.Reason)
	}
	held := settingUpHost(t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: run.Wipe})
	held.refused(sm.Conflict, bbegin())
	bdevice(t).refused(sm.InvalidState, bbegin())
	late := brunning(t, run.Attest)
	late.wait(30*time.Minute).do(lifecycle.Expire{}).runs(run.Failed, run.None)
	late.refused(sm.Conflict, late.ran(true)) // its end is decided
	late.idles(late.ran(false))
}

// RUN-2: a run without a record is adopted, never duplicated.
func TestRunFound(t *testing.T) {
	found := lifecycle.RunFound{On: run.FoundRunning, Action: run.Wipe, World: idle, Serial: "disk-1"}
	h := bwaits(run.Wipe)(t).do(found).told("run.adopted").runs(run.Running, run.None).idles(found)
	if h.Node.Grant.Serials[0] != "disk-1" {
		t.Errorf("%+v", h.Node.Grant)
	}
	bwaits(run.Attest)(t).do(lifecycle.RunFound{On: run.FoundSucceeded, Action: run.Attest}).runs(run.Succeeded, run.None)
	bwaits(run.Attest)(t).do(lifecycle.RunFound{On: run.FoundFailed, Action: run.Attest, Why: "late"}).runs(run.Failed, run.None)
	waits := bwaits(run.Attest)(t).do(lifecycle.RunRequest{Action: run.Provision}, lifecycle.RunFound{On: run.FoundSucceeded, Action: run.Attest}).told("run.succeeded")
	if waits.runs(run.Waiting, run.None).Node.Run.Action != run.Provision {
		t.Errorf("what waited is lost: %+v", waits.Node.Run)
	}
	unknown := found
	unknown.On = run.Begin
	bwaits(run.Wipe)(t).refused(sm.InvalidInput, unknown)
}

// bwaits is a device whose owner asked for action.
func bwaits(action run.Action) func(testing.TB) *host {
	return func(t testing.TB) *host { t.Helper(); return bdevice(t).do(lifecycle.RunRequest{Action: action}) }
}

// RUN-2, RUN-3, RUN-4, RUN-9, MACH-7, PROV-13: no grant comes of a run that
// nobody asked for, or that could not have begun.
func TestRunFoundNeedsItsRequest(t *testing.T) {
	found := lifecycle.RunFound{On: run.FoundRunning, Action: run.Wipe, World: idle, Serial: "disk-1", Pin: true}
	ended := lifecycle.RunFound{On: run.FoundSucceeded, Action: run.Wipe}
	failed := brunning(t, run.Wipe)
	for name, h := range map[string]*host{"idle": bdevice(t), "another waits": bwaits(run.Attest)(t), "failed": failed.do(failed.ran(false))} {
		h.idles(ended)
		h.refused(sm.Conflict, found)
		if h.Node.Grant.Writing != "" {
			t.Errorf("%s: grant %+v", name, h.Node.Grant)
		}
	}
	for _, lack := range []func(*lifecycle.RunFound){
		func(in *lifecycle.RunFound) { in.Serial = "" }, func(in *lifecycle.RunFound) { in.World.Open = 2 },
	} {
		in := found
		lack(&in)
		bwaits(run.Wipe)(t).refused(sm.Conflict, in)
	}
	in := found
	in.Action, in.Pin = run.Provision, false
	bwaits(run.Provision)(t).refused(sm.Conflict, in)
	in.Pin, in.World.Missing = true, "placement"
	bwaits(run.Provision)(t).refused(sm.Unavailable, in)
	settingUpHost(t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: run.Wipe}).refused(sm.Conflict, found)
	bwaits(run.Wipe)(t).do(lifecycle.RetireDevice{Serial: "disk-1"}).refused(sm.Conflict, found)
}

// RUN-1, EDGE-23: the owner takes back what waits, and nothing else.
func TestRunCancel(t *testing.T) {
	h := bwaits(run.Wipe)(t).do(lifecycle.RunRequest{Action: run.Attest}, lifecycle.RunCancel{}).told("run.idle").runs(run.Idle, run.None)
	if r := h.Node.Run; r.Action != "" || r.Next != "" {
		t.Errorf("%+v", r)
	}
	for _, h := range []*host{h, brunning(t, run.Wipe), bdevice(t).do(lifecycle.RetireDevice{Serial: "disk-1"})} {
		h.refused(sm.InvalidState, lifecycle.RunCancel{})
	}
	newHost(t).refused(sm.NotFound, lifecycle.RunCancel{})
	gone := lifecycle.DeleteNode{Call: ops, World: idle, Gone: true}
	d := bwaits(run.Wipe)(t)
	if r, ok := d.refused(sm.Conflict, gone).(*lifecycle.Refused); !ok || !strings.Contains(r.Next, "cancel") {
		t.Error("the refusal does not say what to do")
	}
	d.do(lifecycle.RunCancel{}, gone)
}

// EDGE-9, EDGE-23, MACH-2: a run that only waits holds no machine, and so keeps
// no host with a provision axis from its end.
func TestWaitingRunHoldsNoDelete(t *testing.T) {
	asked := func() *host {
		return adopted(t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: run.Wipe})
	}
	asked().do(bsched("cordon"), lifecycle.DeleteNode{Call: ops, World: idle}).told(lifecycle.NodeDeleted)
	row := lifecycle.DeleteRow{Call: ops, World: idle}
	asked().do(bsched("cordon"), lifecycle.Disable{Call: ops}, row).told(lifecycle.NodeDeleted)
	asked().do(bsched("cordon"), lifecycle.Disable{Call: ops}, bbegin()).refused(sm.Conflict, row)
}

// RUN-5, RUN-9, JOINT-6: the steps of a retirement, with a BMC and without.
func TestRetirement(t *testing.T) {
	h := approved(t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.Join{Certificate: "c-1"})
	h.Node.Claims.BMC = "10.9.0.1"
	h.do(h.reported(true), lifecycle.RunRequest{Action: run.Attest}) // accepted, and a request that waits
	in := lifecycle.RetireDevice{Serial: "disk-1", World: idle}
	h.do(in).runs(run.Idle, run.Wiping).idles(in)
	if g := h.Node.Grant; g.Writing != lifecycle.WriteWipe || len(g.Serials) != 1 || g.Serials[0] != "disk-1" || !h.Node.Run.Retire.Deadline.Equal(h.now.Add(24*time.Hour)) {
		t.Errorf("grant %+v", g)
	}
	h.refused(sm.Conflict, lifecycle.RunRequest{Action: run.Wipe})
	wiped := h.stepped(run.Wiped)
	h.do(wiped).runs(run.Idle, run.AwaitingOff).idles(wiped)
	h.refused(sm.Conflict, lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch, Word: true}) // it has a BMC
	h.refused(sm.Conflict, lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch + 1})
	h.do(lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch}).runs(run.Idle, run.Evicting)
	if !h.Node.Run.Retire.Deadline.Equal(h.now.Add(10 * time.Minute)) {
		t.Errorf("evicting until %s", h.Node.Run.Retire.Deadline)
	}
	h.wait(10*time.Minute).do(lifecycle.Expire{}).runs(run.Idle, run.Cleaning)
	h.do(lifecycle.RetireReport{On: run.Cleaned, Why: "pod-1 was left"}).runs(run.Idle, run.Offline).told("run.retirement.offline", "run.retirement.report", lifecycle.IdentityRevoked)
	h.reg(registration.Disabled).prov(provision.Absent)
	if len(h.Node.Identity.Live) > 0 {
		t.Errorf("%+v", h.Node.Identity)
	}
	for _, in := range []lifecycle.Input{lifecycle.RunRequest{Action: run.Wipe}, h.register(), lifecycle.Join{Certificate: "c-2"}, lifecycle.SessionOpened{Epoch: 5},
		lifecycle.FactoryReset{Call: ops, World: idle}, lifecycle.EnrollMetal{Call: ops, Metal: lifecycle.Metal{BMC: "b", MACs: []netboot.MAC{nicA}}}} {
		h.refused(sm.Conflict, in)
	}
	h.do(lifecycle.DeleteNode{Call: ops, World: idle, Gone: true})

	word := bdevice(t).do(lifecycle.RetireDevice{Serial: "disk-1"})
	word.do(word.stepped(run.Wiped), lifecycle.OffConfirmed{Epoch: word.Node.Run.Retire.Epoch, Word: true}).runs(run.Idle, run.Evicting)
	bdevice(t).refused(sm.Conflict, lifecycle.RetireDevice{})
	open := lifecycle.RetireDevice{Serial: "disk-1", World: lifecycle.World{Open: 2}}
	if r, ok := bdevice(t).refused(sm.Conflict, open).(*lifecycle.Refused); !ok || r.Count != 2 {
		t.Error("no count of allocations (PROV-13)")
	}
}

// RUN-6, EDGE-5: retirement takes over a run or a setup: nothing is written
// before off, which an agent's word does not prove; a workflow is a conflict.
func TestRetirementTakesOver(t *testing.T) {
	for way, life := range map[string]func(testing.TB) *host{
		"run":   func(t testing.TB) *host { return brunning(t, run.Provision) },
		"setup": func(t testing.TB) *host { return settingUpHost(t).do(lifecycle.Listed{Device: "dev-1"}) },
	} {
		h := life(t)
		old := lifecycle.SlotOf(&h.Node)
		h.do(lifecycle.RetireDevice{Serial: "disk-1"})
		if h.Node.Run.Retire.State != run.Interrupting || h.Node.Grant.Writing != "" || lifecycle.SlotOf(&h.Node).Holder != lifecycle.Retirement {
			t.Errorf("%s: %+v, grant %+v", way, h.Node.Run, h.Node.Grant)
		}
		switch old.Holder {
		case lifecycle.Setup:
			h.reg(registration.AwaitingSetup).refused(sm.Conflict, lifecycle.SetupReport{Epoch: old.Epoch, OK: true})
		default:
			h.refused(sm.Conflict, lifecycle.RunReport{Epoch: old.Epoch, OK: true})
		}
		h.refused(sm.Conflict, lifecycle.OffConfirmed{Word: true})
		h.refused(sm.Conflict, lifecycle.OffConfirmed{Epoch: old.Epoch})
		h.do(lifecycle.OffConfirmed{})
		if h.Node.Run.Retire.State != run.Wiping || h.Node.Grant.Writing != lifecycle.WriteWipe || h.Node.Grant.Epoch <= old.Epoch {
			t.Errorf("%s: %+v, grant %+v", way, h.Node.Run, h.Node.Grant)
		}
		failed := h.stepped(run.WipeFailed)
		h.do(failed).idles(failed)
		if h.Node.Run.Retire.State != run.Interrupting {
			t.Errorf("%s: retirement is not repeated from confirmed off (RUN-9)", way)
		}
		h.do(lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch, Word: true}) // its own wipe's epoch
		h.wait(24 * time.Hour).do(lifecycle.Expire{})
		if h.Node.Run.Retire.State != run.Interrupting {
			t.Errorf("%s: an overdue wipe is %s", way, h.Node.Run.Retire.State)
		}
	}
	busy := enrolledMetal(t).do(lifecycle.Listed{Device: "dev-1"})
	if r, ok := busy.refused(sm.Conflict, lifecycle.RetireDevice{Serial: "disk-1"}).(*lifecycle.Refused); !ok || r.Holder.Holder != lifecycle.Workflow {
		t.Error("the conflict names no holder")
	}
	twice := ready(t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RetireDevice{Serial: "disk-1"})
	twice.refused(sm.Conflict, verb(provision.Retire))
	bdevice(t).refused(sm.InvalidInput, lifecycle.RetireReport{On: run.Decommission})
}

// EDGE-23, EDGE-9: deleting what has a run axis alone.
func TestDeleteDevice(t *testing.T) {
	gone := lifecycle.DeleteNode{Call: ops, World: idle, Gone: true}
	there := lifecycle.DeleteNode{Call: ops, World: idle}
	bdevice(t).refused(sm.InvalidState, there)
	bdevice(t).do(gone).told(lifecycle.NodeDeleted).idles(gone)
	bdevice(t).do(lifecycle.RunRequest{Action: run.Wipe}).refused(sm.Conflict, gone)
	brunning(t, run.Wipe).refused(sm.Conflict, gone)
	bdevice(t).do(lifecycle.RetireDevice{Serial: "d"}).refused(sm.Conflict, gone)
	open := gone
	open.World.Open = 1
	bdevice(t).refused(sm.Conflict, open)
	both := bway("adopted", t).do(lifecycle.Schedule{Call: ops, On: "cordon"}, lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: run.Wipe}, bbegin())
	both.refused(sm.Conflict, there) // the run holds the machine
}
