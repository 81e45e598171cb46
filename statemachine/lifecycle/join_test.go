package lifecycle_test

import (
	"fmt"
	"slices"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// bjoined is a host that proved a TPM, with its acceptance run under way.
func bjoined(t testing.TB) *host {
	t.Helper()
	return newHost(t).do(lifecycle.Join{NewID: aNode, Claims: lifecycle.Claims{EK: "ek-1", HardwareKey: "hw-1", Server: uuid}, Certificate: "c-1"})
}

func opened(epoch uint64) lifecycle.SessionOpened {
	return lifecycle.SessionOpened{Epoch: epoch, Gateway: "gw"}
}

// ID-1, MACH-1, MACH-2, EDGE-13: a join makes a node, or adds to the one that
// holds its claims.
func TestJoin(t *testing.T) {
	h := bjoined(t).prov(provision.Adopting).told(lifecycle.NodeAdopting)
	if c := h.Node.Claims; c.EK != "ek-1" || c.HardwareKey != "hw-1" || c.Server != uuid || h.Node.Prov.Activity != provision.Acceptance {
		t.Errorf("%+v, %+v", c, h.Node.Prov)
	}
	again := lifecycle.Join{Found: []lifecycle.NodeID{aNode}, Claims: lifecycle.Claims{EK: "ek-1", Server: uuid.Swapped()}, Certificate: "c-2"}
	h.do(again).prov(provision.Adopting)
	if h.Node.Claims.Server != uuid || len(h.Node.Identity.Live) != 2 {
		t.Errorf("%+v, %v", h.Node.Claims, h.Node.Identity)
	}
	for name, in := range map[string]lifecycle.Join{
		"another key":      {Claims: lifecycle.Claims{EK: "ek-2"}, Certificate: "c-3"},
		"another hardware": {Claims: lifecycle.Claims{HardwareKey: "hw-2"}, Certificate: "c-3"},
		"another UUID":     {Claims: lifecycle.Claims{Server: registration.ServerID{9}}, Certificate: "c-3"},
		"two nodes":        {Found: []lifecycle.NodeID{aNode, another}, Certificate: "c-3"},
	} {
		if err := h.refused(sm.Conflict, in); err == nil {
			t.Error(name)
		}
	}
	for name, in := range map[string]lifecycle.Join{
		"no certificate": {NewID: aNode}, "issued already": {Certificate: "c-1"}, "not UTF-8": {Certificate: "\xff"},
		"placeholder": {Certificate: "c-3", Claims: lifecycle.Claims{Server: registration.ServerID{3, 0, 2, 0, 4, 0, 5, 0, 0, 6, 0, 7, 0, 8, 0, 9}}},
	} {
		if err := h.refused(sm.InvalidInput, in); err == nil {
			t.Error(name)
		}
	}
	disabled(t).refused(sm.Denied, lifecycle.Join{Certificate: "c"})
	for i := range lifecycle.MaxCertificates {
		h.do(lifecycle.Join{Certificate: fmt.Sprint("more-", i)})
	}
	if live := h.Node.Identity.Live; len(live) != lifecycle.MaxCertificates || slices.Contains(live, "c-1") {
		t.Errorf("%v", live)
	}
}

// MACH-2, EDGE-21: the provision axis begins at the first session after
// approval; its acceptance run waits while another attempt holds the machine.
func TestFirstSession(t *testing.T) {
	approved(t).do(opened(1)).prov(provision.Adopting)
	pending(t).refused(sm.Unauthenticated, opened(1)) // it has no credential yet
	h := brunning(t, "attest").do(lifecycle.Join{Certificate: "c"}).prov(provision.Adopting)
	if !h.Node.Prov.Queued || slices.ContainsFunc(slices.Collect(lifecycle.Needs(&h.Node)), func(n lifecycle.Need) bool { return n.Verb == lifecycle.NeedAcceptance }) {
		t.Errorf("%+v", h.Node.Prov)
	}
	h.refused(sm.Conflict, lifecycle.BeginAcceptance{})
	h.refused(sm.Conflict, verb(provision.Adopt))
	h.do(h.ran(true), lifecycle.BeginAcceptance{})
	h.refused(sm.InvalidState, lifecycle.BeginAcceptance{})
	h.do(h.reported(false)).prov(provision.Adopting).refused(sm.InvalidState, lifecycle.BeginAcceptance{}) // red: adopt starts another
	h.do(verb(provision.Adopt))
	h.do(h.reported(true)).prov(provision.Adopted)
}

// ID-2, JOINT-9: a revoked identity never renews, and its session closes.
func TestRevokedNeverRenews(t *testing.T) {
	h := bjoined(t).do(opened(1), lifecycle.Renew{Serial: "c-1", Next: "c-2"})
	h.do(lifecycle.RevokeIdentity{Call: ops}).told(lifecycle.SessionEnded, "node.connectivity.disconnected")
	why := map[string]string{}
	for _, f := range h.facts {
		why[f.Key+f.Name] = f.Why
	}
	if why["c-1"+lifecycle.CertificateEnded] != "identity revoked" || why["c-2"+lifecycle.CertificateEnded] != "identity revoked" {
		t.Errorf("%v", h.facts)
	}
	h.refused(sm.Denied, lifecycle.Renew{Serial: "c-2", Next: "c-3"})
	h.refused(sm.Denied, lifecycle.Renew{Generation: 1, Serial: "c-2", Next: "c-3"})
	h.do(lifecycle.RevokeIdentity{Call: ops})
	if id := h.Node.Identity; id.Generation != 2 || len(id.Live) > 0 {
		t.Errorf("each call raises the generation: %+v", id)
	}
	h.do(lifecycle.Join{Certificate: "c-4"}) // fresh evidence
	h.refused(sm.Denied, lifecycle.Renew{Generation: 1, Serial: "c-4", Next: "c-5"})
	h.refused(sm.InvalidInput, lifecycle.Renew{Generation: 2, Serial: "c-4"})
	h.refused(sm.InvalidInput, lifecycle.Renew{Generation: 2, Serial: "c-4", Next: "c-4"})
	h.do(lifecycle.Renew{Generation: 2, Serial: "c-4", Next: "c-5"})
	newHost(t).refused(sm.NotFound, lifecycle.RevokeIdentity{Call: ops})
}

// LIVE-5, TAINT-2: a certificate that two machines used ends, its session
// closes, and the node takes no work until it joins anew.
func TestQuarantine(t *testing.T) {
	h := ready(t).do(lifecycle.Join{Certificate: "c-1"}, opened(1), lifecycle.Renew{Serial: "c-1", Next: "c-2"})
	in := lifecycle.Quarantine{Certificate: "c-2"}
	h.do(in).told(lifecycle.NodeQuarantined, lifecycle.CertificateEnded, lifecycle.SessionEnded).idles(in, lifecycle.Quarantine{Certificate: "c-9"})
	h.refused(sm.Denied, lifecycle.Renew{Serial: "c-2", Next: "c-3"})
	if live := h.Node.Identity.Live; !slices.Equal(live, []string{"c-1"}) {
		t.Errorf("%v: that certificate, and no other", live)
	}
	if h.do(opened(2)); wakes(h) {
		t.Error("a quarantined node wakes")
	}
	h.do(lifecycle.Join{Certificate: "c-3"}).told(lifecycle.NodeWake)
	newHost(t).refused(sm.NotFound, in)
}

// EDGE-24, PROV-20: a row that was left under a tombstone's UUID goes to the
// live node that comes with that UUID; the tombstone itself never comes back.
func TestRowUnderTombstone(t *testing.T) {
	h := adopted(t).do(bsched(schedule.Cordon))
	h.do(lifecycle.DeleteNode{Call: ops, World: idle}).reg(registration.Disabled)
	h.refused(sm.NotFound, lifecycle.Join{NewID: another, Certificate: "c"})
	h.refused(sm.NotFound, h.register())
	orphan := lifecycle.Fresh() // as the store finds it by UUID
	orphan.Reg, orphan.NICs = h.Node.Reg, h.Node.NICs
	h.Node = orphan
	rejoined := *h
	rejoined.do(lifecycle.Join{NewID: another, Claims: lifecycle.Claims{Server: uuid}, Certificate: "c"}).reg(registration.Disabled)
	if rejoined.Node.ID != another || rejoined.Node.Claims.Server != uuid {
		t.Errorf("%+v", rejoined.Node.Claims)
	}
	rejoined.refused(sm.Denied, opened(1))
	in := h.register()
	in.NewID = another
	h.do(in).reg(registration.Pending)
	if h.Node.ID != another || !h.Node.Reg.Rearmed {
		t.Errorf("%s %+v", h.Node.ID, h.Node.Reg)
	}
}

// LIVE-3, LIVE-6, JOINT-8: sessions and verdicts. Only the newest session
// counts, only a new one makes a node less silent, and nothing is released.
func TestConnectivity(t *testing.T) {
	judged := func(session uint64, l lifecycle.Link) lifecycle.Judged {
		return lifecycle.Judged{Session: session, Link: l, MayLose: true}
	}
	h := adopted(t).do(opened(2)).told("session.opened")
	h.do(lifecycle.Power{Call: ops, World: idle, Request: "p", Action: "on"})
	was := h.Node
	h.refused(sm.Conflict, opened(2))
	h.refused(sm.Conflict, opened(1))
	h.idles(lifecycle.SessionClosed{Epoch: 1})
	h.refused(sm.Conflict, judged(1, lifecycle.Unreachable))
	for _, l := range []lifecycle.Link{lifecycle.Connected, "", "asleep"} {
		h.refused(sm.InvalidInput, judged(2, l))
	}
	h.do(lifecycle.SessionClosed{Epoch: 2}).told("node.connectivity.disconnected", lifecycle.SessionEnded).idles(lifecycle.SessionClosed{Epoch: 2})
	h.do(judged(2, lifecycle.Unreachable)).told("node.connectivity.unreachable").idles(judged(2, lifecycle.Unreachable))
	h.refused(sm.Conflict, judged(2, lifecycle.Disconnected))
	h.refused(sm.Conflict, lifecycle.Judged{Session: 2, Link: lifecycle.Lost}) // a pool that never loses
	h.do(judged(2, lifecycle.Lost)).told("node.connectivity.lost")
	if !slices.Contains(lifecycle.Reasons(&h.Node), "unreachable") || h.Node.Prov != was.Prov || len(h.Node.Commands) != 1 || h.Node.Reg.Bound != was.Reg.Bound {
		t.Errorf("%v, %+v (LIVE-3)", lifecycle.Reasons(&h.Node), h.Node)
	}
	h.do(opened(3)).told("node.connectivity.connected", lifecycle.NodeWake)
	if c := h.Node.Conn; c.Link != lifecycle.Connected || c.Gateway != "gw" || c.Session != 3 || !c.Since.Equal(h.now) {
		t.Errorf("%+v", c)
	}
	h.do(judged(3, lifecycle.Unreachable)) // a gateway that died says no goodbye
	disabled(t).refused(sm.Denied, opened(1))
	newHost(t).refused(sm.NotFound, opened(1))
}

// REG-12, PROV-8: after a reset connectivity starts anew, and an old session
// stays old.
func TestSessionsAfterReset(t *testing.T) {
	h := adopted(t)
	h.do(lifecycle.FactoryReset{Call: ops, World: idle}).told("node.connectivity.disconnected", lifecycle.SessionEnded)
	h.refused(sm.Unauthenticated, opened(2)) // every credential died with the reset (ID-2)
	h.do(lifecycle.Join{Certificate: "c-9"})
	h.refused(sm.Conflict, opened(1))
	h.do(opened(2))
}
