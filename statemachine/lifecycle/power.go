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
	Request string // ID: the same again answers the same command
	Action  string
}

// Name is power.
func (Power) Name() string { return "power" }

// CommandLife is how long a queued command may wait (PROV-7).
const CommandLife = 5 * time.Minute

// MaxCommands bounds a node's queue.
const MaxCommands = 64

func (in Power) apply(w *work) error {
	if err := w.live(); err != nil {
		return err
	}
	if in.Request == "" || w.names(in.Request) != nil || !slices.Contains(powerActions(), in.Action) {
		return invalid(w.name, "PROV-7", "want a request ID and one of %s", strings.Join(powerActions(), ", "))
	}
	queued := func(c Command) bool { return c.ID == in.Request }
	if slices.ContainsFunc(w.Node.Commands, queued) {
		return nil
	}
	if err := w.answers(&in.World); err != nil {
		return err
	}
	e := provision.Event{Event: onProv(provision.PowerVerb), Facts: w.provFacts(&in.World)}
	if err := w.prov(e); err != nil {
		return err
	}
	if err := w.call(in.Call); err != nil {
		return err
	}
	if len(w.Node.Commands) >= MaxCommands {
		return refuse(w.name, "PROV-7", sm.RateLimited, "the node's queue is full", "wait until some have ended")
	}
	w.Node.Commands = append(slices.Clip(w.Node.Commands), Command{ID: in.Request, Verb: in.Action, Expires: w.now.Add(CommandLife)})
	w.facts = append(w.facts, Fact{Name: CommandQueued, Key: in.Request, Why: in.Action})
	return nil
}

func powerActions() []string {
	return []string{"on", "off", "graceful-off", "reset", "graceful-restart", "cycle", "nmi"}
}

// CommandDone says that a queued command was carried out, or failed. An ID that
// is not queued changes nothing: the command has expired or been told of.
type CommandDone struct{ ID, Result string }

// Name is command-done.
func (CommandDone) Name() string { return "command-done" }

func (in CommandDone) apply(w *work) error {
	left := slices.DeleteFunc(slices.Clone(w.Node.Commands), func(c Command) bool { return c.ID == in.ID })
	if len(left) == len(w.Node.Commands) {
		return nil
	}
	w.Node.Commands = left
	w.facts = append(w.facts, Fact{Name: CommandEnded, Key: in.ID, Why: cutReason(in.Result)})
	return nil
}
