package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// patience is how long a registration waits for a person (REG-6).
const patience = time.Hour

// pollWait is how long one poll waits.
const pollWait = 50 * time.Second

// A ticket is a registration that waits for its approval.
type waiting struct {
	Server string     `json:"server"`
	Token  api.Secret `json:"token"`
	Code   api.Secret `json:"code,omitempty"`
	Until  time.Time  `json:"until"`
}

// The files of a registration, in the agent's state folder.
const (
	tokenFile = "poll-token"
	codeFile  = "claim-code"
)

// Register lets a hand-installed machine in: it asks, shows its claim code (REG-17),
// waits at most an hour for the approval (REG-6), and keeps its key. It may be ended
// and begun again at any point; a machine whose key is kept is left as it is. The
// error is *Expired, the control plane's *api.Problem, or the context's.
func (a *Agent) Register(ctx context.Context) error {
	name, _, err := who(a.Machine)
	if err != nil {
		return err
	}
	if a.Config.Server == "" {
		return &Invalid{"the control plane", "is not named; give --server and --pin"}
	}
	kept, err := load(a.Keep, name)
	if err != nil {
		return err
	}
	w, err := a.pending()
	if err != nil {
		return err
	}
	if kept == nil {
		if w, err = a.ask(ctx, name, w); err != nil {
			return err
		}
		if err = a.await(ctx, name, w); err != nil {
			return err
		}
	}
	return a.acknowledge(ctx, w)
}

// pending is a registration that was begun before, nil for none.
func (a *Agent) pending() (*waiting, error) {
	raw, err := a.State.read(tokenFile)
	if err != nil || raw == nil {
		return nil, err
	}
	var w waiting
	if json.Unmarshal(raw, &w) != nil || w.Server != a.Config.Server || w.Token == "" {
		return nil, nil // of another site, or of an agent that wrote it otherwise
	}
	return &w, nil
}

// ask registers, unless that was done and the code still holds.
func (a *Agent) ask(ctx context.Context, name string, w *waiting) (*waiting, error) {
	if w != nil && a.Now().Before(w.Until) {
		a.show(w)
		return w, nil
	}
	info, err := sysinfo(a.Machine, name, a.Log)
	if err != nil {
		return nil, err
	}
	c, done := a.client(a.Config.Server, a.Config.ServerPin)
	defer done()
	in := api.Register{}
	in.Body.Server, in.Body.Sysinfo = name, info
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	out, err := api.RegistrationRegister.Call(ctx, c, &in)
	if err != nil {
		return nil, err
	}
	w = &waiting{a.Config.Server, out.PollToken, out.Code, a.Now().Add(patience)}
	raw, err := json.Marshal(w)
	if err == nil {
		err = a.State.write(tokenFile, raw)
	}
	if err != nil {
		return nil, &Unkept{"the poll token cannot be saved", err}
	}
	a.show(w)
	return w, nil
}

// show prints the claim code and mirrors it, as well as that goes (REG-17).
func (a *Agent) show(w *waiting) {
	if w.Code == "" {
		return
	}
	a.tell(Told{What: "claim_code", Code: w.Code, Until: w.Until})
	if err := a.State.write(codeFile, []byte(w.Code.Show()+"\n")); err != nil {
		a.Log.Warn("the claim code could not be written to its file", "error", err)
	}
}

// await polls until the key is there, and keeps it.
func (a *Agent) await(ctx context.Context, name string, w *waiting) error {
	c, done := a.client(w.Server, a.Config.ServerPin)
	defer done()
	c.Credential = api.Bearer(w.Token.Show)
	wait := backoff{entropy: a.Entropy}
	state := ""
	for a.Now().Before(w.Until) {
		out, err := a.poll(ctx, c, state, w.Until)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && out.Key != "":
			return save(a.Keep, Record{Version: 1, Machine: name, Server: w.Server, Pin: a.Config.ServerPin, Key: out.Key})
		case refusedForGood(err):
			return errors.Join(err, a.forget())
		case err == nil && out.State == approvedState:
			return errors.Join(&Revoked{"it was approved, and its key was handed out before"}, a.forget())
		case err == nil:
			if state != out.State {
				state = out.State
				a.tell(Told{What: "state", State: state})
			}
			wait.reset()
		default:
			a.Log.Warn("the control plane is asked again", "error", err)
		}
		if !wait.wait(ctx) {
			return context.Cause(ctx)
		}
	}
	return errors.Join(&Expired{}, a.forget())
}

// poll asks once, and lets the control plane wait for news.
func (a *Agent) poll(ctx context.Context, c *api.Client, state string, until time.Time) (api.RegistrationStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, pollWait+callWait)
	defer cancel()
	in := api.RegistrationPoll{State: state}
	if left := until.Sub(a.Now()); state != "" {
		in.Wait = api.Duration{Duration: max(min(pollWait, left), 0).Truncate(time.Second)}
	}
	return api.RegistrationStatusPoll.Call(ctx, c, &in)
}

// acknowledge tells the control plane that the key is kept; whether that arrives does
// not matter much, since a use of the key says so too.
func (a *Agent) acknowledge(ctx context.Context, w *waiting) error {
	if w == nil {
		return nil
	}
	c, done := a.client(w.Server, a.Config.ServerPin)
	defer done()
	c.Credential = api.Bearer(w.Token.Show)
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	if _, err := api.RegistrationAcknowledge.Call(ctx, c, &api.Empty{}); err != nil {
		a.Log.Info("the key was not acknowledged; its first use does that", "error", err)
	}
	a.tell(Told{What: "approved"})
	return a.forget()
}

// forget removes what a registration left.
func (a *Agent) forget() error { return errors.Join(a.State.drop(tokenFile), a.State.drop(codeFile)) }
