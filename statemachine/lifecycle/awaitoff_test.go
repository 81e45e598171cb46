package lifecycle_test

import (
	"slices"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// unsure is a device whose retirement took an enrolling over and then failed:
// nobody has seen the machine off since.
func unsure(t testing.TB) *host {
	t.Helper()
	h := enrolledMetal(t).do(lifecycle.Listed{Device: "dev-1"}, verb(provision.Retire))
	h.do(h.reported(false)).prov(provision.Failed)
	if !h.Node.Prov.AwaitOff || lifecycle.SlotOf(&h.Node).Holder != lifecycle.Free {
		t.Fatalf("%+v", h.Node.Prov)
	}
	return h
}

// EDGE-5, RUN-6: until the machine is confirmed off it is held for every other
// axis, though the retirement that took it over has failed.
func TestNotOffIsHeld(t *testing.T) {
	off := func(h *host) lifecycle.OffConfirmed { return lifecycle.OffConfirmed{Epoch: h.Node.Prov.Epoch} }
	h := unsure(t).do(lifecycle.RunRequest{Action: run.Attest})
	h.do(h.announce())
	for _, in := range []lifecycle.Input{h.approveSetup(), bbegin()} {
		err := h.refused(sm.Conflict, in)
		if d, ok := err.(*lifecycle.Detailed); !ok || d.Holder.Holder != lifecycle.Workflow || d.Holder.Epoch != h.Node.Prov.Epoch {
			t.Errorf("%v does not name the holder", err)
		}
	}
	if got := bneeds(h); !slices.Equal(got, []string{lifecycle.NeedOff}) {
		t.Errorf("needs %v", got)
	}
	late := off(h)
	late.Epoch--
	h.refused(sm.Conflict, late)
	h.do(off(h)).told("node.power.off-confirmed").refused(sm.Conflict, off(h))
	if h.Node.Prov.AwaitOff || !slices.Contains(bneeds(h), lifecycle.NeedRun+" attest") {
		t.Errorf("off, and still %+v", h.Node.Prov)
	}
	h.do(bbegin()).runs(run.Running, "none")
}

// RUN-6: an owner's retirement starts from confirmed off, as over a holder, and
// its one observation answers the provision axis too.
func TestRetirementOfNotOff(t *testing.T) {
	h := unsure(t).do(lifecycle.RetireDevice{Serial: "disk-1"}).runs(run.Idle, run.Interrupting)
	if got := bneeds(h); !slices.Equal(got, []string{lifecycle.NeedOff + " interrupting"}) {
		t.Errorf("needs %v", got)
	}
	h.do(lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch}).runs(run.Idle, run.Wiping)
	if h.Node.Prov.AwaitOff {
		t.Error("the machine was seen off, and the provision axis still waits")
	}
	h.refused(sm.Conflict, lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch}) // wiping does not wait for off
}

// A confirmation that nothing waits for is a CONFLICT everywhere.
func TestOffUnasked(t *testing.T) {
	for way, life := range bways() {
		h := life(t)
		if h.Node.Prov.AwaitOff {
			t.Fatalf("%s waits for off", way)
		}
		h.refused(sm.Conflict, lifecycle.OffConfirmed{Epoch: h.Node.Prov.Epoch})
	}
	h := retiredDevice(t)
	h.refused(sm.Conflict, lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch})
}
