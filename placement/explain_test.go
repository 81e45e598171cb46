package placement_test

import (
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/placement"
	"github.com/ingotmetal/ingot/placement/placementtest"
)

// Explain and Judge agree on every case: the same causes, none without one.
func TestExplainAgreesWithJudge(t *testing.T) {
	for c := range placementtest.World() {
		for _, tenant := range []placement.Tenant{c.Tenant, ""} {
			var causes placement.Causes
			for _, b := range placement.Explain(c.Holds, c.Reasons, tenant, c.Policy) {
				causes |= b.Cause
			}
			if want := placement.Judge(c.Node(), tenant, c.Policy); causes != want {
				t.Fatalf("%v, asked by %q: explained %v, judged %v", c, tenant, causes, want)
			}
		}
	}
}

// The list is what has to go, all of it and nothing else.
func TestExplainIsMinimal(t *testing.T) {
	for c := range placementtest.World() {
		list := placement.Explain(c.Holds, c.Reasons, c.Tenant, c.Policy)
		if v := without(c, list); !placement.Judge(v.Node(), c.Tenant, c.Policy).Placeable() {
			t.Fatalf("%v: still blocked once %v is lifted", c, list)
		}
		for i := range list {
			most := append(append([]placement.Blocker{}, list[:i]...), list[i+1:]...)
			if v := without(c, most); placement.Judge(v.Node(), c.Tenant, c.Policy).Placeable() {
				t.Fatalf("%v: %v did not have to go", c, list[i])
			}
		}
	}
}

// without returns the case with the blockers lifted.
func without(c placementtest.Case, gone []placement.Blocker) placementtest.Case {
	var keys []string
	lifted := map[placement.Reason]bool{}
	for _, b := range gone {
		if lifted[b.Reason] = true; b.Reason == "" {
			c.Holds &^= b.Cause
		}
	}
	for r := range c.Reasons.All() {
		if !lifted[r] {
			keys = append(keys, string(r))
		}
	}
	c.Reasons, _ = placement.ParseReasons(keys...)
	return c
}

func TestExplainNamesOwnerAndRemedy(t *testing.T) {
	set, err := placement.ParseReasons("taint:dedicated=acme", "taint:dedicated=beta", "draining", "unreachable", "conditions", "newer")
	if err != nil {
		t.Fatal(err)
	}
	holds := placement.Tombstoned | placement.Disabled | placement.Quarantined | placement.Unprovisioned | placement.Maintenance | placement.Cordoned | placement.Missing | placement.Unbookable | 1<<15
	want := []struct {
		cause  string
		reason placement.Reason
		owner  placement.Owner
		remedy string
	}{
		{"tombstoned", "", placement.Provision, "new one"},
		{"disabled", "", placement.Registration, "REG-3"},
		{"quarantined", "", placement.Identity, "LIVE-5"},
		{"unprovisioned", "", placement.Provision, "PROV-3"},
		{"maintenance", "", placement.Operator, "SCHED-4"},
		{"cordoned", "", placement.Operator, "uncordon"},
		{"missing", "", placement.Inventory, "announces"},
		{"unbookable", "", placement.Inventory, "another device"},
		{"unknown", "", placement.Nobody, "none known"},
		{"reason", "conditions", placement.Health, "repair"},
		{"reason", "draining", placement.Drain, "SCHED-2"},
		{"reason", "newer", placement.Nobody, "none known"},
		{"contested-dedication", "taint:dedicated=beta", placement.Operator, "remove the taint"},
		{"reason", "unreachable", placement.Connectivity, "agent"},
	}
	got := placement.Explain(holds, set, "acme", placement.EveryReason)
	if len(got) != len(want) {
		t.Fatalf("got %d blockers: %+v", len(got), got)
	}
	for i, w := range want {
		g := got[i]
		if g.Cause.String() != w.cause || g.Reason != w.reason || g.Owner != w.owner || !strings.Contains(g.Remedy, w.remedy) {
			t.Errorf("blocker %d: got %+v, want %+v", i, g, w)
		}
	}
}
