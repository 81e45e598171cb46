package booting

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/liveness/session"
)

// A pair is a site with two booters, each with a file of its own, and one machine that
// comes to either, with a new key in each life.
type pair struct {
	t       *rapid.T
	plane   *plane
	store   *images.Store
	dir     string
	booters [2]*Setups
	lives   []*aLife // the last one runs; the sessions of the others may linger

	state    string // of the row
	key      string // of the agent that announced last
	epoch    uint64
	consumed bool
	approved map[uint64]string // keys, by epoch
	drains   map[uint64]int
	polled   [2][]api.Approval // an answer that is on its way
}

// An aLife is an agent and its session.
type aLife struct {
	pair *pair
	at   int // booter
	m    *Machine
	hash string
	took map[uint64]bool // bundles that it was handed, by epoch
}

// Do is a hand-over: nothing else is said on these lines.
func (l *aLife) Do(func(*session.Server)) bool {
	p := l.pair
	if l != p.now() {
		return false // it is gone, and nobody noticed
	}
	epoch := p.booters[l.at].epochOf(uuid)
	l.took[epoch] = true
	if p.approved[epoch] != l.hash {
		p.t.Errorf("booter %d hands the bundle of epoch %d, approved for %q, to %q", l.at, epoch, p.approved[epoch], l.hash)
	}
	return true
}

func (p *pair) now() *aLife { return p.lives[len(p.lives)-1] }

// announce is what the control plane does with one (REG-8, SET-17).
func (p *pair) announce(body []byte) (any, error) {
	var in struct {
		AgentKey string `json:"agent_key"`
	}
	_ = json.Unmarshal(body, &in)
	if p.state == settingUp && !p.consumed && in.AgentKey != p.key {
		p.state = "awaiting_setup"
	}
	if p.state == "awaiting_setup" {
		p.key = in.AgentKey
	}
	return api.Announced{State: p.state}, nil
}

// drain is what it does with a drain (SET-6).
func (p *pair) drain(body []byte) (any, error) {
	var in struct {
		Epoch    uint64 `json:"epoch"`
		AgentKey string `json:"agent_key"`
	}
	_ = json.Unmarshal(body, &in)
	if p.state != settingUp || p.consumed || in.Epoch != p.epoch || in.AgentKey != p.key {
		return nil, api.NewProblem("CONFLICT", "no")
	}
	p.consumed = true
	p.drains[p.epoch]++
	return api.Bundle{Epoch: p.epoch, Sealed: true, Bundle: sealedBundle, Plan: api.SetupPlan{AgentKey: p.key}}, nil
}

// start starts a booter, anew where it ran: its sessions ended with it.
func (p *pair) start(i int) {
	s := &Setups{Client: p.plane.client(), Desk: NewDesk(place(), p.store, newKey(), still), Log: quiet, File: filepath.Join(p.dir, fmt.Sprintf("b%d.json", i))}
	if err := s.Load(); err != nil {
		p.t.Error(err)
	}
	p.booters[i] = s
}

// connect is a connection of the agent that runs, which announces.
func (p *pair) connect() {
	l := p.now()
	l.m = &Machine{setups: p.booters[l.at], server: uuid, key: l.hash, hash: l.hash, line: l}
	p.booters[l.at].replace(l.m)
	if _, err := l.m.Announce(p.t.Context(), json.RawMessage(`{"uuid":"`+uuid+`"}`)); err != nil {
		p.t.Error(err)
	}
}

// live is a new life, at a booter.
func (p *pair) live(at int) {
	p.lives = append(p.lives, &aLife{pair: p, at: at, hash: fmt.Sprintf("key-%d", len(p.lives)), took: map[uint64]bool{}})
	p.connect()
}

func (p *pair) approve() {
	if p.state == "awaiting_setup" && p.key != "" {
		p.epoch++
		p.state, p.consumed, p.approved[p.epoch] = settingUp, false, p.key
	}
}

// list is the answer to a poll.
func (p *pair) list() []api.Approval {
	if p.state != settingUp || p.consumed {
		return nil
	}
	return []api.Approval{{Server: uuid, Epoch: p.epoch, AgentKey: p.key, Plan: api.SetupPlan{AgentKey: p.key}}}
}

// report ends the setup of the agent that runs, if it has one.
func (p *pair) report(state string) {
	if l := p.now(); l.took[p.epoch] && p.state == settingUp {
		p.state = state
		p.booters[l.at].ended(uuid, p.epoch)
	}
}

// check holds after every step: a bundle is drained once, and had by one agent.
func (p *pair) check() {
	for epoch := uint64(1); epoch <= p.epoch; epoch++ {
		had := 0
		for _, l := range p.lives {
			if l.took[epoch] {
				had++
			}
		}
		if p.drains[epoch] > 1 || had > p.drains[epoch] {
			p.t.Errorf("the bundle of epoch %d is drained %d times, and %d agents have it", epoch, p.drains[epoch], had)
		}
	}
}

// settle ends what runs and sets the machine up once more, and again: nothing is
// wedged.
func (p *pair) settle(at int) {
	p.state = "awaiting_setup"
	p.live(at)
	p.again(at)
	p.state = "awaiting_setup" // at its deadline, of which no booter hears
	p.again(at)
	p.report("approved")
}

// again sets a machine up that is at a booter.
func (p *pair) again(at int) {
	p.approve()
	for i, b := range p.booters {
		b.take(p.t.Context(), p.list())
		if got := p.now().took[p.epoch]; got != (i >= at) {
			p.t.Errorf("booter %d was asked, the machine is at %d, and has its bundle: %t", i, at, got)
		}
	}
}

// However a machine comes and goes between two booters, one of which stops and starts,
// and however late the answers to their polls come: a bundle is handed out once, to the
// agent that it was approved for, and the machine can be set up again.
func TestTwoBooters(t *testing.T) {
	store, err := images.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "two")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		p := &pair{t: t, plane: newPlane(), store: store, dir: dir, state: "awaiting_setup", approved: map[uint64]string{}, drains: map[uint64]int{}}
		p.plane.on(announcePath, p.announce)
		p.plane.on(drainPath, p.drain)
		p.start(0)
		p.start(1)
		which := rapid.IntRange(0, 1)
		p.live(which.Draw(t, "first"))
		t.Repeat(map[string]func(*rapid.T){
			"life":     func(t *rapid.T) { p.live(which.Draw(t, "at")) },
			"connect":  func(*rapid.T) { p.connect() },
			"approve":  func(*rapid.T) { p.approve() },
			"poll":     func(t *rapid.T) { i := which.Draw(t, "of"); p.polled[i] = p.list() },
			"answer":   func(t *rapid.T) { i := which.Draw(t, "to"); p.booters[i].take(t.Context(), p.polled[i]) },
			"complete": func(*rapid.T) { p.report("approved") },
			"fail":     func(*rapid.T) { p.report("awaiting_setup") },
			"reset":    func(*rapid.T) { p.state, p.key = "awaiting_setup", "" },
			"deadline": func(*rapid.T) { p.state = "awaiting_setup" },
			"restart":  func(t *rapid.T) { p.start(which.Draw(t, "booter")) },
			"":         func(*rapid.T) { p.check() },
		})
		p.settle(which.Draw(t, "last"))
		p.check()
	})
}
