package agent

import (
	"context"
	"encoding/hex"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/liveness/session"
)

func short(hash []byte) string { return hex.EncodeToString(hash[:8]) }

// install carries out a setup: the order of SET-7 and SET-14, after the clock was set.
// The bundle is opened before the first write, so that one that does not open costs no
// disk, and kept after the last, so that no key is on a disk that was not written.
func (r *running) install(ctx context.Context, s session.Setup, tell func(session.Progress)) error {
	o, err := parseOrder(s.Order)
	if err != nil {
		return err
	}
	approved, err := o.approved(r.uuid, r.key)
	if err != nil {
		return err
	}
	server, home, err := o.home(r.Config)
	if err != nil {
		return err
	}
	keys, err := r.key.Open(r.name, s.Epoch, s.Bundle)
	if err != nil {
		return err
	}
	if err := r.write(ctx, &o, approved, s.Epoch, tell); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // a newer setup came, whose key this is not
		return &BadOrder{"a newer setup came, or the agent ends"}
	}
	return save(r.Keep, recorded(keys, server, home))
}

// write verifies the plan on the disks as they are, and writes it.
func (r *running) write(ctx context.Context, o *Order, approved disklayout.Digest, epoch uint64, tell func(session.Progress)) error {
	sources, err := r.Machine.Disks()
	if err != nil {
		return &Unidentified{"its disks cannot be listed: " + err.Error()}
	}
	stamp := disklayout.Stamp{Server: r.uuid, Epoch: epoch}
	disks, _ := apply.Inventory(sources)
	if err := o.Plan.Layout.Verify(disks, stamp); err != nil {
		return err
	}
	order := apply.Order{Plan: *o.Plan.Layout, Stamp: stamp, Approved: approved}
	if order.Plan.Image != "" {
		i, err := r.fetch(ctx, o.ImageURL)
		if err != nil {
			return err
		}
		defer i.Close()
		order.Image, order.ImageSize = i, i.size
	}
	if order.Plan.Boot != "" {
		i, err := r.fetch(ctx, o.BootURL)
		if err != nil {
			return err
		}
		defer i.Close()
		order.Boot, order.BootSize = i, i.size
	}
	_, err = apply.Install(ctx, order, sources, func(p apply.Progress) {
		tell(session.Progress{Epoch: epoch, Step: string(p.Step), Done: p.Done, Total: max(p.Done, p.Total)})
	})
	return err
}
