package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// MaxForce is how far away the deadline of a forced release may be.
const MaxForce = sm.MaxDeadline

// Schedule is a cordon, uncordon or drain (SCHED-1, SCHED-2). Twice the same
// changes nothing; a second drain may add its ask for forced release
// (EDGE-25). Nothing is evicted here: the drain controller acts on the ask.
type Schedule struct {
	Call
	On    schedule.Kind // cordon, uncordon or drain
	Force time.Time     // drain: ask for forced release until then; zero: no ask
}

// Name is the verb.
func (in Schedule) Name() string { return string(in.On) }

func (in Schedule) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if in.On != schedule.Cordon && in.On != schedule.Uncordon && in.On != schedule.Drain {
		return invalid("schedule", "SCHED-1", "%q is no verb; legal: cordon, uncordon, drain", in.On)
	}
	force := schedule.Force{By: keep(in.Force)}
	if in.Force.IsZero() {
		force = schedule.Force{}
	}
	next, changed, err := schedule.Step(w.Node.Sched, schedule.Event{On: in.On, Force: force})
	if err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	if !in.Force.IsZero() && (in.On != schedule.Drain || !in.Force.After(w.now) || in.Force.After(w.now.Add(MaxForce))) {
		return invalid(w.name, "SCHED-2", "only a drain forces release, by a deadline within %s", MaxForce)
	}
	w.Node.Sched = next
	if changed {
		w.factWhy(scheduleFact(in.On), in.Reason)
	}
	return nil
}

func scheduleFact(k schedule.Kind) string {
	switch k {
	case schedule.Cordon:
		return NodeCordoned
	case schedule.Uncordon:
		return NodeUncordoned
	}
	return NodeDraining
}

// Drained is the drain controller that found no live allocation (SCHED-2): the
// node stays cordoned. With one left it is a CONFLICT with the count.
//
// The count is read in the commit's own transaction. An allocation that was placed
// after the controller looked must keep the reason, or work starts on a node that
// its operator believes empty.
type Drained struct{ World World }

// Name is drained.
func (Drained) Name() string { return "drained" }

func (in Drained) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if err := w.answers(&in.World); err != nil {
		return err
	}
	next, _, err := schedule.Step(w.Node.Sched, schedule.Event{On: schedule.Drained, Live: in.World.Live > 0})
	if err != nil {
		return countOf(err, in.World.Live)
	}
	w.Node.Sched = next
	w.fact(NodeDrained)
	return nil
}

// Maintain sets or clears maintenance by an operator, who gives a reason
// (SCHED-4, EDGE-25).
type Maintain struct {
	Call
	Set bool
}

// Name is maintain.
func (Maintain) Name() string { return "maintain" }

func (in Maintain) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	on, fact := schedule.ClearMaintenance, NodeServiced
	if in.Set {
		on, fact = schedule.SetMaintenance, NodeMaintained
	}
	next, changed, err := schedule.StepService(w.Node.Sched, on, in.Reason)
	if err != nil {
		return err
	}
	w.Node.Sched = next
	if changed {
		w.factWhy(fact, in.Reason)
	}
	return nil
}

// Escalate says that a remediation came to nothing (SCHED-3): the node goes
// into maintenance, out of which only an operator takes it.
type Escalate struct{ Why string }

// Name is escalate.
func (Escalate) Name() string { return "escalate" }

func (in Escalate) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	next, changed, err := schedule.StepService(w.Node.Sched, schedule.Escalate, cutReason(in.Why))
	w.Node.Sched = next
	if changed {
		w.factWhy(NodeEscalated, next.Why)
	}
	return err
}

// Taint adds and removes operator taints (TAINT-1). Reasons of controllers,
// draining and unreachable are not its to move.
type Taint struct {
	Call
	Add, Remove []string
}

// Name is taint.
func (Taint) Name() string { return "taint" }

func (in Taint) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	next, changed, err := schedule.Taint(w.Node.Sched, in.Add, in.Remove)
	if err != nil {
		return err
	}
	w.Node.Sched = next
	if changed {
		w.fact(NodeTainted)
	}
	return nil
}

// MaxConditions bounds the NoSchedule reasons of controllers on one node.
const MaxConditions = 64

// Condition is a controller that sets or clears its NoSchedule reason. It
// reaches no operator's taint, nor draining, nor unreachable (TAINT-1).
type Condition struct {
	Key string
	On  bool
}

// Name is condition.
func (Condition) Name() string { return "condition" }

func (in Condition) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if err := schedule.CheckTaintKey(in.Key); err != nil {
		return err
	}
	if in.Key == "draining" || in.Key == "unreachable" || strings.HasPrefix(in.Key, "taint:") {
		return refuse(w.name, "TAINT-1", sm.Denied, in.Key+" has another owner", "choose a key of the controller's own")
	}
	i, has := slices.BinarySearch(w.Node.Conditions, in.Key)
	switch {
	case has == in.On:
		return nil
	case in.On && len(w.Node.Conditions) >= MaxConditions:
		return refuse(w.name, "TAINT-1", sm.RateLimited, fmt.Sprintf("the node has %d conditions already", MaxConditions), "clear some first")
	case in.On:
		w.Node.Conditions = slices.Insert(slices.Clone(w.Node.Conditions), i, in.Key)
	default:
		w.Node.Conditions = slices.Delete(slices.Clone(w.Node.Conditions), i, i+1)
	}
	w.factWhy(NodeConditioned, in.Key)
	return nil
}
