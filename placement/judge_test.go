package placement_test

import (
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/placement"
	"github.com/ingotmetal/ingot/placement/placementtest"
	"pgregory.net/rapid"
)

// literal is TAINT-2 word for word, from the reasons and not from the flat
// node: the naive twin of Judge.
func literal(c placementtest.Case) bool {
	if c.Holds != 0 {
		return false
	}
	tenants, others := c.Dedications()
	switch {
	case c.Policy == placement.DedicationsOnly && len(tenants) == 0:
		return true
	case c.Policy == placement.EveryReason && c.Reasons.Len() == 0:
		return true
	case c.Policy == placement.EveryReason && others > 0:
		return false
	}
	return len(tenants) == 1 && tenants[0] == c.Tenant
}

// P7 to P12: exhaustive over every set of the reasons, hold, tenant, policy.
func TestJudgeIsTaint2(t *testing.T) {
	for c := range placementtest.World() {
		if got := placement.Judge(c.Node(), c.Tenant, c.Policy); got.Placeable() != literal(c) {
			t.Fatalf("%v: got %v", c, got)
		}
	}
}

func TestJudgeKeepsTheLaws(t *testing.T) {
	placementtest.Run(t, func(c placementtest.Case) bool {
		return placement.Judge(c.Node(), c.Tenant, c.Policy).Placeable()
	})
}

func TestJudgeNamesEveryCause(t *testing.T) {
	const every, bare = placement.EveryReason, placement.DedicationsOnly
	for _, c := range []struct {
		name    string
		holds   placement.Causes
		reasons []string
		policy  placement.Policy
		want    string
	}{
		{"open", 0, nil, every, "none"},
		{"ours", 0, []string{"taint:dedicated=acme"}, every, "none"},
		{"another's", 0, []string{"taint:dedicated=beta"}, every, "foreign-dedication"},
		{"another's whole node", 0, []string{"taint:dedicated=beta"}, bare, "foreign-dedication"},
		{"ours and draining", 0, []string{"taint:dedicated=acme", "draining"}, every, "reason"},
		{"ours and draining, whole node", 0, []string{"taint:dedicated=acme", "draining"}, bare, "none"},
		{"another's and draining", 0, []string{"taint:dedicated=beta", "draining"}, every, "foreign-dedication+reason"},
		{"two", 0, []string{"taint:dedicated=acme", "taint:dedicated=beta"}, every, "contested-dedication"},
		{"two, whole node", 0, []string{"taint:dedicated=acme", "taint:dedicated=beta"}, bare, "contested-dedication"},
		{"tainted", 0, []string{"taint:burn-in"}, every, "reason"},
		{"tainted whole node", 0, []string{"taint:burn-in"}, bare, "none"},
		{"unreachable", 0, []string{"unreachable"}, every, "reason"},
		{"cordoned and in maintenance", placement.Cordoned | placement.Maintenance, nil, bare, "maintenance+cordoned"},
		{"disabled whole node", placement.Disabled, nil, bare, "disabled"},
		{"quarantined whole node", placement.Quarantined, []string{"taint:dedicated=acme"}, bare, "quarantined"},
		{"all at once", placement.Tombstoned | placement.Unprovisioned, []string{"draining"}, every, "tombstoned+unprovisioned+reason"},
		{"just after the last known", placement.Reasoned << 1, nil, every, "unknown"},
		{"of a newer version", 1 << 15, nil, bare, "unknown"},
		{"a policy of a newer version", 0, []string{"draining"}, 7, "reason"},
	} {
		set, err := placement.ParseReasons(c.reasons...)
		if err != nil {
			t.Fatal(err)
		}
		if got := placement.Judge(placement.Flatten(c.holds, set), "acme", c.policy).String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// No tenant in particular is let through only where everyone is.
func TestNoTenantIsEveryTenant(t *testing.T) {
	for c := range placementtest.World() {
		all := true
		for _, tenant := range placementtest.Tenants() {
			all = all && placement.Judge(c.Node(), tenant, c.Policy).Placeable()
		}
		if got := placement.Judge(c.Node(), "", c.Policy).Placeable(); got != all {
			t.Fatalf("%v: got %t", c, got)
		}
	}
}

// More causes never let more through: whatever is added to a node but a
// dedication to its own tenant, who was kept out stays out.
func TestBlockersOnlyBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := placementtest.Nodes().Draw(t, "node")
		tenant := rapid.SampledFrom(placementtest.Tenants()).Draw(t, "tenant")
		p := rapid.SampledFrom(placementtest.Policies()).Draw(t, "policy")
		worse := n
		switch rapid.IntRange(0, 2).Draw(t, "add") {
		case 0:
			worse.Holds |= rapid.SampledFrom(placementtest.Holds()).Draw(t, "hold")
		case 1:
			worse.Others = true
		default:
			worse.Dedications, worse.Tenant = 2, ""
		}
		was, is := placement.Judge(n, tenant, p), placement.Judge(worse, tenant, p)
		if is.Placeable() && !was.Placeable() {
			t.Fatalf("%+v is blocked by %v, yet %+v is open", n, was, worse)
		}
	})
}

// Capacity needs all reasons, a whole-node lease fewer: it is never stricter.
func TestWholeNodeIsNeverStricter(t *testing.T) {
	for c := range placementtest.World() {
		devices := placement.Judge(c.Node(), c.Tenant, placement.EveryReason)
		if whole := placement.Judge(c.Node(), c.Tenant, placement.DedicationsOnly); whole&^devices != 0 {
			t.Fatalf("%v: whole node %v, devices %v", c, whole, devices)
		}
	}
}

func TestCausesEach(t *testing.T) {
	set := placement.Disabled | placement.Reasoned | 1<<15
	got := slices.Collect(set.Each())
	if !slices.Equal(got, []placement.Causes{placement.Disabled, placement.Reasoned, 1 << 15}) {
		t.Errorf("got %v", got)
	}
	for one := range set.Each() {
		if one != placement.Disabled {
			t.Errorf("went on after %v", placement.Disabled)
		}
		break
	}
	if !placement.Causes(0).Placeable() || set.Placeable() {
		t.Error("Placeable is wrong")
	}
}

func TestJudgeDoesNotAllocate(t *testing.T) {
	n := placement.Node{Dedications: 1, Tenant: "acme"}
	var seen placement.Causes
	if got := testing.AllocsPerRun(100, func() { seen |= placement.Judge(n, "beta", placement.EveryReason) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
	if seen != placement.Foreign {
		t.Errorf("got %v", seen)
	}
}
