package lifecycle

import (
	"iter"
	"time"

	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// Need is one thing that a node's state wants from the world. A reconciler
// compares what is wanted with what it has begun, by node, epoch and verb; so
// a crash between a commit and a call loses nothing.
//
// It is a wish, not an order: to read it begins nothing, and it is yielded again
// until a report has moved the state. Whoever acts on it sends Epoch back in that
// report. To act without such a memory starts a workflow once a pass.
type Need struct {
	Node  NodeID
	Epoch uint64 // of the attempt; zero for what no attempt asks
	Verb  string
	What  string // the workflow, the action or the command
	// Until is when a command is void; zero for all else, which has its
	// deadline in the slot.
	Until time.Time
}

// The verbs of needs.
//
// An input answers each: a workflow that ended is a Report, RunReport or
// RetireReport, as are evict and clean; off is OffConfirmed; the two begins are
// BeginAcceptance and RunBegin; a command is CommandDone, a drain Drained. Nothing
// answers set-offline: the need stands, and to set it twice does no harm.
const (
	NeedWorkflow   = "workflow"         // run What
	NeedOff        = "power-off"        // and confirm it (BMC-2)
	NeedAcceptance = "begin-acceptance" // the slot is free
	NeedRun        = "begin-run"        // the slot is free
	NeedPower      = "power"            // carry out command What
	NeedDrain      = "drain"            // watch the live allocations
	NeedEvict      = "evict"            // within the disruption budgets
	NeedOffline    = "set-offline"      // in the inventory: its device is retired (RUN-9)
	NeedClean      = "clean"            // the orchestrator forgets the node
)

// Needs yields what n's state wants from the world. It is level-triggered: as
// long as the state stands, so does the need, and a reconciler that was away
// finds it again. What has begun under an epoch that is no longer named must be
// stopped, and its reports are refused.
func Needs(n *Node) iter.Seq[Need] {
	return func(yield func(Need) bool) {
		for _, list := range [][]Need{provNeeds(n), runNeeds(n), retireNeeds(n), commandNeeds(n)} {
			for _, need := range list {
				need.Node = n.ID
				if !yield(need) {
					return
				}
			}
		}
	}
}

// provNeeds is the workflow of the provision axis. A retirement that took the
// machine over wants it off first, and still does when it has failed (EDGE-5).
// What must be off comes before what would run: a workflow that began on a machine
// that another attempt may still drive would meet its writes (RUN-6).
func provNeeds(n *Node) []Need {
	p := &n.Prov
	switch {
	case p.AwaitOff && n.Run.Retiring():
		return nil // the owner's retirement asks for off by itself
	case p.AwaitOff:
		return []Need{{Epoch: p.Epoch, Verb: NeedOff}}
	// An acceptance run, a rescue boot or an unrescue: the state is stable, so its name
	// would not say which workflow to run (MACH-4).
	case provision.Table.Open(p.At) && p.Activity != "":
		return []Need{{Epoch: p.Epoch, Verb: NeedWorkflow, What: string(p.Activity)}}
	case provision.Table.Open(p.At):
		return []Need{{Epoch: p.Epoch, Verb: NeedWorkflow, What: string(p.State)}}
	// Retired by a verb, of which the inventory knows nothing (RUN-9). It stands until
	// the node is deleted.
	case p.State == provision.Retired && n.Claims.Device != "":
		return []Need{{Verb: NeedOffline, What: n.Claims.Device}}
	case p.Queued && SlotOf(n).Holder == Free:
		return []Need{{Verb: NeedAcceptance}}
	}
	return nil
}

// runNeeds is the owner's run. One that waits asks for nothing while the machine is
// held: each try would be refused (MACH-3).
func runNeeds(n *Node) []Need {
	switch r := &n.Run; {
	case r.State == run.Running:
		return []Need{{Epoch: r.Epoch, Verb: NeedWorkflow, What: string(r.Action)}}
	case r.State == run.Waiting && heldBy(n).Holder == Free:
		return []Need{{Verb: NeedRun, What: string(r.Action)}}
	}
	return nil
}

// retireNeeds is the step of the owner's retirement. The steps that wait for off,
// and cleaning, have no deadline: they are wanted until they are done. How often
// the reconciler tries is [run.RetryAfter], when a wait for off is a danger
// [run.OffAlarm] (RUN-5, RUN-6).
func retireNeeds(n *Node) []Need {
	r := &n.Run.Retire
	need := Need{Epoch: r.Epoch, What: string(r.State)}
	switch r.State {
	case run.Interrupting, run.AwaitingOff:
		need.Verb = NeedOff
	case run.Wiping:
		need.Verb = NeedWorkflow
	case run.Evicting:
		need.Verb = NeedEvict
	case run.Cleaning:
		need.Verb = NeedClean
	default:
		return nil
	}
	return []Need{need}
}

// commandNeeds are the power commands that wait and the drain. A command is carried
// out before Until or not at all (PROV-7); a drain is looked at again at the
// earliest end of an allocation, and every 5 min at least (SCHED-2).
func commandNeeds(n *Node) []Need {
	var needs []Need
	if heldBy(n).Holder == Free { // else a command would drive a machine that an attempt holds
		for _, c := range n.Commands {
			if !c.Done {
				needs = append(needs, Need{Verb: NeedPower, What: c.ID, Until: c.Expires})
			}
		}
	}
	if n.Sched.State == schedule.Draining {
		needs = append(needs, Need{Verb: NeedDrain})
	}
	return needs
}
