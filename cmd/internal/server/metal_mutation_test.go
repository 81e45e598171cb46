package server_test

import "github.com/ingotmetal/ingot/cmd/api"

// metalMutations are changes of a machine that was enrolled by its BMC, whose attempt
// was ended.
func metalMutations() []mutation {
	on := func(op api.Any, make func(*site, api.NodeChange) (any, func())) mutation {
		return mutation{op: op, on: func(s *site) mutating {
			n := ask(s, api.MetalEnroll, s.ada, byBMC(1)).Node
			ref := api.NodeChange{NodeRef: api.NodeRef{Node: n.ID}}
			if op.Info().Name != api.MetalAbort.Name {
				ask(s, api.MetalAbort, s.ada, &ref)
			}
			in, other := make(s, ref)
			return mutating{in, s.ada, other, func() uint64 { return ask(s, api.NodeShow, s.ada, &ref.NodeRef).Version }}
		}}
	}
	return []mutation{
		{op: api.MetalEnroll, free: true, on: func(s *site) mutating {
			in := byBMC(1)
			return mutating{in: in, by: s.ada, other: func() { in.Body.BMC = "https://10.9.0.9" }}
		}},
		on(api.MetalAbort, func(_ *site, ref api.NodeChange) (any, func()) {
			return &ref, func() { ref.Node = "node_00000000000000000000000099" }
		}),
		{op: api.MetalConfirm, on: func(s *site) mutating {
			bare := byBMC(2)
			bare.Body.MACs, bare.Body.Product = nil, uuidOf(60)
			ref := api.NodeChange{NodeRef: api.NodeRef{Node: ask(s, api.MetalEnroll, s.ada, bare).Node.ID}}
			in := &api.ConfirmMAC{NodeChange: ref}
			in.Body.MAC = macOf(122)
			return mutating{in, s.ada, func() { in.Body.MAC = macOf(123) }, func() uint64 { return ask(s, api.NodeShow, s.ada, &ref.NodeRef).Version }}
		}},
		on(api.NodePower, func(_ *site, ref api.NodeChange) (any, func()) {
			in := &api.PowerNode{NodeChange: ref}
			in.Body.Action = "on"
			return in, func() { in.Body.Action = "off" }
		}),
		on(api.NodeOverrideSet, func(_ *site, ref api.NodeChange) (any, func()) {
			in := &api.SetBoot{NodeChange: ref}
			in.Body.Target = "pxe"
			return in, func() { in.Body.Target = "disk" }
		}),
		on(api.NodeOverrideClear, func(_ *site, ref api.NodeChange) (any, func()) {
			return &ref, func() { ref.Node = "node_00000000000000000000000099" }
		}),
		on(api.NodeMediaInsert, func(_ *site, ref api.NodeChange) (any, func()) {
			in := &api.InsertMedia{NodeChange: ref}
			in.Body.Image = "https://images.example/a.iso"
			return in, func() { in.Body.Image = "https://images.example/b.iso" }
		}),
		on(api.NodeMediaEject, func(_ *site, ref api.NodeChange) (any, func()) {
			in := &api.EjectMedia{NodeChange: ref}
			in.Body.Slot = "CD"
			return in, func() { in.Body.Slot = "DVD" }
		}),
	}
}
