package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/bmc"
)

// A powerResult is what a verb came to.
type powerResult struct {
	Verb    bmc.Verb    `json:"verb"`
	State   bmc.State   `json:"state"`
	Changed bool        `json:"changed"` // something was accepted
	Sent    []powerSent `json:"sent,omitempty"`
	Raw     string      `json:"raw,omitempty"` // as the BMC said the state
	Chassis bmc.State   `json:"chassis,omitempty"`
	At      time.Time   `json:"at,omitzero"` // when it was seen
}

// powerSent is one action that the BMC accepted.
type powerSent struct {
	Action bmc.Action `json:"action"`
	As     string     `json:"as,omitempty"`
	Task   string     `json:"task,omitempty"`
	Why    string     `json:"why,omitempty"`
	At     time.Time  `json:"at,omitzero"`
}

func (a *app) bmcPower() *cobra.Command {
	var b bmcFlags
	var verbs []string
	for _, v := range bmc.Verbs() {
		verbs = append(verbs, string(v))
	}
	c := a.leaf("power VERB", "Take a machine to the state that a verb names: "+strings.Join(verbs, ", "), "ingot bmc power cycle"+bmcExample,
		func(c *cobra.Command, words []string) error {
			v := bmc.Verb(words[0])
			if !slices.Contains(bmc.Verbs(), v) {
				return usage("no such verb: %s", quote(words[0])).then("known: %s", strings.Join(verbs, ", "))
			}
			return a.onBMC(c.Context(), &b, true, 0, func(ctx context.Context, r *reach) error { return r.power(ctx, v) })
		})
	c.Args = exactly(1)
	c.ValidArgs = verbs
	c.ValidArgsFunction = func(_ *cobra.Command, words []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(words) > 0 {
			return nil, noFiles
		}
		return starting(verbs, start), noFiles
	}
	a.accessFlags(c, &b)
	return c
}

// power runs a verb, which says itself how long it waits.
func (r *reach) power(ctx context.Context, v bmc.Verb) error {
	r.told.powers = true
	result, err := r.Power(ctx, v, "")
	if err != nil {
		return err
	}
	out := powerResult{Verb: v, State: result.Last.State, Changed: result.Changed, Raw: result.Last.Raw, Chassis: result.Last.Chassis, At: result.Last.Ended}
	for _, s := range result.Sent {
		out.Sent = append(out.Sent, powerSent{s.Action, s.As, s.Task, s.Why, s.At})
	}
	return r.show(ctx, "bmc.power", out)
}
