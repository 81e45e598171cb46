package lifecycle

import (
	"slices"
	"strings"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// Power is a power verb (PROV-7): a queued command that moves no state, and
// expires after CommandLife. It is refused while an attempt holds the machine,
// whose workflow drives the power itself, and without BMC credentials or a
// serving site agent.
type Power struct {
	Call
	World   World
	Request string // ID: the same again answers the same command; with another action a CONFLICT
	Action  string
}

// Name is power.
func (Power) Name() string { return "power" }

// CommandLife is how long a queued command may wait (PROV-7).
const CommandLife = 5 * time.Minute

// CommandCarry is how much longer one may take that was begun in time: a graceful
// restart waits for the operating system, and for a BMC that restarts on the way.
const CommandCarry = 30 * time.Minute

// ends is when a command is void. Its ID stands until Expires in any case.
func (c *Command) ends() time.Time {
	if c.Begun && !c.Done {
		return c.Expires.Add(CommandCarry)
	}
	return c.Expires
}

// MaxCommands bounds a node's queue.
const MaxCommands = 64

func (in Power) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if in.Request == "" || w.names(in.Request) != nil || !slices.Contains(powerActions(), in.Action) {
		return invalid(w.name, "PROV-7", "want a request ID and one of %s", strings.Join(powerActions(), ", "))
	}
	// A repeat is answered before state and world: its command may have run, and have
	// led to just what would refuse a new one.
	queue := w.queue()
	if i := slices.IndexFunc(queue, func(c Command) bool { return c.ID == in.Request }); i >= 0 {
		return in.again(w, &queue[i])
	}
	if err := w.answers(&in.World); err != nil {
		return err
	}
	held := heldBy(&w.was.Node).Holder != Free // also by a retirement that waits for off (EDGE-5)
	e := provision.Event{Event: onProv(provision.PowerVerb), Facts: w.provFacts(&in.World).With(provision.Held, held)}
	if err := w.prov(e); err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	// Done ones count until they expire, as their IDs still stand; so a caller that
	// loops is stopped within CommandLife.
	if len(queue) >= MaxCommands {
		return refuse(w.name, "PROV-7", sm.RateLimited, "the node's queue is full", "wait until some have ended")
	}
	w.Node.Commands = append(queue, Command{ID: in.Request, Verb: in.Action, Expires: w.now.Add(CommandLife)})
	w.facts = append(w.facts, Fact{Name: CommandQueued, Key: in.Request, Why: in.Action})
	return nil
}

// again answers a request ID that names a command already.
func (in *Power) again(w *work, c *Command) error {
	if c.Verb != in.Action {
		return refuse(w.name, "PROV-7", sm.Conflict, "the request ID names a "+c.Verb+" command", "use another ID")
	}
	return nil
}

// queue is a copy of the commands whose request IDs still mean something. One
// that is done needs no sweep: it goes when the next one comes.
func (w *work) queue() []Command {
	return slices.DeleteFunc(slices.Clone(w.Node.Commands), func(c Command) bool { return c.Done && !w.now.Before(c.Expires) })
}

// endCommands marks the commands that wait and that picked names as done.
func (w *work) endCommands(why string, picked func(Command) bool) {
	cloned := false
	for i, c := range w.Node.Commands {
		if c.Done || !picked(c) {
			continue
		}
		if !cloned {
			w.Node.Commands, cloned = slices.Clone(w.Node.Commands), true
		}
		w.Node.Commands[i].Done, w.Node.Commands[i].Result = true, why
		w.facts = append(w.facts, Fact{Name: CommandEnded, Key: c.ID, Why: why})
	}
}

// preempt cancels what waits when an attempt takes the free machine: a command
// that came later than the attempt's end would meet a machine that it was not
// meant for (PROV-7).
func (w *work) preempt() {
	if w.slot.Holder == Free && SlotOf(&w.Node).Holder != Free {
		w.endCommands("cancelled", func(Command) bool { return true })
	}
}

func powerActions() []string {
	return []string{"on", "off", "graceful-off", "reset", "graceful-restart", "cycle", "nmi"}
}

// CommandBegun says that an agent carries a command out from now on. One that waits no
// more, or is begun already, is a CONFLICT: nothing may be sent for it.
type CommandBegun struct{ ID string }

// Name is command-begun.
func (CommandBegun) Name() string { return "command-begun" }

func (in CommandBegun) apply(w *work) error {
	for i, c := range w.Node.Commands {
		if c.ID == in.ID && !c.Begun && !c.Done && w.now.Before(c.Expires) {
			w.Node.Commands = slices.Clone(w.Node.Commands)
			w.Node.Commands[i].Begun = true
			w.facts = append(w.facts, Fact{Name: CommandStarted, Key: c.ID, Why: c.Verb})
			return nil
		}
	}
	return refuse(w.name, "PROV-7", sm.Conflict, "no such command waits", "look at the node's commands")
}

// CommandDone says that a queued command was carried out, or failed. An ID that
// waits no more changes nothing: the command has expired, or its end is known.
type CommandDone struct{ ID, Result string }

// Name is command-done.
func (CommandDone) Name() string { return "command-done" }

func (in CommandDone) apply(w *work) error {
	w.endCommands(cutReason(in.Result), func(c Command) bool { return c.ID == in.ID })
	return nil
}
