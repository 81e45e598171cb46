package agent

import (
	"context"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/liveness/session"
)

// callWait is how long one call of the control plane may take.
const callWait = 30 * time.Second

// bound shows the kept key to the control plane and beats, for as long as the key
// lives. It returns nil where the machine restarts. The error is *Revoked, or the
// context's.
func (r *running) bound(ctx context.Context, rec Record) error {
	wait := backoff{entropy: r.Entropy}
	for {
		began := r.Now()
		err := r.refresh(ctx, rec)
		if err == nil && rec.Epoch != 0 && !rec.Restarted && r.Config.Booter != "" {
			return r.restart(ctx)
		}
		if err == nil {
			err = r.shown(ctx, rec)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case refusedForGood(err):
			return &Revoked{err.Error()}
		case r.Now().Sub(began) > lastWait:
			wait.reset()
		}
		r.Log.Warn("the control plane is tried again", "server", rec.Server, "error", err)
		if !wait.wait(ctx) {
			return context.Cause(ctx)
		}
	}
}

// shown holds a session.
func (r *running) shown(ctx context.Context, rec Record) error {
	addresses, err := macs(r.Machine)
	if err != nil {
		return err
	}
	link, err := sessions.Dial(ctx, sessions.Target{URL: "https://" + rec.Server, Pins: []pin.Pin{rec.Pin},
		Hello: session.Hello{Server: r.name, MACs: addresses}, Bearer: rec.Key.Show}, r.Dial, r.Now)
	if err != nil {
		return err
	}
	roots, end := r.rooted(ctx)
	defer end()
	for s := range link.Events() {
		switch s := s.(type) {
		case session.Welcomed:
			if err := r.Machine.SetClock(s.Time); err != nil {
				return &ClockUnset{err}
			}
			r.Log.Info("the session with the control plane is open", "server", rec.Server)
		case session.Root:
			roots.hear(api.Secret(s.Hash))
		}
	}
	return link.Err()
}

// refresh tells the control plane what the machine is (REG-15).
func (r *running) refresh(ctx context.Context, rec Record) error {
	info, err := sysinfo(r.Machine, r.name, r.Log)
	if err != nil {
		return err
	}
	c, done := r.client(rec.Server, rec.Pin)
	defer done()
	c.Credential = api.Bearer(rec.Key.Show)
	in := api.Refresh{RegistrationRef: api.RegistrationRef{Server: r.name}}
	in.Body.Sysinfo = info
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	out, err := api.RegistrationRefresh.Call(ctx, c, &in)
	if err != nil {
		return err
	}
	r.Log.Info("the control plane took the key", "state", out.State)
	r.tell(Told{What: "state", State: out.State})
	if out.State != approvedState {
		return errors.New("the row is " + out.State)
	}
	return nil
}
