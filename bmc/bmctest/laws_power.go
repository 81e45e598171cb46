package bmctest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

func offWhenOff(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, _ bmc.Power, sim Simulation) error {
		sim.SetPower(bmc.Off)
		r, err := t.drive(ctx, s, bmc.TurnOff)
		if err != nil {
			return err
		}
		if n := sim.Tally().Sent[bmc.SendOff]; r.Changed || n != 0 {
			return fmt.Errorf("changed: %t, sent %d times", r.Changed, n)
		}
		return nil
	})
}

func onWhenOn(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, _ bmc.Power, sim Simulation) error {
		r, err := t.drive(ctx, s, bmc.TurnOn)
		if err != nil {
			return err
		}
		if n := sim.Tally().Sent[bmc.SendOn]; r.Changed || n != 0 {
			return fmt.Errorf("changed: %t, sent %d times", r.Changed, n)
		}
		return nil
	})
}

// offIsTrue wants a machine that is said to be off to be off.
func offIsTrue(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, _ bmc.Power, sim Simulation) error {
		if _, err := t.drive(ctx, s, bmc.TurnOff); err != nil {
			return err
		}
		if p := sim.Power(); p != bmc.Off {
			return fmt.Errorf("confirmed off, and the machine is %s", p)
		}
		return nil
	})
}

// transitionsTold reads while the machine powers off and on.
func transitionsTold(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(_ bmc.Session, p bmc.Power, _ Simulation) error {
		if t.Scene == Strange {
			o, err := p.ReadPower(ctx)
			if err == nil && (o.State != bmc.Unknown || o.Raw == "") {
				err = fmt.Errorf("a state that no schema has is told as %s, raw %q", o.State, o.Raw)
			}
			return err
		}
		for _, step := range []struct {
			send  bmc.Action
			while bmc.State
			end   bmc.State
		}{{bmc.SendOff, bmc.PoweringOff, bmc.Off}, {bmc.SendOn, bmc.PoweringOn, bmc.On}} {
			if _, err := p.SendPower(ctx, step.send); err != nil {
				return err
			}
			if err := reads(ctx, p, step.while, step.end); err != nil {
				return err
			}
		}
		return nil
	})
}

// reads wants to see one state and then the other, within half a minute.
func reads(ctx context.Context, p bmc.Power, first, then bmc.State) error {
	seen := false
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); {
		began := time.Now()
		o, err := p.ReadPower(ctx)
		switch {
		case err != nil:
			return err
		case o.Began.Before(began) || o.Ended.Before(o.Began) || o.Ended.After(time.Now()):
			return fmt.Errorf("a read that is said to have run from %s to %s, and did not", o.Began, o.Ended)
		case o.State == then && seen:
			return nil
		case o.State == then:
			return fmt.Errorf("told as %s while the machine was %s", then, first)
		}
		seen = seen || o.State == first
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("never told as %s and then %s", first, then)
}

func cycleFromOff(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, _ bmc.Power, sim Simulation) error {
		sim.SetPower(bmc.Off)
		if _, err := t.drive(ctx, s, bmc.Cycle); err != nil {
			return err
		}
		if p := sim.Power(); p != bmc.On {
			return fmt.Errorf("the machine is %s", p)
		}
		return nil
	})
}

func cycleLosesPower(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, _ bmc.Power, sim Simulation) error {
		before := sim.Tally().Losses
		if _, err := t.drive(ctx, s, bmc.Cycle); err != nil {
			return err
		}
		if p, n := sim.Power(), sim.Tally().Losses-before; p != bmc.On || n != 1 {
			return fmt.Errorf("the machine is %s and lost its power %d times", p, n)
		}
		return nil
	})
}

func resetWhenOff(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, p bmc.Power, sim Simulation) error {
		sim.SetPower(bmc.Off)
		_, err := t.drive(ctx, s, bmc.Reset)
		if err := kinded(err, bmc.Conflict); err != nil {
			return err
		}
		if t.Scene == OffRefuses { // and where nobody looked first
			_, err := p.SendPower(ctx, bmc.SendReset)
			if err := kinded(err, bmc.Conflict); err != nil {
				return fmt.Errorf("sent all the same: %w", err)
			}
		}
		if p := sim.Power(); p != bmc.Off {
			return fmt.Errorf("the machine is %s", p)
		}
		return nil
	})
}

