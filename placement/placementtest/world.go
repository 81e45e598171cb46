// Package placementtest holds the laws of placement for whoever writes a path
// that places work, such as a shortlist or a repair loop. A path that keeps
// them agrees with placement.Judge everywhere.
package placementtest

import (
	"fmt"
	"iter"

	"github.com/ingotmetal/ingot/placement"
	"pgregory.net/rapid"
)

// Case is one question to a path: may the tenant's work go to this node?
type Case struct {
	Holds   placement.Causes
	Reasons placement.Reasons
	Tenant  placement.Tenant
	Policy  placement.Policy
}

// String names the case for a failed test.
func (c Case) String() string {
	var keys []placement.Reason
	for r := range c.Reasons.All() {
		keys = append(keys, r)
	}
	return fmt.Sprintf("tenant %q, policy %d, holds %v, reasons %q", c.Tenant, c.Policy, c.Holds, keys)
}

// Node is the flat node of the case.
func (c Case) Node() placement.Node { return placement.Flatten(c.Holds, c.Reasons) }

// Dedications returns the tenants that the node is dedicated to, the empty one
// for a dedication to no possible tenant, and how many other reasons it has.
func (c Case) Dedications() (tenants []placement.Tenant, others int) {
	for r := range c.Reasons.All() {
		if t, ok := r.Dedication(); ok {
			tenants = append(tenants, t)
			continue
		}
		others++
	}
	return tenants, others
}

// ReasonKeys has each kind of reason once, and dedications to two tenants.
func ReasonKeys() []string {
	return []string{
		"taint:dedicated=acme", "taint:dedicated=beta", "taint:dedicated=a/b",
		"taint:burn-in", "draining", "unreachable", "conditions", "of-a-newer-version",
	}
}

// Tenants are two that ReasonKeys dedicates to, and one that it does not.
func Tenants() []placement.Tenant { return []placement.Tenant{"acme", "beta", "gamma"} }

// Policies are all policies.
func Policies() []placement.Policy {
	return []placement.Policy{placement.EveryReason, placement.DedicationsOnly}
}

// Holds has every hold of a node once, two together, one of a newer version,
// and none.
func Holds() []placement.Causes {
	return []placement.Causes{
		0, placement.Tombstoned, placement.Disabled, placement.Quarantined, placement.Unprovisioned,
		placement.Maintenance, placement.Cordoned, placement.Maintenance | placement.Cordoned, 1 << 15,
	}
}

// World yields every case that these make: 13,824 of them.
func World() iter.Seq[Case] {
	return func(yield func(Case) bool) {
		for _, set := range subsets(ReasonKeys()) {
			for _, h := range Holds() {
				for _, t := range Tenants() {
					for _, p := range Policies() {
						if !yield(Case{h, set, t, p}) {
							return
						}
					}
				}
			}
		}
	}
}

// subsets returns the sets that some of the keys make.
func subsets(keys []string) []placement.Reasons {
	sets := make([]placement.Reasons, 1<<len(keys))
	for i := range sets {
		var some []string
		for j, k := range keys {
			if i>>j&1 == 1 {
				some = append(some, k)
			}
		}
		sets[i] = must(placement.ParseReasons(some...))
	}
	return sets
}

// must returns v, which a fixed and legal input made.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Reasons generates sets of reasons of all owners.
func Reasons() *rapid.Generator[placement.Reasons] {
	return rapid.Custom(func(t *rapid.T) placement.Reasons {
		keys := rapid.SliceOfNDistinct(rapid.SampledFrom(ReasonKeys()), 0, 3, rapid.ID[string]).Draw(t, "reasons")
		return must(placement.ParseReasons(keys...))
	})
}

// Nodes generates nodes. Half have no hold, and so differ by their reasons.
func Nodes() *rapid.Generator[placement.Node] {
	return rapid.Custom(func(t *rapid.T) placement.Node {
		var h placement.Causes
		if rapid.Bool().Draw(t, "held") {
			h = rapid.SampledFrom(Holds()).Draw(t, "holds")
		}
		return placement.Flatten(h, Reasons().Draw(t, "set"))
	})
}
