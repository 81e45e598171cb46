package lifecycle_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// bfleet is n machines in a state of the provision axis.
func bfleet(t testing.TB, way string, n int) ([]lifecycle.NodeID, []lifecycle.Node, []lifecycle.World, lifecycle.Site) {
	t.Helper()
	h := bway(way, t)
	ids, nodes, worlds := make([]lifecycle.NodeID, n), make([]lifecycle.Node, n), make([]lifecycle.World, n)
	for i := range n {
		ids[i] = lifecycle.NodeID(fmt.Sprintf("node_%026d", i))
		nodes[i], worlds[i] = h.Node, idle
		nodes[i].ID = ids[i]
	}
	return ids, nodes, worlds, h.Site
}

func bbulk(on provision.Kind, ids ...lifecycle.NodeID) lifecycle.Bulk {
	return lifecycle.Bulk{Verb: lifecycle.Verb{Call: ops, On: on}, Nodes: ids, Batch: "b-1"}
}

// PROV-6: what a bulk call may be.
func TestBulkCheck(t *testing.T) {
	a, b := lifecycle.NodeID(fmt.Sprintf("node_%026d", 1)), lifecycle.NodeID(fmt.Sprintf("node_%026d", 2))
	for _, on := range []provision.Kind{provision.Manage, provision.Inspect, provision.Provide, provision.Undeploy, provision.ToRescue, provision.Retire} {
		in := bbulk(on, a, b)
		if err := in.Check(); err != nil {
			t.Errorf("%s: %v", on, err)
		}
		in.Verb.Wipe = provision.WipeQuick
		if err := in.Check(); (err == nil) != (on == provision.Undeploy) {
			t.Errorf("%s takes a wipe mode: %v", on, err)
		}
	}
	big := make([]lifecycle.NodeID, lifecycle.MaxBulk+1)
	for i := range big {
		big[i] = lifecycle.NodeID(fmt.Sprintf("node_%026d", i))
	}
	if in := bbulk(provision.Retire, big[:lifecycle.MaxBulk]...); in.Check() != nil {
		t.Error("10,000 nodes are refused")
	}
	bad := map[string]lifecycle.Bulk{
		"none": bbulk(provision.Retire), "too many": bbulk(provision.Retire, big...), "twice": bbulk(provision.Retire, a, b, a),
		"malformed": bbulk(provision.Retire, "node_x"), "deploy": bbulk(provision.Deploy, a), "recover": bbulk(provision.Recover, a),
		"a version": {Verb: lifecycle.Verb{On: provision.Retire, Call: lifecycle.Call{Version: 1}}, Nodes: []lifecycle.NodeID{a}, Batch: "b-1"},
		"no ID":     {Verb: lifecycle.Verb{On: provision.Retire}, Nodes: []lifecycle.NodeID{a}},
	}
	for name, in := range bad {
		if err := in.Check(); codeOf(err) != string(sm.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	one := bbulk(provision.Recover, a)
	if one.Single = true; one.Check() != nil {
		t.Error("a batch of one carries a recover (EDGE-1)")
	}
}

// PROV-6: all as if called alone; one refusal refuses all; epochs once each.
func TestBulkDecides(t *testing.T) {
	ids, nodes, worlds, site := bfleet(t, "ready", 5)
	in := bbulk(provision.Provide, ids...)
	out, batch, err := in.Decide(nodes, site, worlds, dawn)
	if err != nil || len(out) != 5 || batch == nil || !batch.Settled || batch.Quorum != 0 {
		t.Fatalf("%d, %+v, %v", len(out), batch, err)
	}
	for i, o := range out {
		if p := o.Next.Node.Prov; p.State != provision.Commissioning || p.Epoch != site.Epoch+uint64(i)+1 || o.Next.Node.ID != ids[i] {
			t.Errorf("%d: %+v", i, p)
		}
		alone, err := lifecycle.Step(lifecycle.State{Node: nodes[i], Site: site}, verb(provision.Provide), dawn)
		if err != nil || alone.Next.Node.Prov.State != o.Next.Node.Prov.State {
			t.Errorf("%d alone: %v", i, err)
		}
	}
	worlds[3].Tenant = 1
	if out, batch, err := in.Decide(nodes, site, worlds, dawn); out != nil || batch != nil || codeOf(err) != string(sm.Conflict) {
		t.Errorf("%v, %v, %v", out, batch, err)
	} else if at, ok := errors.AsType[*lifecycle.NodeError](err); !ok || at.Node != ids[3] {
		t.Errorf("%v does not name the node", err)
	}
	nodes[3] = lifecycle.Fresh()
	if _, _, err := in.Decide(nodes, site, worlds, dawn); codeOf(err) != string(sm.NotFound) {
		t.Errorf("absent: %v", err)
	}
	if _, _, err := in.Decide(nodes[:4], site, worlds, dawn); codeOf(err) != string(sm.InvalidInput) {
		t.Errorf("not read: %v", err)
	}
	rids, rnodes, rworlds, rsite := bfleet(t, "deployed", 2)
	rescue := bbulk(provision.ToRescue, rids...)
	rworlds[0].Quorum = 2
	if out, batch, err := rescue.Decide(rnodes, rsite, rworlds, dawn); err != nil || batch != nil || len(out) != 2 {
		t.Errorf("a rescue erases nothing: %+v, %v", batch, err)
	}
}

// PROV-16, EDGE-1: a batch waits for its quorum, moves nothing meanwhile, and
// is decided again.
func TestBatch(t *testing.T) {
	ids, nodes, worlds, site := bfleet(t, "ready", 2)
	worlds[0].Quorum, worlds[1].Quorum = 2, 2
	in := bbulk(provision.Retire, ids...)
	in.Verb.Reason = "old"
	out, made, err := in.Decide(nodes, site, worlds, dawn)
	if err != nil || out != nil || made == nil || made.Settled || made.Quorum != 2 || made.Reason != "old" || !reflect.DeepEqual(made.Nodes, ids) {
		t.Fatalf("%v, %+v, %v", out, made, err)
	}
	batch := *made
	if _, _, err := batch.Carry(nodes, site, worlds, dawn); codeOf(err) != string(sm.Conflict) {
		t.Errorf("carried without approvals: %v", err)
	}
	for bad, want := range map[string]sm.Code{"": sm.InvalidInput, ops.By: sm.Denied} {
		if _, _, err := batch.Approve(bad, dawn); codeOf(err) != string(want) {
			t.Errorf("%q approves: %v", bad, err)
		}
	}
	first, is, err := batch.Approve("k-1", dawn)
	if err != nil || is || len(batch.Keys) != 0 {
		t.Errorf("%+v, %t, %v", first, is, err)
	}
	again, is, err := first.Approve("k-1", dawn)
	if err != nil || is || len(again.Keys) != 1 {
		t.Errorf("one key twice: %+v, %t, %v", again, is, err)
	}
	whole, is, err := again.Approve("k-2", dawn)
	if err != nil || !is {
		t.Errorf("%+v, %t, %v", whole, is, err)
	}
	moved := nodes[1]
	nodes[1].Prov.State = provision.Deployed // it moved meanwhile
	if out, kept, err := whole.Carry(nodes, site, worlds, dawn); out != nil || kept.Settled || codeOf(err) != string(sm.InvalidState) {
		t.Errorf("decided again: %v, %+v, %v", out, kept, err)
	}
	nodes[1] = moved
	out, done, err := whole.Carry(nodes, site, worlds, dawn)
	if err != nil || len(out) != 2 || out[1].Next.Node.Prov.State != provision.Retiring || out[0].Next.Node.Prov.Approver != ops.By || !done.Settled {
		t.Fatalf("%d, %+v, %v", len(out), done, err)
	}
	rejected, err := whole.Reject(dawn)
	if err != nil {
		t.Error(err)
	}
	late := dawn.Add(24 * time.Hour)
	for name, err := range map[string]error{
		"carried twice":  second(done.Carry(nodes, site, worlds, dawn)),
		"rejected":       second(rejected.Carry(nodes, site, worlds, dawn)),
		"24 h old":       second(whole.Carry(nodes, site, worlds, late)),
		"approved late":  third(first.Approve("k-3", late)),
		"approved done":  third(done.Approve("k-3", dawn)),
		"rejected twice": func() error { _, err := rejected.Reject(dawn); return err }(),
	} {
		if codeOf(err) != string(sm.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second(_ []lifecycle.Outcome, _ lifecycle.Batch, err error) error { return err }
func third(_ lifecycle.Batch, _ bool, err error) error                 { return err }

// EDGE-1: which single verbs need a batch of one where the pool has approver
// keys.
func TestQuorum(t *testing.T) {
	for _, c := range []struct {
		way   string
		on    provision.Kind
		needs bool
	}{
		{"ready", provision.Manage, true}, {"ready", provision.Inspect, true}, {"ready", provision.Provide, true}, {"deployed", provision.Undeploy, true},
		{"ready", provision.Retire, true}, {"failed deploying", provision.Recover, true}, {"failed releasing", provision.Recover, true}, {"failed retiring", provision.Recover, true},
		{"ready", provision.Deploy, false}, {"failed enrolling", provision.Recover, false}, {"failed rescue", provision.Recover, false},
		{"deployed", provision.ToRescue, false}, {"deploying", provision.Abort, false}, {"adopted", provision.Adopt, false},
	} {
		h, v := bway(c.way, t), verb(c.on)
		v.World.Quorum = 2
		if !c.needs {
			h.do(v)
			continue
		}
		if r, ok := h.refused(sm.Conflict, v).(*lifecycle.Refused); !ok || r.Reason != "NEEDS_BATCH" || r.Count != 2 {
			t.Errorf("%s from %s walks around the quorum", c.on, c.way)
		}
		one := lifecycle.Bulk{Verb: v, Nodes: []lifecycle.NodeID{h.Node.ID}, Batch: "b-1", Single: true}
		nodes, worlds := []lifecycle.Node{h.Node}, []lifecycle.World{v.World}
		_, made, err := one.Decide(nodes, h.Site, worlds, h.now)
		if err != nil || made == nil || made.Quorum != 2 {
			t.Errorf("%s makes no batch of one: %+v, %v", c.on, made, err)
			continue
		}
		batch, _, _ := made.Approve("k-1", h.now)
		batch, _, _ = batch.Approve("k-2", h.now)
		if out, _, err := batch.Carry(nodes, h.Site, worlds, h.now); err != nil || len(out) != 1 || len(out[0].Facts) == 0 {
			t.Errorf("%s from %s is not carried out: %v", c.on, c.way, err)
		}
	}
}
