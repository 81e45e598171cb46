package placement_test

import (
	"testing"

	"github.com/ingotmetal/ingot/placement"
	"github.com/ingotmetal/ingot/placement/placementtest"
	"pgregory.net/rapid"
)

// Everybody who may ask, the empty tenant and a stranger among them.
func askers() []placement.Tenant { return append(placementtest.Tenants(), "", "a/b", "stranger") }

func TestAdmitsIsJudgeTurnedRound(t *testing.T) {
	for c := range placementtest.World() {
		whom := placement.Admits(c.Node(), c.Policy)
		for _, tenant := range askers() {
			if got := placement.Judge(c.Node(), tenant, c.Policy).Placeable(); got != whom.Includes(tenant) {
				t.Fatalf("%v: %q is let through %t, yet it admits %v", c, tenant, got, whom)
			}
		}
	}
}

// P25 and P26: the tenants that are woken are exactly those for whom the node
// was closed and is open, by the naive reading of both sides.
func TestEdgeWakesWhoGotIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := placementtest.Nodes().Draw(t, "before"), placementtest.Nodes().Draw(t, "after")
		p := rapid.SampledFrom(placementtest.Policies()).Draw(t, "policy")
		woken := placement.Edge(before, after, p)
		for _, tenant := range askers() {
			was := placement.Judge(before, tenant, p).Placeable()
			is := placement.Judge(after, tenant, p).Placeable()
			if got := placement.Opened(before, after, tenant, p); got != (!was && is) {
				t.Fatalf("%q: was %t, is %t, opened %t", tenant, was, is, got)
			}
			if got := woken.Includes(tenant); got != (!was && is) {
				t.Fatalf("%q: was %t, is %t, woken %v", tenant, was, is, woken)
			}
		}
	})
}

// An edge has four shapes, and the world has pairs of nodes for each.
func TestShapesOfEdges(t *testing.T) {
	saw := map[string]bool{}
	for before := range placementtest.World() {
		for after := range placementtest.World() {
			switch woken := placement.Edge(before.Node(), after.Node(), before.Policy); {
			case woken.Empty():
				saw["nobody"] = true
			case woken.Everyone && woken.Tenant == "":
				saw["everyone"] = true
			case woken.Everyone:
				saw["everyone but one"] = true
			default:
				saw["one"] = true
			}
			if len(saw) == 4 {
				return
			}
		}
	}
	t.Errorf("only %v", saw)
}

// Along any history of a node each opening wakes once, and as often as it
// closed again: the wakes and the losses of a tenant alternate.
func TestWakesAlternateWithLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(placementtest.Policies()).Draw(t, "policy")
		history := rapid.SliceOfN(placementtest.Nodes(), 2, 12).Draw(t, "history")
		for _, tenant := range placementtest.Tenants() {
			in := placement.Judge(history[0], tenant, p).Placeable()
			for i, n := range history[1:] {
				switch {
				case placement.Opened(history[i], n, tenant, p):
					if in {
						t.Fatalf("step %d woke %q, who was in", i, tenant)
					}
					in = true
				case placement.Opened(n, history[i], tenant, p):
					if !in {
						t.Fatalf("step %d lost %q, who was out", i, tenant)
					}
					in = false
				}
				if in != placement.Judge(n, tenant, p).Placeable() {
					t.Fatalf("step %d: the wakes say %q is in: %t", i, tenant, in)
				}
			}
		}
	})
}

func TestEdgeByHand(t *testing.T) {
	open := placement.Node{}
	ours := placement.Node{Dedications: 1, Tenant: "acme"}
	theirs := placement.Node{Dedications: 1, Tenant: "beta"}
	cordoned := placement.Node{Holds: placement.Cordoned, Dedications: 1, Tenant: "acme"}
	draining := placement.Node{Others: true}
	for _, c := range []struct {
		name          string
		before, after placement.Node
		policy        placement.Policy
		want          string
	}{
		{"uncordon a dedicated node", cordoned, ours, placement.EveryReason, "acme"},
		{"cordon it", ours, cordoned, placement.EveryReason, "nobody"},
		{"drain ends", draining, open, placement.EveryReason, "everyone"},
		{"drain ends, for whole nodes", draining, open, placement.DedicationsOnly, "nobody"},
		{"dedication lifted", ours, open, placement.EveryReason, "everyone but acme"},
		{"dedication set", open, ours, placement.EveryReason, "nobody"},
		{"dedication handed over", ours, theirs, placement.EveryReason, "beta"},
		{"nothing changed", ours, ours, placement.EveryReason, "nobody"},
		{"reachable again", placement.Node{Others: true, Dedications: 1, Tenant: "acme"}, ours, placement.EveryReason, "acme"},
	} {
		if got := placement.Edge(c.before, c.after, c.policy).String(); got != c.want {
			t.Errorf("%s: wakes %s, want %s", c.name, got, c.want)
		}
	}
}
