package placement_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/ingotmetal/ingot/placement"
	v1 "k8s.io/api/core/v1"
)

// size is the fleet that a site of the largest kind has.
const size = 100_000

// fleet is one fleet in both forms, node by node.
type fleet struct {
	nodes []placement.Node
	index placement.Index
	peers []*v1.Node
}

// kinds are the nodes of a fleet, with their share in percent: most are open, a
// quarter is dedicated to one of 50 tenants, the rest is out of service for
// one cause or more.
var kinds = []struct {
	percent int
	holds   placement.Causes
	reasons []string
}{
	{60, 0, nil},
	{20, 0, []string{"taint:dedicated=%s"}},
	{3, 0, []string{"taint:dedicated=%s", "unreachable"}},
	{1, 0, []string{"taint:dedicated=%s", "taint:dedicated=other"}},
	{4, 0, []string{"taint:burn-in"}},
	{4, placement.Cordoned, []string{"draining"}},
	{3, 0, []string{"conditions", "unreachable"}},
	{3, placement.Maintenance, nil},
	{2, placement.Disabled, []string{"taint:dedicated=%s"}},
}

// mixed returns a fleet of all kinds in random order, the same at each call.
func mixed() *fleet {
	f, r := new(fleet), rand.New(rand.NewPCG(1, 2))
	for range size {
		n, at := r.IntN(100), 0
		for n >= kinds[at].percent {
			n -= kinds[at].percent
			at++
		}
		tenant := fmt.Sprintf("tenant-%02d", r.IntN(50))
		var keys []string
		for _, k := range kinds[at].reasons {
			if k[len(k)-1] == 's' && k != "conditions" {
				k = fmt.Sprintf(k, tenant)
			}
			keys = append(keys, k)
		}
		f.add(kinds[at].holds, keys)
	}
	return f
}

// full returns a fleet that is dedicated to others but for its last node.
func full() *fleet {
	f := new(fleet)
	for range size - 1 {
		f.add(0, []string{"taint:dedicated=elsewhere"})
	}
	f.add(0, nil)
	return f
}

func (f *fleet) add(holds placement.Causes, keys []string) {
	reasons, err := placement.ParseReasons(keys...)
	if err != nil {
		panic(err)
	}
	n := placement.Flatten(holds, reasons)
	if err := f.index.Set(len(f.nodes), n); err != nil {
		panic(err)
	}
	f.nodes = append(f.nodes, n)
	f.peers = append(f.peers, peer(holds, reasons))
}

// peer says the same with taints: a hold and a reason are taints that no device
// work tolerates, a dedication is one that its tenant tolerates.
func peer(holds placement.Causes, reasons placement.Reasons) *v1.Node {
	n := new(v1.Node)
	taint := func(key, value string) {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: key, Value: value, Effect: v1.TaintEffectNoSchedule})
	}
	for h := range holds.Each() {
		taint("hold", h.String())
	}
	for r := range reasons.All() {
		if t, ok := r.Dedication(); ok {
			taint("dedicated", string(t))
			continue
		}
		taint("reason", string(r))
	}
	return n
}

// tolerations are what a tenant's work tolerates under a policy.
func tolerations(t placement.Tenant, p placement.Policy) []v1.Toleration {
	list := []v1.Toleration{{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: string(t), Effect: v1.TaintEffectNoSchedule}}
	if p == placement.DedicationsOnly {
		list = append(list, v1.Toleration{Key: "reason", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule})
	}
	return list
}
