package cli

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// waitEvery is how often --wait looks.
const waitEvery = 2 * time.Second

// longestPower is how long a command takes at most: its life, and then what a slow
// operating system needs to go down and a machine to come up.
const longestPower = 20 * time.Minute

// awaited follows a queued command to its end, where --wait asks for that, and puts
// that into the answer.
func (v *verb) awaited(ctx context.Context, c *connection, in reflect.Value, raw []byte) ([]byte, error) {
	ask := in.Interface().(*api.PowerNode)
	var out api.PowerQueued
	if !v.wait || ask.DryRun {
		return raw, nil
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, &Refusal{"the answer has no command", "", "UNAVAILABLE"}
	}
	v.note("%s is queued as %s", clean(out.Command.Action), clean(out.Command.ID))
	for !out.Command.Done {
		if err := pause(ctx, waitEvery); err != nil {
			return nil, &Ended{"the command has not ended in time: " + clean(out.Command.ID), "ingot node commands " + ask.Node + " shows how it ends"}
		}
		all, err := api.NodeCommands.Call(ctx, c.Client, &api.NodeRef{Node: ask.Node})
		if err != nil {
			return nil, err
		}
		if out.Command = find(all.Commands, out.Command); out.Command.Done {
			break
		}
	}
	if !strings.HasPrefix(out.Command.Result, "done") && !strings.HasPrefix(out.Command.Result, "unchanged") {
		return nil, &Refusal{out.Command.Action + " " + clean(out.Command.Result), "ingot node power-state " + ask.Node + " asks the BMC", "UNAVAILABLE"}
	}
	return must(out), nil
}

// find is a command as the list has it; one that it does not have any more has ended
// a while ago, and nobody knows how.
func find(all []api.PowerCommand, c api.PowerCommand) api.PowerCommand {
	for _, x := range all {
		if x.ID == c.ID {
			return x
		}
	}
	c.Done, c.Result = true, "failed: how it ended is not kept any more; the node's events say it"
	return c
}
