package booting

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/booting/account"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
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
	s.each(ctx, all)
}

// drains is how many bundles the approvals of one poll are drained for at once: each
// is a round trip, and a rack that is approved as one must not wait for a chain of
// them.
const drains = 8

// each hands out what it can, and returns when all were looked at.
func (s *Setups) each(ctx context.Context, all []api.Approval) {
	next := make(chan string)
	var work sync.WaitGroup
	for range min(drains, len(all)) {
		work.Go(func() {
			for server := range next {
				s.hand(ctx, server)
			}
		})
	}
	for _, a := range all {
		if ctx.Err() == nil {
			next <- strings.ToLower(a.Server)
		}
	}
	close(next)
	work.Wait()
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
	if h := s.handed[server]; h.Epoch != 0 && a.Epoch > h.Epoch {
		s.forget(server) // of a setup before this one
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

// drain takes the bundle, once, and only where there is room to keep it. Where the
// answer is lost, so is the bundle, and the deadline ends the setup (EDGE-6).
func (s *Setups) drain(ctx context.Context, m *Machine, a api.Approval) {
	place, err := s.shelf().reserve(m.server, a.Plan)
	s.kept(m, err)
	if err != nil {
		s.drained(m, nil, true) // it stays at the control plane, and is asked for again
		return
	}
	in := api.DrainBundle{RegistrationRef: api.RegistrationRef{Server: a.Server}}
	in.Body.Epoch, in.Body.AgentKey, in.Body.Held = a.Epoch, m.hash, true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWait) // a stop must not lose the answer
	defer cancel()
	got, err := api.SetupDrain.Call(ctx, s.Client, &in)
	if err != nil {
		place.leave()
		s.Log.Warn("a bundle could not be drained", "server", a.Server, "epoch", a.Epoch, "error", err, "next", "the setup ends at its deadline unless another booter holds the machine")
		s.drained(m, nil, passing(err))
		return
	}
	h := handed{got, s.Desk.now()}
	if err := place.keep(h); err != nil {
		s.Log.Error("a drained bundle could not be kept; its setup is lost if this booter stops before the machine has it", "server", a.Server, "error", err, "next", "look after the disk under the state folder")
	}
	s.drained(m, &h, false)
}

// drained notes what came of a drain. again says that it may succeed later.
func (s *Setups) drained(m *Machine, h *handed, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.draining, m.server)
	s.again = s.again || again
	if h == nil {
		return
	}
	if s.handed == nil {
		s.handed = map[string]handed{}
	}
	for server, old := range s.handed {
		if h.Since.Sub(old.Since) > handedLife {
			s.forget(server)
		}
	}
	s.handed[m.server] = *h
}

// forget lets go of what was drained for a machine; s.mu is held.
func (s *Setups) forget(server string) {
	delete(s.handed, server)
	if err := s.shelf().drop(server); err != nil {
		s.Log.Warn("the bundle of a setup that has ended could not be removed; nobody is handed it any more", "server", server, "error", err)
	}
}

func (s *Setups) shelf() shelf { return shelf(strings.TrimSuffix(s.File, ".json")) }

// kept tells people, once, that the state folder takes no bundles, and that it does
// again.
func (s *Setups) kept(m *Machine, err error) {
	if err != nil && len(m.macs) > 0 {
		s.Desk.Tell(m.macs[0], account.Moment{Stage: stageSetup, What: "bundle", Detail: "it stays at the control plane, since this booter's state folder does not take it: " + plain(err)})
	}
	if !s.Desk.kept(keepsBundles, err) {
		return
	}
	if err != nil {
		s.Log.Error("the state folder takes no bundles; no setup begins here until it does", "error", err, "next", "free space in the state folder; it is tried again by itself")
		return
	}
	s.Log.Info("the state folder takes bundles again")
}

// plain is what the system said, without the path, which is the operator's business
// alone.
func plain(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// Load takes in what was kept. What cannot be read is in the error, and those setups
// end at their deadlines.
func (s *Setups) Load() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	s.handed, err = s.shelf().load()
	return err
}

// diskURL is where a machine gets a file that a layout names; "" where it names none.
func (d *Desk) diskURL(mac booter.MAC, name string) string {
	sum, ok := strings.CutPrefix(name, "sha256:")
	if !ok {
		return ""
	}
	return d.pointer.URL(bootscript.Path{Token: d.key.Token(mac), Leaf: bootscript.Disk, Name: sum})
}

// send hands a bundle to the agent.
func (m *Machine) send(b api.Bundle) {
	d := m.setups.Desk
	o := sessions.Order{Plan: b.Plan, Server: d.place.Server, ServerPin: d.place.ServerPin}
	if b.Plan.Layout != nil && len(m.macs) > 0 {
		mac, _ := parseMAC(m.macs[0])
		o.ImageURL, o.BootURL = d.diskURL(mac, b.Plan.Layout.Image), d.diskURL(mac, b.Plan.Layout.Boot)
	}
	raw, err := json.Marshal(o)
	if err != nil {
		m.setups.Log.Error("an order could not be written", "server", m.server, "error", err)
		return
	}
	m.line.Do(func(e *session.Server) { e.Setup(b.Epoch, b.Bundle.Show(), raw) })
}
