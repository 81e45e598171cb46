package lifecycle

import (
	"slices"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
)

// World is what other parts know at the instant of a step. A part that cannot
// answer is named in Missing, which is never read as "none" (REG-18): inputs
// that need an answer are UNAVAILABLE then. The zero World is a machine with
// nothing on it, at a site that can do nothing, and strict: its machines run
// agents, so that a wipe must be proved.
//
// Everything in it is read in the transaction of the commit, or is old by then: a
// lease that is placed in between would stand on a machine that is being erased.
type World struct {
	Missing string // the part that could not answer

	Open   int // open allocations (PLACE-4)
	Live   int // allocations that a drain waits for (PLACE-4, EDGE-11)
	Tenant int // started, unreleased allocations of tenants other than the caller

	Instances, Reservations, Migrations int // of placement and its embedder

	Staged    []string // images that a booter has
	Agentless bool     // the pool's machines run no agents, so that wipes go unproved (EDGE-10)
	Engine    bool     // a workflow engine is configured
	Serviced  bool     // BMC credentials and a serving site agent
	Off       bool     // confirmed off (BMC-2)
	Quorum    int      // approver keys that the pool asks for (PROV-16)
}

// answers refuses where a part of the world cannot say. It comes after the
// state's own refusals, which no answer would change.
func (w *work) answers(world *World) error {
	if world.Missing == "" {
		return nil
	}
	return refuse(w.name, "REG-18", sm.Unavailable, world.Missing+" cannot answer", "try again when it can")
}

// occupied is how many things on the machine forbid a reset (REG-18, EDGE-3).
func (world *World) occupied() int {
	return world.Instances + world.Reservations + world.Migrations + world.Open
}

// enrolls reports whether the site has a valid enrollment image that is
// staged (BOOT-2, REG-18).
func (world *World) enrolls(image string) bool {
	return netboot.CheckImage(image) == nil && slices.Contains(world.Staged, image)
}

// regFacts are the guards of the registration axis that the node, site and
// world answer.
func (w *work) regFacts(world *World) sm.Guard {
	return sm.Guard(0).With(registration.Retired, w.Node.retired()).
		With(registration.Held, heldBy(&w.was.Node).Holder != Free).
		With(registration.Occupied, world.occupied() > 0).
		With(registration.Allocated, world.Open > 0).
		With(registration.Image, world.enrolls(w.Site.Policy.Enrollment))
}

// provFacts are the guards of the provision axis that the node and world
// answer.
func (w *work) provFacts(world *World) sm.Guard {
	holder := w.slot.Holder
	return sm.Guard(0).With(provision.Held, holder != Free).
		With(provision.OtherHeld, holder != Free && holder != Workflow).
		With(provision.Tenant, world.Tenant > 0).
		With(provision.Open, world.Open > 0).
		With(provision.Engine, world.Engine).
		With(provision.Serviced, world.Serviced).
		With(provision.Agents, !world.Agentless).
		With(provision.Capable, !world.Agentless).
		With(provision.Off, world.Off).
		With(provision.Cordoned, w.Node.Sched.Cordoned())
}

// retired reports whether the machine is out of service for good (EDGE-4).
func (n *Node) retired() bool {
	return n.Prov.State == provision.Retired || n.Run.Retire.State == run.Offline
}
