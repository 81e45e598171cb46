package bmctest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

func closeLogsOut(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	if err := touch(ctx, s); err != nil {
		return err
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	first, second := s.Close(over), s.Close(ctx)
	if n := sim.Tally().Sessions; n != 0 {
		return fmt.Errorf("%d sessions are left open (Close: %v)", n, first)
	}
	return errors.Join(first, second)
}

func oneLogin(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	return t.with(ctx, func(s bmc.Session) error {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { _ = touch(ctx, s) })
		}
		all.Wait()
		if err := every(ctx, s); err != nil {
			return err
		}
		if n := sim.Tally().Logins; n > 1 {
			return fmt.Errorf("%d logins", n)
		}
		return nil
	})
}

func loginAgain(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	if t.Scene == Outcast {
		err := t.touch(ctx)
		if n := sim.Tally().Logins; n > 2 {
			return fmt.Errorf("%d logins, want at most two", n)
		}
		return kinded(err, bmc.Auth)
	}
	if t.Scene == NoToken {
		err := t.touch(ctx)
		if err == nil && sim.Tally().Logins == 0 {
			return &unfit{"the driver has no sessions"}
		}
		return kinded(err, bmc.Auth, bmc.Protocol)
	}
	return t.with(ctx, func(s bmc.Session) error {
		if err := touch(ctx, s); err != nil {
			return err
		}
		before := sim.Tally().Logins
		if err := sim.Do(ExpireSessions); err != nil {
			return err
		}
		if err := touch(ctx, s); err != nil {
			return fmt.Errorf("after the session expired: %w", err)
		}
		if n := sim.Tally().Logins - before; n > 1 {
			return fmt.Errorf("%d logins for one expired session", n)
		}
		return nil
	})
}

// wrong are credentials that are not right.
func (t *try) wrong() bmc.Credentials {
	c := t.stage.Credentials()
	c.Password, c.Version = bmc.Keep("not-"+c.Password.Show()), "wrong"
	return c
}

func wrongOnce(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	kind := bmc.PasswordChange
	if t.Scene != OldPassword {
		kind = bmc.Auth
		t.creds.set(t.wrong())
	}
	s, err := t.open(ctx)
	if err != nil { // the driver logs in when it opens
		return errors.Join(kinded(err, kind), tries(sim, kind))
	}
	defer s.Close(context.WithoutCancel(ctx))
	for range 3 {
		err = touch(ctx, s)
		if err := kinded(err, kind); err != nil {
			return err
		}
	}
	if err := sent(err, bmc.SentNo); err != nil {
		return fmt.Errorf("the third time: %w", err)
	}
	return tries(sim, kind)
}

// tries wants one login to have been tried.
func tries(sim Simulation, kind bmc.Kind) error {
	t := sim.Tally()
	if n := t.Failed; kind == bmc.Auth && n != 1 {
		return fmt.Errorf("the wrong password was tried %d times", n)
	}
	if n := t.Logins; n > 1 {
		return fmt.Errorf("%d logins", n)
	}
	return nil
}

func versionUnlatches(ctx context.Context, t *try) error {
	t.creds.set(t.wrong())
	s, err := t.open(ctx)
	if err == nil {
		defer s.Close(context.WithoutCancel(ctx))
		err = touch(ctx, s)
	}
	if err := kinded(err, bmc.Auth); err != nil {
		return err
	}
	t.creds.set(t.stage.Credentials())
	if s == nil { // the driver logs in when it opens
		return t.touch(ctx)
	}
	return touch(ctx, s)
}

func sessionsFull(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	before := sim.Tally()
	err = t.touch(ctx)
	if err == nil && sim.Tally().Logins == before.Logins {
		return &unfit{"the driver has no sessions"}
	}
	if err := kinded(err, bmc.Busy); err != nil {
		return err
	}
	if n := sim.Tally().Sessions; n != before.Sessions {
		return fmt.Errorf("%d sessions before, %d after", before.Sessions, n)
	}
	return nil
}

func concurrencyKept(ctx context.Context, t *try) error {
	sim, err := t.sim()
	if err != nil {
		return err
	}
	limits, err := bmc.LimitsOf(t.Driver, t.Options)
	if err != nil {
		return err
	}
	most := max(1, limits.Concurrent)
	return t.with(ctx, func(s bmc.Session) error {
		var all sync.WaitGroup
		for range 4 * most {
			all.Go(func() { _ = every(ctx, s) })
		}
		all.Wait()
		if n := sim.Tally().Peak; n > most {
			return fmt.Errorf("%d requests at once, %d are declared", n, most)
		}
		return nil
	})
}

func intervalKept(ctx context.Context, t *try) error {
	const interval = 200 * time.Millisecond
	sim, err := t.sim()
	if err != nil {
		return err
	}
	t.gate.interval = interval
	if err := t.with(ctx, func(s bmc.Session) error { return errors.Join(touch(ctx, s), touch(ctx, s)) }); err != nil {
		return err
	}
	if gap := sim.Tally().Gap; gap < interval*9/10 { // clocks of both sides round
		return fmt.Errorf("%s between two requests, want %s", gap, interval)
	}
	return nil
}

func retryAfter(ctx context.Context, t *try) error {
	err := t.touch(ctx)
	if err := kinded(err, bmc.Busy); err != nil {
		return err
	}
	if e, _ := errors.AsType[*bmc.Error](err); e.After < 6*time.Second || e.After > 8*time.Second {
		return fmt.Errorf("the BMC asked for 7 s, the error says %s", e.After)
	}
	return nil
}

func startsUp(ctx context.Context, t *try) error {
	began := time.Now()
	for {
		err := t.touch(ctx)
		e, ok := errors.AsType[*bmc.Error](err)
		switch {
		case err == nil:
			return nil
		case !ok || !e.Again():
			return fmt.Errorf("an answer that may be had later is none that may be asked for again: %w", err)
		case time.Since(began) > time.Minute:
			return fmt.Errorf("a minute later still: %w", err)
		}
		if err := pause(ctx, max(e.After, time.Second)); err != nil {
			return err
		}
	}
}
