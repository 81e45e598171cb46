package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

func bsched(on schedule.Kind) lifecycle.Schedule { return lifecycle.Schedule{Call: ops, On: on} }

// SCHED-1, SCHED-2, EDGE-25: cordon, drain and their ends, each told once.
func TestCordonAndDrain(t *testing.T) {
	h := ready(t)
	was := h.Node
	h.do(bsched(schedule.Cordon)).told(lifecycle.NodeCordoned).idles(bsched(schedule.Cordon))
	if n := h.Node; n.Prov != was.Prov || n.Reg.State != was.Reg.State || n.Conn != was.Conn {
		t.Error("a cordon changed something else")
	}
	h.do(bsched(schedule.Drain)).told(lifecycle.NodeDraining).idles(bsched(schedule.Drain))
	if !slices.Contains(lifecycle.Reasons(&h.Node), "draining") || !h.Node.Sched.Cordoned() {
		t.Errorf("%v", lifecycle.Reasons(&h.Node))
	}
	force := bsched(schedule.Drain)
	force.Force = h.now.Add(time.Hour)
	h.do(force).told(lifecycle.NodeDraining).idles(force)
	h.refused(sm.Conflict, lifecycle.Drained{World: lifecycle.World{Live: 1}})
	h.refused(sm.Unavailable, lifecycle.Drained{World: lifecycle.World{Missing: "placement"}})
	h.do(lifecycle.Drained{World: idle}).told(lifecycle.NodeDrained)
	if s := h.Node.Sched; s.State != schedule.Cordoned || s.Force != (schedule.Force{}) {
		t.Errorf("%+v", s)
	}
	h.refused(sm.InvalidState, lifecycle.Drained{World: idle})
	h.do(bsched(schedule.Drain), bsched(schedule.Uncordon)).told(lifecycle.NodeUncordoned, lifecycle.NodeWake).idles(bsched(schedule.Uncordon))

	for _, bad := range []lifecycle.Schedule{
		bsched(schedule.Reset), bsched(schedule.Drained),
		{Call: ops, On: schedule.Cordon, Force: h.now.Add(time.Hour)},
		{Call: ops, On: schedule.Drain, Force: h.now},
		{Call: ops, On: schedule.Drain, Force: h.now.Add(1000 * time.Hour)},
		{On: schedule.Cordon},
	} {
		h.refused(sm.InvalidInput, bad)
	}
	stale := bsched(schedule.Uncordon) // EDGE-15: stale, though it would change nothing
	stale.Version = h.Node.Version - 1
	h.refused(sm.Conflict, stale)
}

// SCHED-3, SCHED-4, EDGE-25: maintenance is an operator's, a failure's or a
// remediation's to set, and an operator's alone to clear, with a reason.
func TestMaintenance(t *testing.T) {
	set, cleared := lifecycle.Maintain{Call: ops, Set: true}, lifecycle.Maintain{Call: ops}
	set.Reason, cleared.Reason = "fan", "new fan"
	h := ready(t).do(set).told(lifecycle.NodeMaintained).idles(set)
	if h.Node.Sched.Why != "fan" {
		t.Errorf("%q", h.Node.Sched.Why)
	}
	h.do(bsched(schedule.Cordon), bsched(schedule.Uncordon), lifecycle.Join{Certificate: "c"}, lifecycle.SessionOpened{Epoch: 1})
	if h.Node.Sched.Service != schedule.Maintenance {
		t.Error("something else cleared it")
	}
	h.do(cleared).told(lifecycle.NodeServiced, lifecycle.NodeWake).idles(cleared)
	h.refused(sm.InvalidInput, lifecycle.Maintain{Call: ops, Set: true})
	h.refused(sm.InvalidInput, lifecycle.Maintain{Call: ops})
	h.do(lifecycle.Escalate{Why: "twice"}).told(lifecycle.NodeEscalated).idles(lifecycle.Escalate{Why: "twice"})

	f := bway("deploying", t)
	f.do(f.reported(false))
	if f.Node.Sched.Service != schedule.Maintenance || slices.ContainsFunc(f.facts, func(x lifecycle.Fact) bool { return x.Name == lifecycle.NodeMaintained }) {
		t.Errorf("a failure: %s, %v", f.Node.Sched.Service, f.facts)
	}
}

