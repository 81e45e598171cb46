package server

import (
	"context"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/metal"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

func (s *Server) powerState(ctx context.Context, in *api.NodeRef) (api.PowerSeen, error) {
	a, err := s.ask(ctx, *in, metal.Question{What: metal.Power})
	return api.PowerSeen{State: string(a.Power.State), At: a.Power.Ended.UTC()}, err
}

func overrideView(b bmc.BootState) api.BootOverride {
	return api.BootOverride{Target: string(b.Target), Life: string(b.Life), Mode: string(b.Mode), URI: b.URI, Pending: b.Pending}
}

func (s *Server) bootOverride(ctx context.Context, in *api.NodeRef) (api.BootOverride, error) {
	a, err := s.ask(ctx, *in, metal.Question{What: metal.ReadBoot})
	return overrideView(a.Boot), err
}

func (s *Server) bootSet(ctx context.Context, in *api.SetBoot) (api.BootSet, error) {
	b := &in.Body
	spec := bmc.BootSpec{Target: bmc.BootTarget(b.Target), Life: bmc.BootLife(b.Life), Mode: bmc.BootMode(b.Mode), URI: b.URI}
	if spec.Life == "" {
		spec.Life = bmc.Once
	}
	why := string(spec.Target) + ", " + string(spec.Life)
	a, done, err := s.changes(ctx, api.NodeOverrideSet, &in.NodeChange, in, metal.Question{What: metal.SetBoot, Boot: spec}, factBootSet, why, func(tx store.Tx, id lifecycle.NodeID) error {
		return control.BootsPXE(tx, id, spec.Target == bmc.BootPXE, spec.Life == bmc.Once)
	})
	if a.Boot.Target == "" { // nothing was asked of the BMC
		a.Boot = bmc.BootState{Target: spec.Target, Life: spec.Life, Mode: spec.Mode, URI: spec.URI}
	}
	return api.BootSet{Outcome: outcome(in.Change, done), Boot: overrideView(a.Boot)}, err
}

func (s *Server) bootClear(ctx context.Context, in *api.NodeChange) (api.BootSet, error) {
	a, done, err := s.changes(ctx, api.NodeOverrideClear, in, in, metal.Question{What: metal.ClearBoot}, factBootSet, "cleared", func(tx store.Tx, id lifecycle.NodeID) error {
		return control.BootsPXE(tx, id, false, false)
	})
	if a.Boot.Target == "" {
		a.Boot.Target = bmc.BootNone
	}
	return api.BootSet{Outcome: outcome(in.Change, done), Boot: overrideView(a.Boot)}, err
}

func slotView(m bmc.MediaSlot) api.MediaSlot {
	return api.MediaSlot{ID: m.ID, Types: m.Types, TakesURL: m.TakesURL, Image: m.Image, Inserted: m.Inserted}
}

func (s *Server) media(ctx context.Context, in *api.NodeRef) (api.MediaSlots, error) {
	a, err := s.ask(ctx, *in, metal.Question{What: metal.ListMedia})
	out := api.MediaSlots{Slots: []api.MediaSlot{}}
	for _, m := range a.Slots {
		out.Slots = append(out.Slots, slotView(m))
	}
	return out, err
}

func (s *Server) mediaInsert(ctx context.Context, in *api.InsertMedia) (api.MediaChanged, error) {
	b := &in.Body
	image, err := plainURL(b.Image)
	if err != nil {
		return api.MediaChanged{}, err
	}
	spec := bmc.MediaSpec{Image: b.Image, Slot: b.Slot, Running: b.Running}
	a, done, err := s.changes(ctx, api.NodeMediaInsert, &in.NodeChange, in, metal.Question{What: metal.InsertMedia, Media: spec}, factInserted, image, nil)
	out := api.MediaChanged{Outcome: outcome(in.Change, done), Slot: api.MediaSlot{ID: b.Slot, Image: image}}
	if len(a.Slots) > 0 {
		out.Slot = slotView(a.Slots[0])
	}
	return out, err
}

func (s *Server) mediaEject(ctx context.Context, in *api.EjectMedia) (api.MediaChanged, error) {
	b := &in.Body
	spec := bmc.MediaSpec{Slot: b.Slot, Running: b.Running}
	_, done, err := s.changes(ctx, api.NodeMediaEject, &in.NodeChange, in, metal.Question{What: metal.EjectMedia, Media: spec}, factEjected, bmc.Quote(b.Slot), nil)
	return api.MediaChanged{Outcome: outcome(in.Change, done), Slot: api.MediaSlot{ID: b.Slot}}, err
}

func (s *Server) inspect(ctx context.Context, in *api.NodeRef) (api.BMCInventory, error) {
	a, err := s.ask(ctx, *in, metal.Question{What: metal.Inspect})
	f := &a.Found
	out := api.BMCInventory{Product: f.UUID.Raw, Fault: f.UUID.Fault, Vendor: f.Vendor, Model: f.Model, CPUs: f.CPUs, MemoryMiB: f.Memory, Missing: f.Missing}
	if len(f.Serials) > 0 {
		out.Serial = f.Serials[0].Value
	}
	for _, n := range f.NICs {
		v := api.BMCNIC{ID: n.ID, Fault: string(n.Fault), Link: n.Link}
		if n.Fault == bmc.NoFault {
			v.MAC = n.MAC.String()
		}
		out.NICs = append(out.NICs, v)
	}
	for _, d := range f.Drives {
		out.Drives = append(out.Drives, api.BMCDrive{ID: d.ID, Model: d.Model, Serial: d.Serial, Bytes: d.Bytes, Media: d.Media})
	}
	return out, err
}

func (s *Server) health(ctx context.Context, in *api.NodeRef) (api.BMCHealth, error) {
	a, err := s.ask(ctx, *in, metal.Question{What: metal.Health})
	out := api.BMCHealth{Overall: a.Health.Overall, At: a.Health.At.UTC()}
	for _, p := range a.Health.Parts {
		out.Parts = append(out.Parts, api.BMCPart{ID: p.ID, Health: p.Health, State: p.State})
	}
	return out, err
}
