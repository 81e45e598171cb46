package booting

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/identity/bundle"
	"github.com/ingotmetal/ingot/liveness/session"
)

// A Line is the live connection of an agent. Do has fn run by the connection's owner;
// false says that the connection has ended.
type Line interface {
	Do(fn func(s *session.Server)) bool
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
	// File, less .json, begins the names of the files that keep drained bundles, such as
	// bundles-UUID.json for bundles.json; "" keeps none.
	File string

	mu       sync.Mutex
	lines    map[string]*Machine     // by server UUID: the newest that proved its key
	approved map[string]api.Approval // whose bundle is not drained yet
	draining map[string]bool         // whose bundle is on its way here
	handed   map[string]handed       // drained here, by server UUID, for an agent that lost its connection
	again    bool                    // a drain failed that may succeed later
}

// handed is a bundle that was drained, sealed to its agent's key.
type handed struct {
	api.Bundle
	Since time.Time `json:"since"`
}

// handedLife is how long a bundle is kept for an agent that comes again. It is longer
// than a setup may take (SET-5).
const handedLife = time.Hour

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
// whose connection comes from an address. The owner of line must not call it. Another
// connection of the same machine is no longer handed anything.
func (s *Setups) Join(line Line, from netip.Addr, h session.Hello) (*Machine, error) {
	pub, err := bundle.ParsePublicKey(h.Key)
	if err != nil {
		return nil, err
	}
	hash := pub.Hash()
	m := &Machine{setups: s, line: line, server: strings.ToLower(h.Server), key: h.Key, hash: hex.EncodeToString(hash[:]), macs: s.Desk.seenWith(from, h.MACs)}
	if old := s.replace(m); old != nil {
		old.line.Do(func(e *session.Server) {
			e.Bye("CONFLICT", "the machine has a newer connection")
		})
	}
	return m, nil
}

// replace makes m the connection of its machine, and returns the one before.
func (s *Setups) replace(m *Machine) *Machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = map[string]*Machine{} // the others may hold what came before any agent
		s.draining = map[string]bool{}
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

// seenWith are the MACs with which a connection was seen: that of the machine whose
// address it comes from, where the agent has that MAC (SET-18). What else the
// agent says of its MACs proves nothing.
func (d *Desk) seenWith(from netip.Addr, said []string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.at(from)
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
	before := m.setups.epochOf(m.server)
	got, err := api.SetupAnnounce.Call(ctx, m.setups.Client, &in)
	if err != nil {
		return "", err
	}
	if got.State != settingUp {
		m.setups.ended(m.server, before)
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
