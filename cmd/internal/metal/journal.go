package metal

import (
	"context"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// A journal keeps in the store what one machine must not do twice (BMC-3).
type journal struct {
	door *control.Door
	node lifecycle.NodeID
}

// Begun refuses what was begun before.
func (j journal) Begun(ctx context.Context, e machine.Entry) error {
	return j.door.SendBegins(ctx, j.node, control.Sending{ID: e.ID, Verb: string(e.Verb), Action: string(e.Action), At: e.At.UTC().Round(0)})
}

// Ended keeps what came of it.
func (j journal) Ended(ctx context.Context, e machine.Entry, r bmc.Result, err error) error {
	return j.door.SendEnds(ctx, j.node, e.ID, inWords(r, err))
}
