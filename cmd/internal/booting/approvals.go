package booting

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/cmd/internal/whole"
	"github.com/ingotmetal/ingot/liveness/session"
)

// Run looks for approvals until ctx ends.
func (s *Setups) Run(ctx context.Context) {
	var after uint64
	for retry := firstRetry; ctx.Err() == nil; {
		in := api.SetupApprovals{After: after}
		in.Wait.Duration = pollWait
		got, err := api.SetupApprovalsPoll.Call(ctx, s.Client, &in)
		if err != nil {
			if ctx.Err() == nil {
				s.Log.Warn("approvals could not be asked for", "error", err, "retry", retry.String())
			}
			if !pause.For(ctx, retry) {
				return
			}
			retry, after = min(2*retry, lastRetry), 0 // it may be another store by then
			continue
		}
		retry, after = firstRetry, got.Revision
		if s.take(ctx, got.Approvals); s.failed() {
			after = 0 // what waits is listed again
			pause.For(ctx, firstRetry)
		}
	}
}

// failed reports whether a drain failed that may succeed later, since last asked.
func (s *Setups) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.again
	s.again = false
	return was
}

// take notes all approvals that wait, and hands out what it can.
func (s *Setups) take(ctx context.Context, all []api.Approval) {
	s.mu.Lock()
	s.approved = map[string]api.Approval{}
	for _, a := range all {
		s.approved[strings.ToLower(a.Server)] = a
	}
	s.mu.Unlock()
	for _, a := range all {
		s.hand(ctx, strings.ToLower(a.Server))
	}
}

// hand drains the bundle of a machine whose connection is here and who announced the
// key that was approved, and hands it out; one that was drained before is handed to a
// new connection of the same agent.
func (s *Setups) hand(ctx context.Context, server string) {
	m, a, due := s.due(server)
	if due {
		s.drain(ctx, m, a)
	}
	s.mu.Lock()
	had := s.handed[server]
	m = s.lines[server] // it may be a newer one by now
	fits := had.Epoch != 0 && m != nil && m.told && m.hash == had.Plan.AgentKey
	s.mu.Unlock()
	if fits {
		m.send(had.Bundle)
	}
}

// due takes the approval of a machine that is to be handed its bundle. Whoever comes
// next finds it taken, and what it leads to is handed to the connection that is there
// then.
func (s *Setups) due(server string) (*Machine, api.Approval, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, a := s.lines[server], s.approved[server]
	if a.Epoch > s.handed[server].Epoch {
		delete(s.handed, server) // of a setup before this one
	}
	if m == nil || !m.told || s.draining[server] || a.Epoch == 0 || a.AgentKey != m.hash || s.handed[server].Epoch != 0 {
		return nil, api.Approval{}, false
	}
	delete(s.approved, server)
	s.draining[server] = true
	return m, a, true
}

// drainWait is how long the answer to a drain is waited for.
const drainWait = 15 * time.Second

// drain takes the bundle, once. Where the answer is lost, so is the bundle, and the
// deadline ends the setup (EDGE-6).
func (s *Setups) drain(ctx context.Context, m *Machine, a api.Approval) {
	in := api.DrainBundle{RegistrationRef: api.RegistrationRef{Server: a.Server}}
	in.Body.Epoch, in.Body.AgentKey, in.Body.Held = a.Epoch, m.hash, true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWait) // a stop must not lose the answer
	defer cancel()
	got, err := api.SetupDrain.Call(ctx, s.Client, &in)
	now := s.Desk.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.draining, m.server)
	if err != nil {
		s.Log.Warn("a bundle could not be drained", "server", a.Server, "epoch", a.Epoch, "error", err, "next", "the setup ends at its deadline unless another booter holds the machine")
		s.again = s.again || passing(err)
		return
	}
	if s.handed == nil {
		s.handed = map[string]handed{}
	}
	maps.DeleteFunc(s.handed, func(_ string, h handed) bool { return now.Sub(h.Since) > handedLife })
	s.handed[m.server] = handed{got, now}
	s.save()
}

// save keeps the bundles that were drained and may not have arrived, for a booter that
// is stopped or killed before its agent comes again: what is sealed alone. s.mu is held.
func (s *Setups) save() {
	if s.File == "" {
		return
	}
	sealed := map[string]handed{}
	for server, h := range s.handed {
		if h.Sealed {
			sealed[server] = h
		}
	}
	raw, err := json.Marshal(sealed)
	if err == nil {
		err = whole.Replace(s.File, whole.Bytes(raw))
	}
	if err != nil {
		s.Log.Error("a drained bundle could not be kept; its setup is lost if this booter stops now", "error", err, "next", "free space in the state folder")
	}
}

// Load takes in what was kept. Where it cannot be read, those setups end at their
// deadlines.
func (s *Setups) Load() error {
	raw, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = json.Unmarshal(raw, &s.handed)
	}
	return err
}

// send hands a bundle to the agent.
func (m *Machine) send(b api.Bundle) {
	d := m.setups.Desk
	o := sessions.Order{Plan: b.Plan, Server: d.place.Server, ServerPin: d.place.ServerPin}
	if b.Plan.Layout != nil && len(m.macs) > 0 {
		if sum, ok := strings.CutPrefix(b.Plan.Layout.Image, "sha256:"); ok {
			mac, _ := parseMAC(m.macs[0])
			o.ImageURL = d.pointer.URL(bootscript.Path{Token: d.key.Token(mac), Leaf: bootscript.Disk, Name: sum})
		}
	}
	raw, err := json.Marshal(o)
	if err != nil {
		m.setups.Log.Error("an order could not be written", "server", m.server, "error", err)
		return
	}
	m.line.Do(func(e *session.Server, now time.Time) { e.Setup(b.Epoch, b.Bundle.Show(), raw, now) })
}