func gracefulNeverForces(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, _ bmc.Power, sim Simulation) error {
		t.Patience.Graceful = 20 * time.Second
		_, err := t.drive(ctx, s, bmc.GracefulOff)
		if err := kinded(err, bmc.NotReached); err != nil {
			return err
		}
		sent := sim.Tally().Sent
		if p := sim.Power(); p != bmc.On || sent[bmc.SendOff] != 0 || sent[bmc.SendGraceful] == 0 {
			return fmt.Errorf("the machine is %s, sent were %v", p, sent)
		}
		return nil
	})
}

func unlistedNotSent(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, p bmc.Power, sim Simulation) error {
		probed, err := s.Probe(ctx)
		if err != nil {
			return err
		}
		var errs []error
		for _, a := range []bmc.Action{bmc.SendReset, bmc.SendNMI, bmc.SendGraceful} {
			switch is := probed.Of(a.Feature()); is.Level {
			case bmc.Unsupported:
			case bmc.Native:
				errs = append(errs, fmt.Errorf("%s is told as native, and the BMC does not list it", a))
				continue
			default:
				continue // had by other means
			}
			_, err := p.SendPower(ctx, a)
			errs = append(errs, kinded(err, bmc.Unsupports))
		}
		if len(errs) == 0 {
			errs = append(errs, errors.New("it says that it supports what the BMC does not list"))
		}
		if n := sim.Tally().Writes; n != 0 {
			errs = append(errs, fmt.Errorf("%d requests that change something were sent", n))
		}
		return errors.Join(errs...)
	})
}

func hiddenFound(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, p bmc.Power, _ Simulation) error {
		probed, err := s.Probe(ctx)
		if err != nil {
			return err
		}
		if is := probed.Of(bmc.PowerGraceful); is.Level != bmc.Native {
			return fmt.Errorf("an action that the BMC lists is %s: %s", is.Level, is.Why)
		}
		_, err = p.SendPower(ctx, bmc.SendGraceful)
		return err
	})
}

func lostReply(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, _ bmc.Power, sim Simulation) error {
		_, err := t.drive(ctx, s, bmc.Reset)
		if n := sim.Tally().Sent[bmc.SendReset]; n != 1 {
			return fmt.Errorf("sent %d times", n)
		}
		return errors.Join(kinded(err, bmc.Indeterminate), sent(err, bmc.SentMaybe))
	})
}

func nmiOnce(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(_ bmc.Session, p bmc.Power, sim Simulation) error {
		_, err := p.SendPower(ctx, bmc.SendNMI)
		if t.Scene == LostReply {
			err = kinded(err, bmc.Indeterminate)
		}
		if n := sim.Tally().Sent[bmc.SendNMI]; n != 1 {
			return fmt.Errorf("sent %d times", n)
		}
		return err
	})
}

func restartSurvived(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, p bmc.Power, sim Simulation) error {
		if _, err := p.SendPower(ctx, bmc.SendOff); err != nil {
			return err
		}
		if err := sim.Do(RestartBMC); err != nil {
			return err
		}
		if err := touch(ctx, s); err == nil {
			return errors.New("a BMC that is away is told to have answered")
		} else if err := kinded(err, bmc.Unreachable, bmc.Busy, bmc.Indeterminate); err != nil {
			return err
		}
		if err := pause(ctx, 12*time.Second); err != nil {
			return err
		}
		if _, err := t.drive(ctx, s, bmc.TurnOff); err != nil {
			return fmt.Errorf("when the BMC is back: %w", err)
		}
		return nil
	})
}

// tasksJudged wants the effect to decide, whatever a task says of itself.
func tasksJudged(ctx context.Context, t *try) error {
	return t.withPower(ctx, func(s bmc.Session, _ bmc.Power, sim Simulation) error {
		t.Patience.Reach = time.Minute
		_, err := t.drive(ctx, s, bmc.TurnOff)
		switch is := sim.Power(); {
		case err == nil && is != bmc.Off:
			return fmt.Errorf("said to be off, and is %s", is)
		case err != nil && t.Scene != TaskFails:
			return fmt.Errorf("the machine is %s, the answer: %w", is, err)
		case err == nil && t.Scene == TaskFails:
			return errors.New("a task that failed is told as success")
		}
		return nil
	})
}
