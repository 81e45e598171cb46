package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
)

// A hindrance is one thing that keeps work away from a node, with what would end it.
type hindrance struct {
	What string `json:"what"`
	Next string `json:"next"`
}

// whyNotCommand says what keeps work away from a node.
func (a *app) whyNotCommand() *cobra.Command {
	c := a.newVerb(api.NodeShow, "why-not", whyNot)
	c.Short = "Say what keeps new work away from a node, and what would end it"
	c.Example = "ingot why-not " + sampleNode
	return c
}

func whyNot(v *verb, raw []byte) error {
	var n api.Node
	if err := json.Unmarshal(raw, &n); err != nil {
		return &Refusal{"the answer is no node", "", "UNAVAILABLE"}
	}
	all := hindrances(&n)
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

// hindrances are the reasons in the order in which a person would end them: what the
// node is, then what was asked of it, then what it lacks.
func hindrances(n *api.Node) (out []hindrance) {
	add := func(there bool, what, next string) {
		if there {
			out = append(out, hindrance{what, next})
		}
	}
	if !n.DeletedAt.IsZero() {
		return []hindrance{{"it is deleted", "nothing: a tombstone stays one"}}
	}
	out = append(out, standing(n)...)
	s := n.Scheduling
	add(s.Cordoned && !s.Draining, "it is cordoned", "ingot uncordon "+n.ID)
	add(s.Draining, "it is draining", "ingot uncordon "+n.ID+" (ends the drain)")
	add(s.Maintenance, "it is in maintenance: "+s.MaintenanceReason, "ingot maintenance "+n.ID+" off --reason TEXT")
	for _, r := range s.Reasons {
		out = append(out, reasonOf(n, r)...)
	}
	for _, c := range n.Conditions {
		add(true, "a controller reports "+c, "the controller that set it ends it when it is no longer so")
	}
	if a := n.Attempt; a != nil {
		add(true, fmt.Sprintf("%s holds the machine (%s, attempt %d)", a.Holder, a.State, a.Epoch), "wait: ingot node show "+n.ID+" --watch")
	}
	add(n.Identity.Quarantined, "its identity is quarantined", "see ingot event list --node "+n.ID+" --type security.")
	return out
}

// standing is what its registration and provision say.
func standing(n *api.Node) (out []hindrance) {
	next := map[string]string{
		"pending":        "ingot approve --code-file FILE (the code that the machine shows)",
		"awaiting_setup": "ingot plan " + n.Claims.Server + " --layout gpt --disk serial=SERIAL --hostname NAME",
		"setting_up":     "wait: ingot registration show " + n.Claims.Server + " --until state=approved",
		"disabled":       "ingot registration factory-reset " + n.Claims.Server,
	}
	if s := n.States.Registration; s != "" && s != "approved" && s != "absent" {
		step, ok := next[s]
		if !ok {
			step = "ingot registration show " + n.Claims.Server
		}
		out = append(out, hindrance{"its registration is " + s, step})
	}
	if s := n.States.Provision; s != "" && s != "absent" && s != "active" && s != "deployed" {
		out = append(out, hindrance{"its provision state is " + s, "ingot lifecycle path provision " + s + " active"})
	}
	return out
}

// reasonOf is a NoSchedule reason that the flags have not told already.
func reasonOf(n *api.Node, reason string) []hindrance {
	key, taint := strings.CutPrefix(reason, "taint:")
	switch {
	case taint:
		return []hindrance{{"it has the taint " + key, "who set the taint removes it; ingot event list --node " + n.ID + " --type node.tainted says who"}}
	case reason == "unreachable":
		return []hindrance{{"it is unreachable (" + n.States.Connectivity + ")", "its agent must connect; ingot node show " + n.ID + " says when it was last seen"}}
	case reason == "draining" || reason == "cordoned" || reason == "maintenance" || reason == "conditions":
		return nil
	}
	return []hindrance{{reason, "ingot node show " + n.ID}}
}
