package lifecycle_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/provision"
)

// PROV-4: a refusal names the verbs that are legal: what an operator can call, and
// not what was refused.
func TestRefusalsNameVerbsAlone(t *testing.T) {
	_, nodes, worlds, site := bfleet(t, "ready", 1)
	worlds[0].Tenant = 3
	_, err := lifecycle.Step(lifecycle.State{Node: nodes[0], Site: site}, lifecycle.Verb{Call: ops, On: provision.Manage, World: worlds[0]}, dawn)
	r, ok := errors.AsType[*sm.Refused](err)
	if !ok || !slices.Contains(r.Legal, "inspect") || slices.Contains(r.Legal, "manage") || slices.Contains(r.Legal, "join") {
		t.Errorf("%v", err)
	}
	if err == nil || !strings.HasSuffix(err.Error(), "; 3 in the way") {
		t.Errorf("%v does not count the tenants", err)
	}
	if table := provision.Table.Legal(provision.Ready); !slices.Contains(table, "manage") {
		t.Errorf("the table's own list lost what one refusal leaves out: %v", table)
	}
}

// EDGE-18: a value that neither Fresh nor Load began is no machine to decide for.
func TestZeroNodeIsRefused(t *testing.T) {
	_, err := lifecycle.Step(lifecycle.State{}, lifecycle.Sighted{}, dawn)
	if codeOf(err) != string(sm.InvalidState) || !strings.Contains(err.Error(), "EDGE-18") {
		t.Errorf("%v", err)
	}
}

// EDGE-15: no refusal leaves its reader without a way on.
func TestRefusalsSayTheWayOn(t *testing.T) {
	_, nodes, _, site := bfleet(t, "ready", 1)
	for _, c := range []struct {
		in   lifecycle.Input
		node lifecycle.Node
		want string
	}{
		{lifecycle.Verb{Call: ops, On: "paint"}, nodes[0], "legal: manage, inspect, provide"},
		{lifecycle.Verb{Call: ops, On: provision.Manage}, lifecycle.Fresh(), "let its machine join or register"},
		{lifecycle.RunBegin{}, nodes[0], "list the device first"},
		{lifecycle.Inspected{Epoch: 99}, nodes[0], "stop this attempt; its reports are void"},
		{lifecycle.SetEntry{Epoch: 99}, nodes[0], "stop this attempt; its reports are void"},
		{lifecycle.Report{Epoch: 99}, nodes[0], "no attempt is open; stop this one, its reports are void"},
		{lifecycle.Join{Found: []lifecycle.NodeID{"node_other"}, Certificate: "c"}, nodes[0], "find out which machine it is, and delete the other node"},
		{lifecycle.Refresh{}, nodes[0], "register again"},
		{lifecycle.Condition{Key: "draining", On: true}, nodes[0], "choose a key of the controller's own"},
	} {
		_, err := lifecycle.Step(lifecycle.State{Node: c.node, Site: site}, c.in, dawn)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.in.Name(), err, c.want)
		}
	}
}
