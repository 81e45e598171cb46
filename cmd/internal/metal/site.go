package metal

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/machine"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// Config is what a [Site] is made of.
type Config struct {
	Door    *control.Door
	Drivers []bmc.Driver // each dials by itself
	Secrets secrets.Resolvers
	Log     *slog.Logger
	Polling machine.Polling
	// Within bounds what is asked at once; default 45s.
	Within time.Duration
}

// A Site reaches the BMCs of its site by itself. Make it with [New]; it works while
// [Site.Run] runs.
type Site struct {
	Config
	drivers map[string]bmc.Driver
	gates   machine.Gates
	idle    machine.Idle
	poller  *machine.Poller
	powers  observed
	done    chan struct{} // closed when Run ends

	mu     sync.Mutex
	all    map[lifecycle.NodeID]*bound
	turns  map[lifecycle.NodeID][]string // commands that are carried out
	same   map[string][]lifecycle.NodeID // nodes by the machine that their BMCs chose
	closed bool
	life   context.Context // of Run; nil: not yet
	ends   sync.WaitGroup  // machines that log out
}

// A bound is a machine as its row was when it was made.
type bound struct {
	reach
	*machine.Machine
	halt map[*context.CancelFunc]bool // of commands that run
}

// A reach is all of a row on which a machine depends.
type reach struct {
	bmc, system, driver, options, credentials string
	trust                                     lifecycle.Trust
}

func reachOf(m *lifecycle.Metal) reach {
	return reach{m.BMC, m.System, m.Driver, m.Options, m.Credentials, m.Trust}
}

// sessions is how many stay open: more than the machines of a site, so that no poll has
// to log in, which BMCs count and log.
const sessions = 20_000

// New makes a site's agent.
func New(c Config) *Site {
	s := &Site{Config: c, drivers: map[string]bmc.Driver{}, all: map[lifecycle.NodeID]*bound{}, turns: map[lifecycle.NodeID][]string{}, same: map[string][]lifecycle.NodeID{}, done: make(chan struct{})}
	for _, d := range c.Drivers {
		s.drivers[d.Info().Name] = d
	}
	s.idle.Keep = sessions
	s.poller = machine.NewPoller(c.Polling, s.polled, nil)
	return s
}

func (s *Site) names() []string { return slices.Sorted(maps.Keys(s.drivers)) }

// within is how long a question may take.
func (s *Site) within() time.Duration {
	if s.Within > 0 {
		return s.Within
	}
	return 45 * time.Second
}

// Run polls the machines until ctx ends, and then logs out of all. Call it once.
func (s *Site) Run(ctx context.Context) {
	s.mu.Lock()
	s.life = ctx
	s.mu.Unlock()
	var parts sync.WaitGroup
	parts.Go(func() { s.poller.Run(ctx) })
	parts.Go(func() { s.keep(ctx) })
	<-ctx.Done()
	close(s.done)
	parts.Wait()
	s.mu.Lock()
	s.closed = true
	for id := range s.all {
		s.drop(id)
	}
	s.mu.Unlock()
	s.ends.Wait()
	s.idle.Wait()
}

// Seen is told of each node as it is now: it reaches those anew whose rows have
// changed, and forgets those that have gone.
func (s *Site) Seen(n *lifecycle.Node) {
	if !n.Live() || n.Claims.BMC == "" || s.Serves(&n.Metal) != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(n.ID)
		return
	}
	b, err := s.reach(Target{n.ID, n.Metal})
	if err != nil {
		s.Log.Warn("a machine cannot be reached out of band", "node", string(n.ID), "error", err)
		return
	}
	if lifecycle.HeldBy(n).Holder == lifecycle.Free {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for halt := range b.halt { // the power is the attempt's now
		(*halt)()
	}
}

// reach is the machine of a row.
func (s *Site) reach(t Target) (*bound, error) {
	d, err := s.driver(&t.Metal)
	if err != nil {
		return nil, err
	}
	ref, err := secrets.ParseRef(t.Metal.Credentials)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, &Refused{"UNAVAILABLE", "the site agent stops", "ask again when it runs"}
	}
	if b := s.all[t.Node]; b != nil && b.reach == reachOf(&t.Metal) {
		return b, nil
	}
	m, err := machine.New(machine.Config{Driver: d, Endpoint: endpoint(&t.Metal), Credentials: source{s.Secrets.Source(ref)}, Gates: &s.gates, Idle: &s.idle,
		Journal: journal{s.Door, t.Node}, Log: s.Log, Name: string(t.Node)})
	if err != nil {
		return nil, err
	}
	s.drop(t.Node)
	b := &bound{reachOf(&t.Metal), m, map[*context.CancelFunc]bool{}}
	s.all[t.Node] = b
	s.poller.Add(string(t.Node), func(ctx context.Context) (bmc.PowerObservation, error) {
		o, err := m.Poll(ctx)
		if err == nil && t.Metal.Trust.FirstUse {
			err = s.pin(ctx, t, m)
		}
		if err == nil {
			err = s.known(ctx, t, b)
		}
		return o, err
	})
	return b, nil
}

// drop forgets a machine. The caller holds the lock.
func (s *Site) drop(id lifecycle.NodeID) {
	b := s.all[id]
	if b == nil {
		return
	}
	delete(s.all, id)
	s.unknown(id)
	s.poller.Remove(string(id))
	for halt := range b.halt {
		(*halt)()
	}
	s.ends.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			s.Log.Debug("a session with a BMC was not closed", "node", string(id), "error", err)
		}
	})
}

// pin keeps the key that a first use saw.
func (s *Site) pin(ctx context.Context, t Target, m *machine.Machine) error {
	p, err := m.Probe(ctx)
	if err != nil || p.Peer == "" {
		return err
	}
	_, err = s.Door.Do(ctx, control.Call{Actor: actor}, control.Target{Node: t.Node}, control.Just(lifecycle.PinBMC{Claim: t.Metal.Claim(), Pin: p.Peer}))
	return err
}

// actor is who the log says it was.
const actor = "site-agent"

// ready is a machine that answers and is the one that its row means, and whose key is
// pinned where the first use was to say it: a machine is made anew by that, which must
// not meet a verb that runs.
func (s *Site) ready(ctx context.Context, t Target) (*bound, error) {
	if err := s.Serves(&t.Metal); err != nil {
		return nil, err
	}
	b, err := s.reach(t)
	if err == nil && t.Metal.Trust.FirstUse {
		b, err = s.pinned(ctx, t, b)
	}
	if err != nil {
		return b, err
	}
	return b, s.known(ctx, t, b)
}

// known refuses a machine that is not its row's.
func (s *Site) known(ctx context.Context, t Target, b *bound) error {
	p, err := b.Probe(ctx)
	if err != nil {
		return err
	}
	return s.means(t, b, p)
}

func (s *Site) pinned(ctx context.Context, t Target, b *bound) (*bound, error) {
	if err := s.pin(ctx, t, b.Machine); err != nil {
		return nil, err
	}
	st, _, err := s.Door.Read(ctx, control.Target{Node: t.Node})
	if err != nil {
		return nil, err
	}
	return s.reach(Target{t.Node, st.Node.Metal})
}
