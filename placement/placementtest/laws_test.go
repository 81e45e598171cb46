package placementtest_test

import (
	"testing"

	"github.com/ingotmetal/ingot/placement"
	"github.com/ingotmetal/ingot/placement/placementtest"
)

// judge is the path that keeps every law.
func judge(c placementtest.Case) bool {
	return placement.Judge(c.Node(), c.Tenant, c.Policy).Placeable()
}

func TestJudgeKeepsTheLaws(t *testing.T) { placementtest.Run(t, judge) }

// TestMutantsBreakTheLaws names, for each wrong path, the law that catches it.
func TestMutantsBreakTheLaws(t *testing.T) {
	mutants := []struct {
		name, law string
		path      placementtest.Path
	}{
		{"refuses all", "an open node lets everyone through", func(placementtest.Case) bool { return false }},
		{"forgets holds", "a hold keeps everyone out", func(c placementtest.Case) bool {
			c.Holds = 0
			return judge(c)
		}},
		{"whole-node lease forgets that a node is disabled", "a hold keeps everyone out", func(c placementtest.Case) bool {
			if c.Policy == placement.DedicationsOnly {
				c.Holds &^= placement.Disabled
			}
			return judge(c)
		}},
		{"ignores holds of a newer version", "a hold keeps everyone out", func(c placementtest.Case) bool {
			c.Holds &= 1<<11 - 1
			return judge(c)
		}},
		{"a dedication keeps its own tenant out", "one dedication alone lets its tenant through and nobody else", func(c placementtest.Case) bool {
			return c.Reasons.Len() == 0 && judge(c)
		}},
		{"a dedication lets others in", "one dedication alone lets its tenant through and nobody else", func(c placementtest.Case) bool {
			tenants, others := c.Dedications()
			return judge(c) || c.Holds == 0 && others == 0 && len(tenants) == 1 && tenants[0] != ""
		}},
		{"the first of two dedications wins", "two dedications keep everyone out", func(c placementtest.Case) bool {
			tenants, others := c.Dedications()
			return judge(c) || c.Holds == 0 && others == 0 && len(tenants) > 1 && tenants[len(tenants)-1] == c.Tenant
		}},
		{"a dedication to nobody counts as any other taint", "a dedication to nobody keeps everyone out", func(c placementtest.Case) bool {
			tenants, _ := c.Dedications()
			return judge(c) || c.Policy == placement.DedicationsOnly && c.Holds == 0 && len(tenants) == 1 && tenants[0] == ""
		}},
		{"a dedication beats other reasons", "another reason keeps everyone off the devices", func(c placementtest.Case) bool {
			tenants, _ := c.Dedications()
			return judge(c) || c.Holds == 0 && len(tenants) == 1 && tenants[0] == c.Tenant
		}},
		{"knows no policy", "whole-node leases look at dedications alone", func(c placementtest.Case) bool {
			c.Policy = placement.EveryReason
			return judge(c)
		}},
	}
	caught := map[string]bool{}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			if err := lawNamed(t, m.law).Check(m.path); err == nil {
				t.Errorf("%q let the mutant pass", m.law)
			}
			caught[m.law] = true
		})
	}
	for _, law := range placementtest.Laws() {
		if !caught[law.Name] {
			t.Errorf("no mutant tries %q", law.Name)
		}
	}
}

// lawNamed returns the law of that name.
func lawNamed(t *testing.T, name string) placementtest.Law {
	for _, law := range placementtest.Laws() {
		if law.Name == name {
			return law
		}
	}
	t.Fatalf("there is no law %q", name)
	return placementtest.Law{}
}

// TestLawsDecideEveryCase shows that the laws leave no freedom: flipping the
// right answer of any one case breaks some law.
func TestLawsDecideEveryCase(t *testing.T) {
	for c := range placementtest.World() {
		flipped := func(o placementtest.Case) bool { return judge(o) != (o.String() == c.String()) }
		if free(flipped, c) {
			t.Fatalf("no law decides %v", c)
		}
	}
}

// free reports whether no law is broken in this case.
func free(p placementtest.Path, c placementtest.Case) bool {
	for _, law := range placementtest.Laws() {
		if law.Broken(p, c) != "" {
			return false
		}
	}
	return true
}
