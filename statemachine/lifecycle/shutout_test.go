package lifecycle_test

import (
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// REG-3, REG-11: registering again does not undo a disable. Until a person
// approves, there is no session, certificate, renewal or work.
func TestShutOutUntilApproved(t *testing.T) {
	h := adopted(t).do(lifecycle.Join{Certificate: "c-1"}, lifecycle.Disable{Call: ops})
	closed := func() {
		t.Helper()
		for _, in := range []lifecycle.Input{opened(9), lifecycle.Join{Certificate: "c-2"}, lifecycle.Renew{Serial: "c-1", Next: "c-2"}} {
			h.refused(sm.Denied, in)
		}
		if h.do(bsched("cordon"), bsched("uncordon")); wakes(h) {
			t.Errorf("%s takes work", h.Node.Reg.State)
		}
	}
	closed()
	h.do(h.register()).reg(registration.Pending)
	closed()
	h.do(h.approve()).told(lifecycle.NodeWake)
	h.do(opened(9), lifecycle.Join{Certificate: "c-2"}, lifecycle.Renew{Serial: "c-1", Next: "c-3"})
}

// PROV-2: where the provision axis answers for the disks, no setup and no run
// that writes begins; what reads may.
func TestDisksAreTheProvisionAxis(t *testing.T) {
	for way, own := range map[string]bool{"ready": true, "deployed": true, "rescue up": true, "failed enrolling": false, "failed deploying": false} {
		t.Run(way, func(t *testing.T) {
			code := sm.Code("")
			if own {
				code = sm.Conflict
			}
			h := bway(way, t)
			h.do(h.announce())
			h.refused(code, h.approveSetup())
			for _, action := range []run.Action{run.Wipe, run.Provision} {
				h = bway(way, t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: action})
				h.refused(code, bbegin())
				h = bway(way, t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: action})
				h.refused(code, lifecycle.RunFound{On: run.FoundRunning, Action: action, Serial: "disk-1", World: idle, Pin: true})
			}
			h = bway(way, t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: run.Attest})
			h.do(bbegin()).runs(run.Running, run.None)
		})
	}
}

// PROV-19: evidence that a revoked identity signed counts no more.
func TestRevokedEvidence(t *testing.T) {
	h := bway("releasing", t)
	h.do(h.wiped(), lifecycle.RevokeIdentity{Call: ops}, h.reported(true)).prov(provision.Failed)
	if got := h.Node.Prov.LastError.Code; got != provision.UnverifiedWipe {
		t.Errorf("failed with %s", got)
	}
	h = bway("releasing", t)
	h.do(h.wiped(), lifecycle.RevokeIdentity{Call: ops})
	h.do(h.wiped(), h.reported(true)).prov(provision.Ready)
}

// PROV-3, PROV-14: a host without BMC recovers into its acceptance, and has no
// other metal verb.
func TestRecoverWithoutBMC(t *testing.T) {
	h := installed(t).do(opened(1))
	h.now = h.Node.Prov.Deadline
	h.do(lifecycle.Expire{}).prov(provision.Failed)
	h.refused(sm.NotFound, verb(provision.Retire))
	h.do(verb(provision.Recover)).prov(provision.Adopting).refused(sm.NotFound, verb(provision.Recover))
}

// RUN-1, MACH-4: a repeated report asks for nothing, whatever waits by then.
func TestRepeatedReportAsksNothing(t *testing.T) {
	h := brunning(t, run.Wipe)
	end := h.ran(false)
	h.do(lifecycle.RunRequest{Action: run.Attest}, end).runs(run.Waiting, run.None)
	h.do(bbegin())
	h.do(h.ran(true)).runs(run.Succeeded, run.None).idles(end)
	h = bway("failed enrolling", t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: run.Wipe}, bbegin())
	end = h.ran(false)
	h.do(lifecycle.RunRequest{Action: run.Attest}, verb(provision.Retire)).runs(run.Failed, run.None).idles(end)
}
