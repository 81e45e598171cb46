package lifecycle_test

import (
	"testing"

	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// MACH-2, REG-12: a join begins the provision axis only where no row waits for
// a person; there it begins at the first session after approval.
func TestJoinBeforeApproval(t *testing.T) {
	join := lifecycle.Join{NewID: aNode, Claims: lifecycle.Claims{EK: "ek-1"}, Certificate: "c-9"}
	for s, h := range ways(t) {
		if s == registration.Disabled {
			continue // shut out altogether (REG-11)
		}
		want := provision.Absent
		if s == registration.Absent || s == registration.Approved {
			want = provision.Adopting
		}
		if h.do(join); h.Node.Prov.State != want || len(h.Node.Identity.Live) == 0 {
			t.Errorf("join in %s: provision is %s, want %s", s, h.Node.Prov.State, want)
		}
	}
	h := pending(t).do(join, lifecycle.SessionOpened{Epoch: 1}).prov(provision.Absent)
	h.do(h.approve(), lifecycle.SessionOpened{Epoch: 2}).prov(provision.Adopting)

	reset := installed(t).do(lifecycle.FactoryReset{Call: ops, World: idle}, join).prov(provision.Absent)
	reset.do(reset.announce())
	reset.do(reset.approveSetup())
	reset.do(reset.drain())
	reset.do(reset.ended(true), lifecycle.SessionOpened{Epoch: 7}).prov(provision.Adopting)
}

// SET-1, REG-3, REG-11, REG-12: no work comes to a machine whose row is not
// approved, but where that row is a stranger's word about a member.
func TestNoWorkBeforeApproval(t *testing.T) {
	member := func(t testing.TB) *host {
		h := newHost(t).do(lifecycle.Join{NewID: aNode, Claims: lifecycle.Claims{Server: uuid}, Certificate: "c-1"})
		return h.do(h.reported(true)).prov(provision.Adopted)
	}
	cycle := []lifecycle.Input{bsched("cordon"), bsched("uncordon")}
	if h := member(t).do(cycle...); !wakes(h) {
		t.Error("a member takes no work")
	}
	h := member(t)
	if h.do(h.register()).reg(registration.Pending).do(cycle...); !wakes(h) {
		t.Error("an anonymous register keeps a member from work (REG-2)")
	}
	h = member(t)
	h.do(h.announce()).reg(registration.AwaitingSetup).do(cycle...)
	if !wakes(h) {
		t.Error("an anonymous announce keeps a member from work")
	}
	h.do(h.approveSetup()).reg(registration.SettingUp).do(cycle...)
	if wakes(h) {
		t.Error("a machine in setup takes work")
	}
}
