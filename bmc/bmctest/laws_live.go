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

// What the law of rotation sets for a while: short enough for BMCs that take no more
// than 12 bytes, and of all kinds of characters. Whoever is locked out must know it.
const kitPassword = "Kit-7aQ-x9Bd"

// wayBack bounds the way back to the old password.
const wayBack = 2 * time.Minute

// rotates sets a new password and sets the old one again, also where something failed
// or the caller went away in between. Every error from then on names the new one.
func rotates(ctx context.Context, t *try) error {
	old := t.stage.Credentials()
	if old.Password.Show() == kitPassword {
		return &unfit{"the password is the one that this law sets: give the account another first"}
	}
	next := old
	next.Password, next.Version = bmc.Keep(kitPassword), old.Version+"-next"
	return t.with(ctx, func(s bmc.Session) (err error) {
		a, ok := bmc.As[bmc.Accounts](s)
		if !ok {
			return errors.New("the session has no accounts")
		}
		set := false
		defer func() { err = t.rotateBack(ctx, a, old, next, set, err) }()
		if err := a.RotatePassword(ctx, next.Password); err != nil {
			return err
		}
		set = true
		t.creds.set(next)
		if err := t.touch(ctx); err != nil {
			return fmt.Errorf("with the new password: %w", err)
		}
		return nil
	})
}

// rotateBack sets the old password again by a session that is open, else, where the
// new one was set, by one that logs in with that; and logs in with the old one.
func (t *try) rotateBack(ctx context.Context, open bmc.Accounts, old, next bmc.Credentials, set bool, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wayBack)
	defer cancel()
	err := open.RotatePassword(ctx, old.Password)
	if err != nil && set {
		if again := t.with(ctx, func(s bmc.Session) error {
			a, _ := bmc.As[bmc.Accounts](s)
			return a.RotatePassword(ctx, old.Password)
		}); again == nil {
			err = nil
		}
	}
	t.creds.set(old)
	if err == nil {
		err = t.touch(ctx)
	}
	switch {
	case err != nil:
		return errors.Join(failed, fmt.Errorf("the way back to the old password failed, %s may stand: %w", kitPassword, err))
	case failed != nil:
		return fmt.Errorf("%w (the new password was %s; the old one stands again)", failed, kitPassword)
	}
	return nil
}
