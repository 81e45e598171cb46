package bmctest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

func (t *try) withBoot(ctx context.Context, use func(bmc.Boot, Simulation) error) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	return t.with(ctx, func(s bmc.Session) error {
		b, ok := bmc.As[bmc.Boot](s)
		if !ok {
			return errors.New("a boot feature is declared, and the session has no boot")
		}
		return use(b, sim)
	})
}

// pxe is the override that the laws ask for.
func pxe() bmc.BootSpec { return bmc.BootSpec{Target: bmc.BootPXE, Life: bmc.Once, Mode: bmc.UEFI} }

func bootOnce(ctx context.Context, t *try) error {
	return t.withBoot(ctx, func(b bmc.Boot, sim Simulation) error {
		if err := setsBoot(ctx, b); err != nil {
			return err
		}
		cleared, err := b.ClearBoot(ctx) // before a boot spends it
		if err == nil && cleared.Target != bmc.BootNone {
			err = fmt.Errorf("cleared, and %+v stands", cleared)
		}
		if err != nil {
			return err
		}
		if err := t.boots(sim, bmc.BootNone); err != nil {
			return fmt.Errorf("cleared: %w", err)
		}
		if err := setsBoot(ctx, b); err != nil {
			return err
		}
		return t.boots(sim, bmc.BootPXE)
	})
}

// setsBoot asks for one boot from PXE, and wants to read it back.
func setsBoot(ctx context.Context, b bmc.Boot) error {
	said, err := b.SetBoot(ctx, pxe())
	if err != nil {
		return err
	}
	read, err := b.ReadBoot(ctx)
	if err == nil && (!pxe().Stands(said) || !pxe().Stands(read)) {
		err = fmt.Errorf("asked for %+v; told that %+v stands, read %+v", pxe(), said, read)
	}
	return err
}

// boots powers the machine off and on, and wants it to be told to boot from this.
func (t *try) boots(sim Simulation, from bmc.BootTarget) error {
	sim.SetPower(bmc.Off)
	sim.SetPower(bmc.On)
	all := sim.Boots()
	if len(all) == 0 || all[len(all)-1].Target != from {
		return fmt.Errorf("want a boot from %s, the machine booted so: %+v", from, all)
	}
	return nil
}

func bootSpent(ctx context.Context, t *try) error {
	return t.withBoot(ctx, func(b bmc.Boot, sim Simulation) error {
		if _, err := b.SetBoot(ctx, pxe()); err != nil {
			return err
		}
		if err := t.boots(sim, bmc.BootPXE); err != nil {
			return err
		}
		is, err := b.ReadBoot(ctx)
		if err == nil && is.Target != bmc.BootNone {
			err = fmt.Errorf("after the boot %+v stands", is)
		}
		return errors.Join(err, t.boots(sim, bmc.BootNone))
	})
}

func bootNotFaked(ctx context.Context, t *try) error {
	return t.withBoot(ctx, func(b bmc.Boot, _ Simulation) error {
		spec := pxe()
		if t.Scene == NoContinuous {
			spec.Life = bmc.Persistent
		}
		is, err := b.SetBoot(ctx, spec)
		if err == nil {
			return fmt.Errorf("told that %+v stands", is)
		}
		if t.Scene == NoContinuous {
			return kinded(err, bmc.Unsupports)
		}
		return kinded(err, bmc.NotReached, bmc.Unsupports)
	})
}

func mediaInserted(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	return t.with(ctx, func(s bmc.Session) error {
		m, ok := bmc.As[bmc.Media](s)
		if !ok {
			return errors.New("a media feature is declared, and the session has no media")
		}
		sim.SetPower(bmc.Off)
		image := sim.Image()
		slot, err := m.InsertMedia(ctx, bmc.MediaSpec{Image: image})
		switch {
		case err != nil:
			return err
		case !slot.Inserted || slot.Image != image || !slot.TakesURL:
			return fmt.Errorf("told as inserted: %+v", slot)
		case sim.Tally().Fetched == 0:
			return errors.New("told as inserted, and the BMC did not fetch it")
		}
		if err := t.finds(ctx, m, slot.ID, image); err != nil {
			return err
		}
		again, writes := slot, sim.Tally().Writes
		if again, err = m.InsertMedia(ctx, bmc.MediaSpec{Image: image, Slot: slot.ID}); err != nil || again.Image != image || sim.Tally().Writes != writes {
			return fmt.Errorf("the same once more: %+v, %d requests, %w", again, sim.Tally().Writes-writes, err)
		}
		if err := errors.Join(m.EjectMedia(ctx, slot.ID, false), m.EjectMedia(ctx, slot.ID, false)); err != nil {
			return fmt.Errorf("ejected twice: %w", err)
		}
		if err := pause(ctx, 10*time.Second); err != nil {
			return err
		}
		return t.finds(ctx, m, slot.ID, "")
	})
}

// finds wants a slot to hold an image.
func (t *try) finds(ctx context.Context, m bmc.Media, id, want string) error {
	slots, err := m.MediaSlots(ctx)
	if err != nil {
		return err
	}
	for _, s := range slots {
		if s.ID == id {
			if s.Image != want || s.Inserted != (want != "") {
				return fmt.Errorf("the slot reads %+v, want the image %q", s, want)
			}
			return nil
		}
	}
	return fmt.Errorf("no slot %s among %+v", id, slots)
}