// TAINT-1: keys, owners, and what is published.
func TestTaints(t *testing.T) {
	h := ready(t)
	taint := func(add, remove []string) lifecycle.Taint {
		return lifecycle.Taint{Call: ops, Add: add, Remove: remove}
	}
	h.do(taint([]string{"b", "a"}, nil)).told(lifecycle.NodeTainted).idles(taint([]string{"a"}, []string{"c"}))
	h.do(lifecycle.Condition{Key: "fan", On: true}).idles(lifecycle.Condition{Key: "fan", On: true})
	if got := lifecycle.Reasons(&h.Node); !slices.Equal(got, []string{"taint:a", "taint:b", "fan"}) {
		t.Errorf("%v", got)
	}
	for _, bad := range []lifecycle.Taint{taint(nil, nil), taint([]string{"x"}, []string{"x"}), taint([]string{"-"}, nil), taint([]string{""}, nil),
		taint([]string{strings.Repeat("k", 129)}, nil), taint(make([]string, 33), nil), taint([]string{"x", "x"}, nil)} {
		h.refused(sm.InvalidInput, bad)
	}
	h.idles(taint(nil, []string{"fan"})) // a controller's reason is no operator's taint
	h.refused(sm.Denied, lifecycle.Condition{Key: "taint:a"})
	h.refused(sm.Denied, lifecycle.Condition{Key: "draining", On: true})
	h.refused(sm.Denied, lifecycle.Condition{Key: "unreachable"})
	h.do(taint(nil, []string{"a", "b"}), lifecycle.Condition{Key: "fan"}).told(lifecycle.NodeWake)
	for i := range lifecycle.MaxConditions {
		h.do(lifecycle.Condition{Key: "c" + strings.Repeat("x", i), On: true})
	}
	h.refused(sm.RateLimited, lifecycle.Condition{Key: "one-more", On: true})
}

// JOINT-8, TAINT-2, SCHED-3: the wake edge fires when the last obstacle goes,
// for everyone or for the one tenant, and for nobody else.
func TestWake(t *testing.T) {
	reason := ops
	reason.Reason = "fan"
	obstacles := map[string][2]lifecycle.Input{
		"cordon":      {bsched(schedule.Cordon), bsched(schedule.Uncordon)},
		"maintenance": {lifecycle.Maintain{Call: reason, Set: true}, lifecycle.Maintain{Call: reason}},
		"taint":       {lifecycle.Taint{Call: ops, Add: []string{"a"}}, lifecycle.Taint{Call: ops, Remove: []string{"a"}}},
		"condition":   {lifecycle.Condition{Key: "fan", On: true}, lifecycle.Condition{Key: "fan"}},
		"unreachable": {lifecycle.Judged{Session: 1, Link: lifecycle.Unreachable}, lifecycle.SessionOpened{Epoch: 2}},
	}
	for name, o := range obstacles {
		for second, p := range obstacles {
			h := ready(t).do(lifecycle.Join{Certificate: "c"}, lifecycle.SessionOpened{Epoch: 1}, o[0])
			if wakes(h) {
				t.Errorf("%s wakes", name)
			}
			if second == name {
				h.do(o[1]).told(lifecycle.NodeWake)
				continue
			}
			if h.do(p[0], o[1]); wakes(h) {
				t.Errorf("%s went, %s stands, and it wakes", name, second)
			}
			h.do(p[1]).told(lifecycle.NodeWake)
		}
	}
	h := ready(t).do(lifecycle.Taint{Call: ops, Add: []string{"dedicated=t1"}})
	if i := slices.IndexFunc(h.facts, func(f lifecycle.Fact) bool { return f.Name == lifecycle.NodeWake }); i < 0 || h.facts[i].Why != "t1" {
		t.Errorf("dedicated: %v", h.facts)
	}
	for _, more := range []string{"dedicated=t2", "other"} {
		two := ready(t).do(lifecycle.Taint{Call: ops, Add: []string{"dedicated=t1", more}})
		if wakes(two) {
			t.Errorf("dedicated and %s wakes", more)
		}
	}
	if wakes(pending(t)) || wakes(approved(t)) || wakes(retiredDevice(t)) || wakes(bway("deploying", t)) {
		t.Error("a machine that takes no work wakes")
	}
}

func wakes(h *host) bool {
	return slices.ContainsFunc(h.facts, func(f lifecycle.Fact) bool { return f.Name == lifecycle.NodeWake })
}

// EDGE-3: a factory reset keeps maintenance, cordon and operator taints;
// draining and controllers' reasons go.
func TestResetKeepsTheOperators(t *testing.T) {
	call := ops
	call.Reason = "fan"
	h := adopted(t).do(bsched(schedule.Drain), lifecycle.Taint{Call: ops, Add: []string{"a"}}, lifecycle.Condition{Key: "fan", On: true}, lifecycle.Maintain{Call: call, Set: true})
	for _, occupied := range []lifecycle.World{{Open: 1}, {Instances: 1}, {Reservations: 1}, {Migrations: 1}} {
		occupied.Staged = idle.Staged
		if d, ok := h.refused(sm.Conflict, lifecycle.FactoryReset{Call: ops, World: occupied}).(*lifecycle.Detailed); !ok || d.Count != 1 {
			t.Errorf("%+v: no count", occupied)
		}
	}
	h.do(lifecycle.FactoryReset{Call: ops, World: idle}).prov(provision.Absent)
	s := h.Node.Sched
	if s.State != schedule.Cordoned || s.Service != schedule.Maintenance || !slices.Equal(s.Taints, []string{"a"}) || len(h.Node.Conditions) > 0 {
		t.Errorf("%+v, %v", s, h.Node.Conditions)
	}
}
