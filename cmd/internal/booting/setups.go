package booting

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/identity/bundle"
	"github.com/ingotmetal/ingot/liveness/session"
)

// A Line is the live connection of an agent. Do has fn run by the connection's owner;
// false says that the connection has ended.
type Line interface {
	Do(fn func(s *session.Server, now time.Time)) bool
}

// Setups stands between agents and the control plane while machines are set up: it
// relays announces and reports (REG-8, SET-9), finds approvals, and drains a bundle
// only for the agent whose live connection is held here (SET-6, SET-17), one install a
// node. It is safe for concurrent use.
type Setups struct {
	Client   *api.Client // with a key of the scope ur_enroll
	Follower *Follower
	Desk     *Desk
	Log      *slog.Logger

	mu       sync.Mutex
	lines    map[string]*Machine     // by server UUID: the newest that proved its key
	approved map[string]api.Approval // whose bundle is not drained yet
	handed   map[string]api.Bundle   // drained here, by server UUID, for an agent that lost its connection
	again    bool                    // a drain failed that may succeed later
}

// A Machine is an agent's live connection, once it proved who it is.
type Machine struct {
	setups *Setups
	line   Line
	server string // UUID
	key    string // public, as hexadecimal digits
	hash   string // of key, as approvals name it
	macs   []string
	told   bool // announced on this connection

	progress session.Progress
}

// Beat is how often agents beat.
const Beat = 5 * time.Second

// Join takes a machine in whose agent proved that it holds the key of its hello, and
// whose connection comes from an address. The owner of line must not call it. Another connection of the same machine is no longer handed anything.
func (s *Setups) Join(line Line, from netip.Addr, h session.Hello) (*Machine, error) {
	pub, err := bundle.ParsePublicKey(h.Key)
	if err != nil {
		return nil, err
	}
	hash := pub.Hash()
	m := &Machine{setups: s, line: line, server: strings.ToLower(h.Server), key: h.Key, hash: hex.EncodeToString(hash[:]), macs: s.Desk.seenWith(from, h.MACs)}
	if old := s.replace(m); old != nil {
		old.line.Do(func(e *session.Server, now time.Time) {
			e.Bye("CONFLICT", "the machine has a newer connection", now)
		})
	}
	return m, nil
}

// replace makes m the connection of its machine, and returns the one before.
func (s *Setups) replace(m *Machine) *Machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines, s.approved, s.handed = map[string]*Machine{}, map[string]api.Approval{}, map[string]api.Bundle{}
	}
	old := s.lines[m.server]
	s.lines[m.server] = m
	s.Desk.sessions.Store(int64(len(s.lines)))
	return old
}

// Leave lets a connection go that has ended.
func (m *Machine) Leave() {
	m.setups.mu.Lock()
	defer m.setups.mu.Unlock()
	if m.setups.lines[m.server] == m {
		delete(m.setups.lines, m.server)
		m.setups.Desk.sessions.Store(int64(len(m.setups.lines)))
	}
}

// seenWith are the MACs with which a connection was seen: that of the boot record
// whose address it comes from, where the agent has that MAC (SET-18). What else the
// agent says of its MACs proves nothing.
func (d *Desk) seenWith(from netip.Addr, said []string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.world.At(from.Unmap())
	if !ok {
		return []string{}
	}
	for _, text := range said {
		if mac, ok := parseMAC(text); ok && mac == at {
			return []string{mac.String()}
		}
	}
	return []string{}
}

// Announce relays an inventory. The error is what the control plane said, or why the
// sysinfo was not sent to it (REG-9).
func (m *Machine) Announce(ctx context.Context, sysinfo json.RawMessage) (state string, err error) {
	var body struct {
		UUID string `json:"uuid"`
	}
	if err := json.Unmarshal(sysinfo, &body); err != nil || !strings.EqualFold(body.UUID, m.server) {
		return "", api.NewProblem("INVALID_INPUT", "the sysinfo is of another UUID than the session")
	}
	in := api.Announce{}
	in.Body.Routing, in.Body.Server, in.Body.Sysinfo, in.Body.SeenMACs, in.Body.AgentKey = m.server, strings.ToLower(body.UUID), sysinfo, m.macs, m.key
	got, err := api.SetupAnnounce.Call(ctx, m.setups.Client, &in)
	if err != nil {
		return "", err
	}
	m.setups.mu.Lock()
	m.told = true
	m.setups.mu.Unlock()
	m.setups.hand(ctx, m.server)
	return got.State, nil
}

// Progress notes how far a setup is.
func (m *Machine) Progress(p session.Progress) {
	m.setups.mu.Lock()
	defer m.setups.mu.Unlock()
	m.progress = p
}

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
		if !pause(ctx, wait) {
			return "", ctx.Err()
		}
	}
}

// passing reports whether an error may pass by itself.
func passing(err error) bool {
	p, ok := errors.AsType[*api.Problem](err)
	return !ok || p.Name == "UNAVAILABLE" || p.Name == "RATE_LIMITED"
}

// ended forgets what was for a setup that has ended.
func (s *Setups) ended(server string, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handed[server].Epoch <= epoch {
		delete(s.handed, server)
	}
}

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
			if !pause(ctx, retry) {
				return
			}
			retry, after = min(2*retry, lastRetry), 0 // it may be another store by then
			continue
		}
		retry, after = firstRetry, got.Revision
		if s.take(ctx, got.Approvals); s.failed() {
			after = 0 // what waits is listed again
			pause(ctx, firstRetry)
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
	s.mu.Lock()
	m, a, had := s.lines[server], s.approved[server], s.handed[server]
	if m == nil || !m.told {
		s.mu.Unlock()
		return
	}
	again := had.Epoch != 0 && had.Plan.AgentKey == m.hash
	due := a.Epoch != 0 && a.AgentKey == m.hash && a.Epoch > had.Epoch
	delete(s.approved, server) // whoever comes next finds it taken
	if !due && a.Epoch != 0 {
		s.approved[server] = a
	}
	s.mu.Unlock()
	if due {
		had = s.drain(ctx, m, a)
		again = had.Epoch != 0
	}
	if again {
		m.send(had)
	}
}

// drain takes the bundle, once. Where the answer is lost, so is the bundle, and the
// deadline ends the setup (EDGE-6).
func (s *Setups) drain(ctx context.Context, m *Machine, a api.Approval) api.Bundle {
	in := api.DrainBundle{RegistrationRef: api.RegistrationRef{Server: a.Server}}
	in.Body.Epoch, in.Body.AgentKey, in.Body.Held = a.Epoch, m.hash, true
	got, err := api.SetupDrain.Call(ctx, s.Client, &in)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.Log.Warn("a bundle could not be drained", "server", a.Server, "epoch", a.Epoch, "error", err, "next", "the setup ends at its deadline unless another booter holds the machine")
		s.again = s.again || passing(err)
		return api.Bundle{}
	}
	s.handed[m.server] = got
	return got
}

// Order is what an agent is told to write, beside its sealed bundle.
type Order struct {
	Plan      api.SetupPlan `json:"plan"`
	ImageURL  string        `json:"image_url,omitempty"`
	Server    string        `json:"server,omitempty"` // host:port of the control plane
	ServerPin string        `json:"server_pin,omitempty"`
}

// send hands a bundle to the agent.
func (m *Machine) send(b api.Bundle) {
	d := m.setups.Desk
	o := Order{Plan: b.Plan, Server: d.place.Server, ServerPin: d.place.ServerPin}
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
