package bmctest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// probeReads asks for all that a driver reads. A simulation counts what it was
// asked; of a live BMC what can be read is compared before and after.
func probeReads(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return t.with(ctx, func(s bmc.Session) error { return unchanged(ctx, s) })
	}
	if err := t.with(ctx, func(s bmc.Session) error { return every(ctx, s) }); err != nil {
		return err
	}
	if n := sim.Tally(); n.Writes != 0 || n.Logins > 1 || n.Sessions != 0 {
		return fmt.Errorf("%d requests that change something, %d logins, %d sessions left", n.Writes, n.Logins, n.Sessions)
	}
	return nil
}

// unchanged looks before and after all is read.
func unchanged(ctx context.Context, s bmc.Session) error {
	before, err := standing(ctx, s)
	if err != nil {
		return err
	}
	if err := every(ctx, s); err != nil {
		return err
	}
	after, err := standing(ctx, s)
	if err == nil && before != after {
		err = fmt.Errorf("it was %s, and is %s", before, after)
	}
	return err
}

// standing is what a driver may change, as it reads: power, boot override, media.
// What a machine lacks is left out.
func standing(ctx context.Context, s bmc.Session) (string, error) {
	var all []any
	var errs []error
	add := func(part any, err error) {
		if e, ok := errors.AsType[*bmc.Error](err); ok && e.Kind == bmc.Unsupports {
			return
		}
		all, errs = append(all, part), append(errs, err)
	}
	if p, ok := bmc.As[bmc.Power](s); ok {
		o, err := p.ReadPower(ctx)
		add(o.State, err)
	}
	if b, ok := bmc.As[bmc.Boot](s); ok {
		o, err := b.ReadBoot(ctx)
		add(o, err)
	}
	if m, ok := bmc.As[bmc.Media](s); ok {
		slots, err := m.MediaSlots(ctx)
		for _, slot := range slots {
			add(slot.ID+" "+slot.Image, nil)
		}
		add(len(slots), err)
	}
	return fmt.Sprintf("%+v", all), errors.Join(errs...)
}

// powerTable takes every verb that the machine supports from on and from off to
// its end, and looks at the end by reads of its own. It leaves the machine on.
func powerTable(ctx context.Context, t *try) error {
	return t.with(ctx, func(s bmc.Session) error {
		probed, err := s.Probe(ctx)
		if err != nil {
			return err
		}
		var errs []error
		for _, from := range []bmc.Verb{bmc.TurnOn, bmc.TurnOff} {
			for _, v := range bmc.Verbs() {
				if v.Support(&probed).Level == bmc.Unsupported {
					continue
				}
				if _, err := t.drive(ctx, s, from); err != nil {
					return fmt.Errorf("to begin: %w", err)
				}
				if err := t.ends(ctx, s, v, from == bmc.TurnOn); err != nil {
					errs = append(errs, fmt.Errorf("%s of a machine that is %s: %w", v, from, err))
				}
			}
		}
		_, err = t.drive(ctx, s, bmc.TurnOn)
		return errors.Join(append(errs, err)...)
	})
}

// ends drives v and compares the state a while later with BMC-1.
func (t *try) ends(ctx context.Context, s bmc.Session, v bmc.Verb, on bool) error {
	_, err := t.drive(ctx, s, v)
	want := map[bmc.Verb]bmc.State{bmc.TurnOn: bmc.On, bmc.TurnOff: bmc.Off, bmc.GracefulOff: bmc.Off, bmc.Reset: bmc.On, bmc.GracefulRestart: bmc.On, bmc.Cycle: bmc.On, bmc.NMI: bmc.On}[v]
	if !on && (v == bmc.Reset || v == bmc.GracefulRestart || v == bmc.NMI) {
		err, want = kinded(err, bmc.Conflict), bmc.Off
	}
	if e, ok := errors.AsType[*bmc.Error](err); ok && e.Kind == bmc.NotReached && (v == bmc.GracefulOff || v == bmc.GracefulRestart) {
		err, want = nil, bmc.On // its operating system did not listen, which is not the driver's fault
	}
	if err != nil {
		return err
	}
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	p, _ := bmc.As[bmc.Power](s)
	o, err := p.ReadPower(ctx)
	if err == nil && o.State != want {
		err = fmt.Errorf("it reads %s, want %s", o.State, want)
	}
	return err
}

// rotates sets a new password and sets the old one again. Where that fails the
// error says that the new one may stand.
func rotates(ctx context.Context, t *try) error {
	old := t.stage.Credentials()
	next := old
	next.Password, next.Version = bmc.Keep("Kit-"+old.Version+"-7aQ!"), old.Version+"-next"
	if len(next.Password.Show()) > 16 {
		next.Password = bmc.Keep("Kit-rotated-7aQ!")
	}
	return t.with(ctx, func(s bmc.Session) error {
		a, ok := bmc.As[bmc.Accounts](s)
		if !ok {
			return errors.New("the session has no accounts")
		}
		if err := a.RotatePassword(ctx, next.Password); err != nil {
			return err
		}
		t.creds.set(next)
		if err := t.touch(ctx); err != nil {
			return fmt.Errorf("with the new password, which stands: %w", err)
		}
		if err := t.with(ctx, func(s bmc.Session) error {
			a, _ := bmc.As[bmc.Accounts](s)
			return a.RotatePassword(ctx, old.Password)
		}); err != nil {
			return fmt.Errorf("back to the old password; Kit-rotated-7aQ! may stand: %w", err)
		}
		t.creds.set(old)
		return t.touch(ctx)
	})
}
