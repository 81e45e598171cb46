package provision_test

import (
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// Reports that come late, again or out of order (MACH-4, EDGE-6, EDGE-7).
// Epoch 0 stands for the node's newest attempt.
func TestReportsOfPastAttempts(t *testing.T) {
	done, fail := provision.Succeeded, provision.Fail
	for _, s := range []struct {
		name   string
		node   *node
		report provision.Kind
		epoch  uint64
		code   sm.Code // empty: success without effect
	}{
		{"deployed, again", deployed(t), done, 0, ""},
		{"deployed, then failed", deployed(t), fail, 0, sm.Conflict},
		{"failed, again", deploying(t).do(t, fail), fail, 0, ""},
		{"failed, then succeeded", deploying(t).do(t, fail), done, 0, sm.Conflict},
		{"aborted, then failed", deploying(t).do(t, provision.Abort), fail, 0, ""},
		{"aborted, then succeeded", deploying(t).do(t, provision.Abort), done, 0, sm.Conflict},
		{"expired, then failed", deploying(t).expire(t), fail, 0, ""},
		{"expired, then succeeded", deploying(t).expire(t), done, 0, sm.Conflict},
		{"unproven, again", releasing(t, "").do(t, done), done, 0, ""},
		{"unproven, then failed", releasing(t, "").do(t, done), fail, 0, sm.Conflict},
		{"unproven, then evidence", releasing(t, "").do(t, done), provision.Wiped, 0, sm.Conflict},
		{"accepted, again", adopted(t), done, 0, ""},
		{"red, again", adopting(t).do(t, fail), fail, 0, ""},
		{"red, then green", adopting(t).do(t, fail), done, 0, sm.Conflict},
		{"acceptance expired, then red", adopting(t).expire(t), fail, 0, ""},
		{"rescue up, again", rescued(t), done, 0, ""},
		{"rescue up, then failed", rescued(t), fail, 0, sm.Conflict},
		{"retired, again", retired(t), done, 0, ""},

		{"rescue's success, again while it returns", returning(t), done, 5, ""},
		{"rescue's failure while it returns", returning(t), fail, 5, sm.Conflict},
		{"acceptance's end, again in the next run", adopting(t).do(t, fail).do(t, provision.Adopt), fail, 1, ""},
		{"acceptance's other end in the next run", adopting(t).do(t, fail).do(t, provision.Adopt), done, 1, sm.Conflict},
		{"deploy's success, again while releasing", releasing(t, ""), done, 4, ""},
		{"enrolling's success, again while inspecting", inspecting(t), done, 1, ""},
		{"enrolling's success, two attempts later", commissioning(t), done, 1, sm.Conflict},
		{"enrolling's evidence while commissioning", commissioning(t), provision.Wiped, 1, sm.Conflict},
		{"retired from enrolling, then its success", enrolling(t).do(t, provision.Retire), done, 1, sm.Conflict},
		{"retired from enrolling, then its failure", enrolling(t).do(t, provision.Retire), fail, 1, sm.Conflict},
		{"an attempt that never was", deploying(t), done, 99, sm.Conflict},
		{"queued acceptance", newNode().do(t, provision.Join, facts(provision.Held)), done, 0, sm.Conflict},
		{"ended by reset, then again", deployed(t).do(t, provision.End), done, 4, sm.Conflict},
		{"deleted, then again", retired(t).do(t, provision.Delete), done, 4, sm.Conflict},
		{"joined anew, then again", deployed(t).do(t, provision.End).do(t, provision.Join), done, 4, sm.Conflict},
	} {
		t.Run(s.name, func(t *testing.T) {
			of := s.epoch
			if of == 0 {
				of = s.node.Epoch
			}
			if s.code != "" {
				s.node.refused(t, s.code, s.report, epoch(of))
				return
			}
			before := s.node.Record
			if s.node.do(t, s.report, epoch(of), text("another"), facts(provision.Off)); s.node.Record != before {
				t.Errorf("the repeat had an effect:\n%+v\n%+v", before, s.node.Record)
			}
		})
	}
}

// EDGE-6: a report after the deadline counts while nothing has expired the
// attempt; then nothing is left to expire.
func TestReportsAfterTheDeadline(t *testing.T) {
	n := deploying(t)
	n.now = n.Deadline.Add(provision.DeployingDeadline)
	if n.do(t, provision.Succeeded); n.State != provision.Deployed {
		t.Error(n.State)
	}
	n.refused(t, sm.InvalidState, provision.Expired)
}

// MACH-4: nothing expires early; in flight, no deadline is overdue; in rescue
// and adopting, no deadline is no attempt.
func TestExpiry(t *testing.T) {
	for _, n := range []*node{deploying(t), booting(t), returning(t), adopting(t)} {
		n.now = n.Deadline.Add(-1)
		n.refused(t, sm.Conflict, provision.Expired)
	}
	n := deploying(t)
	n.Deadline = newNode().Deadline // none
	if n.do(t, provision.Expired); n.State != provision.Failed {
		t.Error(n.State)
	}
	for _, n := range []*node{rescued(t), adopting(t).do(t, provision.Fail)} {
		n.now = n.now.Add(1000 * provision.RetiringDeadline)
		n.refused(t, sm.Conflict, provision.Expired)
	}
}

// EDGE-7: every attempt has an epoch above all before it.
func TestEpochsOnlyGrow(t *testing.T) {
	n := deployed(t)
	for _, next := range []uint64{0, n.Epoch - 1, n.Epoch} {
		n.refused(t, sm.InvalidInput, provision.Undeploy, func(e *provision.Event) { e.Next = next })
	}
	if n.do(t, provision.Undeploy, func(e *provision.Event) { e.Next = 40 }); n.Epoch != 40 {
		t.Errorf("epoch %d", n.Epoch)
	}
}
