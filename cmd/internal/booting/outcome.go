package booting

import (
	"context"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// The pause between tries to report an outcome.
const (
	firstTry = 500 * time.Millisecond
	lastTry  = 15 * time.Second
)

// Complete reports a sentinel, until the control plane took it in or refused it, and
// returns once this booter serves by what followed: so a machine that restarts then
// does not boot the enrollment image again.
func (m *Machine) Complete(ctx context.Context, epoch uint64) (state string, err error) {
	in := api.SetupOutcome{RegistrationRef: api.RegistrationRef{Server: m.server}}
	in.Body.Epoch = epoch
	return m.report(ctx, epoch, func() (api.SetupReported, error) { return api.SetupComplete.Call(ctx, m.setups.Client, &in) })
}

// Fail reports a setup that was given up, as Complete does.
func (m *Machine) Fail(ctx context.Context, epoch uint64, why string) (state string, err error) {
	in := api.SetupFailure{RegistrationRef: api.RegistrationRef{Server: m.server}}
	in.Body.Epoch, in.Body.Why = epoch, why
	return m.report(ctx, epoch, func() (api.SetupReported, error) { return api.SetupFailed.Call(ctx, m.setups.Client, &in) })
}

func (m *Machine) report(ctx context.Context, epoch uint64, call func() (api.SetupReported, error)) (string, error) {
	for wait := firstTry; ; wait = min(2*wait, lastTry) {
		got, err := call()
		if err == nil {
			m.setups.ended(m.server, epoch)
			return got.State, m.setups.Follower.Wait(ctx, got.Revision)
		}
		if !passing(err) {
			return "", err
		}
		m.setups.Log.Warn("the outcome of a setup could not be reported; it is tried again", "server", m.server, "epoch", epoch, "error", err)
		if !pause.For(ctx, wait) {
			return "", ctx.Err()
		}
	}
}

// passing reports whether an error may pass by itself.
func passing(err error) bool {
	p, ok := errors.AsType[*api.Problem](err)
	return !ok || p.Name == "UNAVAILABLE" || p.Name == "RATE_LIMITED"
}

// settingUp is the state of a machine whose bundle may be handed out (SET-1).
const settingUp = "setting_up"

// epochOf is the setup whose bundle was drained here, 0 for none.
func (s *Setups) epochOf(server string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handed[server].Epoch
}

// ended forgets what was for a setup that has ended.
func (s *Setups) ended(server string, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.handed[server]; ok && h.Epoch <= epoch {
		s.forget(server)
	}
}
