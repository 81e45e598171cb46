package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/placement"
)

// A hindrance is one thing that keeps work away from a node, with who can end it and
// how.
type hindrance struct {
	Cause  string `json:"cause"`
	Reason string `json:"reason,omitempty"`
	Owner  string `json:"owner"`
	What   string `json:"what"`
	Next   string `json:"next"` // a command where there is one
}

// whyNotCommand says what keeps work away from a node. Package placement judges, as
// it does where work is placed.
func (a *app) whyNotCommand() *cobra.Command {
	tenant := ""
	c := a.newVerb(api.NodeShow, "why-not", func(v *verb, raw []byte) error { return whyNot(v, raw, tenant) })
	c.Flags().StringVar(&tenant, "tenant", "", "the `TENANT` whose work it is; left out: one that no node is dedicated to")
	c.Short = "Say what keeps new work away from a node, and what would end it"
	c.Example = "ingot why-not " + sampleNode
	return c
}

func whyNot(v *verb, raw []byte, tenant string) error {
	var n api.Node
	if err := json.Unmarshal(raw, &n); err != nil {
		return &Refusal{"the answer is no node", "use a newer ingot", "UNAVAILABLE"}
	}
	all, err := hindrances(&n, placement.Tenant(tenant))
	if err != nil {
		return err
	}
	if v.structured() {
		return v.value(context.Background(), "why-not", must(map[string]any{"node_id": n.ID, "hindrances": append([]hindrance{}, all...)}))
	}
	var b strings.Builder
	for _, h := range all {
		fmt.Fprintf(&b, "%s\n  %s\n", clean(h.What), clean(h.Next))
	}
	if len(all) == 0 {
		b.WriteString("nothing keeps work away from " + clean(n.ID) + "\n")
	}
	return v.print(b.String())
}

// hindrances are the blockers, the most final first, and then what the setup or
// another attempt does to the machine meanwhile.
func hindrances(n *api.Node, t placement.Tenant) ([]hindrance, error) {
	if _, err := placement.ParseTenant(string(t)); t != "" && err != nil {
		return nil, usage("--tenant: %v", err)
	}
	keys := slices.Concat(n.Scheduling.Reasons, n.Conditions)
	slices.Sort(keys)
	reasons, err := placement.ParseReasons(slices.Compact(keys)...)
	if err != nil {
		return nil, &Refusal{"the node has a reason that this program cannot read: " + err.Error(), "use a newer ingot", "UNAVAILABLE"}
	}
	var out []hindrance
	for _, b := range placement.Explain(holds(n), reasons, t, placement.EveryReason) {
		what, next := inTheWay(n, b)
		out = append(out, hindrance{b.Cause.String(), string(b.Reason), b.Owner.String(), what, next})
	}
	if n.DeletedAt.IsZero() {
		out = append(out, meanwhile(n)...)
	}
	return out, nil
}

// holds are the facts of a node that keep everybody out.
func holds(n *api.Node) (c placement.Causes) {
	takes := []string{"adopted", "deployed", "ready"} // of PROV-1, the states that work may be placed in
	for cause, there := range map[placement.Causes]bool{
		placement.Tombstoned:    !n.DeletedAt.IsZero(),
		placement.Disabled:      n.States.Registration == "disabled",
		placement.Quarantined:   n.Identity.Quarantined,
		placement.Unprovisioned: !slices.Contains(takes, n.States.Provision),
		placement.Maintenance:   n.Scheduling.Maintenance,
		placement.Cordoned:      n.Scheduling.Cordoned,
	} {
		if there {
			c |= cause
		}
	}
	return c
}

// inTheWay is a blocker in words, with the command that would end it where there is
// one, and placement's remedy where there is none.
func inTheWay(n *api.Node, b placement.Blocker) (what, next string) {
	server := n.Claims.Server
	switch b.Cause {
	case placement.Tombstoned:
		return "it is deleted", b.Remedy
	case placement.Disabled:
		return "its registration is disabled", "ingot registration factory-reset " + server + " --yes, or register and approve it again"
	case placement.Quarantined:
		return "its identity is quarantined", b.Remedy
	case placement.Unprovisioned:
		if n.States.Provision == "" {
			return "it has no provision axis: it was never accepted", "ingot lifecycle path provision absent ready"
		}
		return "its provision state is " + n.States.Provision, "ingot lifecycle path provision " + n.States.Provision + " ready"
	case placement.Maintenance:
		return "it is in maintenance: " + n.Scheduling.MaintenanceReason, "ingot maintenance " + n.ID + " off --reason TEXT"
	case placement.Cordoned:
		return "it is cordoned", "ingot uncordon " + n.ID
	case placement.Foreign:
		return "it is dedicated to another tenant (" + string(b.Reason) + ")", b.Remedy
	case placement.Contested:
		return "it is dedicated twice, and so to nobody (" + string(b.Reason) + ")", b.Remedy
	}
	if b.Reason == placement.Draining {
		return "it is draining", "ingot uncordon " + n.ID + ", or wait for the drain to end"
	}
	return "it has the reason " + string(b.Reason), b.Remedy
}

// meanwhile is what happens to the machine now.
func meanwhile(n *api.Node) (out []hindrance) {
	server := n.Claims.Server
	for state, next := range map[string]string{
		"pending":        "ingot approve --code-file FILE, with the code that the machine shows",
		"awaiting_setup": "ingot plan " + server + " --layout gpt --disk serial=SERIAL --hostname NAME",
		"setting_up":     "wait: ingot registration show " + server + " --until state=approved",
	} {
		if n.States.Registration == state {
			out = append(out, hindrance{"registration", "", "registration", "its registration is " + state, next})
		}
	}
	if s := n.States.Retirement; s != "" && s != "none" {
		out = append(out, hindrance{"retirement", "", "inventory", "it is being retired (" + s + ")", "nothing: it leaves"})
	}
	if a := n.Attempt; a != nil {
		out = append(out, hindrance{"attempt", "", a.Holder, fmt.Sprintf("%s holds the machine (%s, attempt %d)", a.Holder, a.State, a.Epoch), "wait: ingot node show " + n.ID + " --watch"})
	}
	return out
}
