package lifecycle_test

import (
	"errors"
	"slices"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// PROV-16: what a batch waits for is the pool's to say, then and now, and the
// caller's list cannot change it later. PROV-6: what it moves says by which
// batch.
func TestBatchIsItsOwn(t *testing.T) {
	ids, nodes, worlds, site := bfleet(t, "ready", 2)
	worlds[1].Quorum = 1
	in := bbulk(provision.Retire, ids...)
	_, made, err := in.Decide(nodes, site, worlds, dawn)
	if err != nil {
		t.Fatal(err)
	}
	first := ids[0]
	if ids[0] = another; made.Nodes[0] != first {
		t.Error("the batch shares the caller's list")
	}
	batch, _, err := made.Approve("k-1", dawn)
	if err != nil {
		t.Fatal(err)
	}
	worlds[0].Quorum = 2 // the pool asks for more by now
	_, _, err = batch.Carry(nodes, site, worlds, dawn)
	if r, ok := errors.AsType[*lifecycle.Refused](err); !ok || r.Count != 1 || r.Code() != string(sm.Conflict) {
		t.Errorf("%v", err)
	}
	batch, _, _ = batch.Approve("k-2", dawn)
	out, done, err := batch.Carry(nodes, site, worlds, dawn)
	if err != nil || !done.Settled {
		t.Fatal(err)
	}
	for i := range out {
		if !slices.Contains(out[i].Facts, lifecycle.Fact{Name: lifecycle.NodeBatched, Key: "b-1", Why: in.Verb.Reason}) {
			t.Errorf("%v names no batch", out[i].Facts)
		}
	}
}
