package booting

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/identity/bundle"
	"github.com/ingotmetal/ingot/liveness/session"
)

// A Host runs the sessions of agents; see [sessions.Handler].
type Host struct {
	Setups  *Setups
	Entropy io.Reader
}

// Serve runs one session until it ends, and waits for what it began.
func (h *Host) Serve(ctx context.Context, c *sessions.Conn) {
	ctx, stop := context.WithCancel(ctx)
	g := &guest{host: h, conn: c, ctx: ctx, ready: make(chan struct{}), reported: map[uint64]bool{}}
	defer g.leave()
	defer stop()
	for e := range c.Events() {
		if err := g.hear(e); err != nil {
			code := "INVALID_INPUT"
			if p, ok := errors.AsType[interface {
				error
				Code() string
			}](err); ok {
				code = p.Code()
			}
			c.Machine().Bye(code, err.Error())
			return
		}
	}
}

// A guest is an agent in its session.
type guest struct {
	host  *Host
	conn  *sessions.Conn
	ctx   context.Context
	hello session.Hello
	work  sync.WaitGroup

	ready   chan struct{} // closed once it joined
	machine *Machine      // from then on

	mu        sync.Mutex
	announces bool            // one is on its way
	reported  map[uint64]bool // epochs whose outcome is on its way
}

// hear takes an event. It must not wait: what waits is begun here, and comes back by
// Do.
func (g *guest) hear(e session.Event) error {
	switch e := e.(type) {
	case session.Hello:
		return g.challenge(e)
	case session.Proven:
		g.conn.Machine().Welcome(Beat, g.conn.Now())
		g.begin(g.join)
	case session.Announce:
		if g.first(&g.announces) {
			g.begin(func() { g.announce(e) })
		}
	case session.Progress:
		if m := g.joined(); m != nil {
			m.Progress(e)
		}
	case session.Sentinel:
		g.outcome(e.Epoch, func(m *Machine) (string, error) { return m.Complete(g.ctx, e.Epoch) })
	case session.Failed:
		g.outcome(e.Epoch, func(m *Machine) (string, error) { return m.Fail(g.ctx, e.Epoch, e.Why) })
	}
	return nil
}

func (g *guest) challenge(h session.Hello) error {
	key, err := bundle.ParsePublicKey(h.Key)
	if err != nil {
		return err
	}
	var nonce [sessions.NonceSize]byte
	if _, err := io.ReadFull(g.host.Entropy, nonce[:]); err != nil {
		return err
	}
	sealed, err := sessions.SealNonce(key, h.Server, nonce[:])
	if err != nil {
		return err
	}
	g.hello = h
	g.conn.Machine().Challenge(sealed, nonce[:])
	return nil
}

// begin runs what waits.
func (g *guest) begin(fn func()) { g.work.Go(fn) }

// first sets a flag, and reports whether it was not set.
func (g *guest) first(flag *bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := *flag
	*flag = true
	return !was
}

func (g *guest) join() {
	m, err := g.host.Setups.Join(g.conn, serve.SourceFrom(g.ctx), g.hello)
	if err != nil {
		g.bye(err)
		return
	}
	g.machine = m
	close(g.ready)
}

// joined is the machine, nil before it joined.
func (g *guest) joined() *Machine {
	select {
	case <-g.ready:
		return g.machine
	default:
		return nil
	}
}

// joining waits until the agent joined: the frame after the welcome may be faster.
func (g *guest) joining() *Machine {
	select {
	case <-g.ready:
		return g.machine
	case <-g.ctx.Done():
		return nil
	}
}

func (g *guest) announce(a session.Announce) {
	m := g.joining()
	if m == nil {
		return
	}
	state, err := m.Announce(g.ctx, a.Sysinfo)
	g.mu.Lock()
	g.announces = false
	g.mu.Unlock()
	if err != nil {
		g.bye(err)
		return
	}
	g.conn.Do(func(e *session.Server) { e.Announced(state) })
}

// outcome reports how a setup ended, once for an epoch however often the agent says so
// meanwhile.
func (g *guest) outcome(epoch uint64, report func(*Machine) (string, error)) {
	g.mu.Lock()
	was := g.reported[epoch]
	g.reported[epoch] = true
	g.mu.Unlock()
	if was {
		return
	}
	g.begin(func() {
		m := g.joining()
		if m == nil {
			return
		}
		state, err := report(m)
		g.mu.Lock()
		delete(g.reported, epoch)
		g.mu.Unlock()
		if err != nil {
			g.bye(err)
			return
		}
		g.conn.Do(func(e *session.Server) { e.Done(epoch, state) })
	})
}

// bye ends the session with what the control plane said.
func (g *guest) bye(err error) {
	if g.ctx.Err() != nil {
		return
	}
	code, why := "UNAVAILABLE", "the control plane cannot be asked; connect again"
	if p, ok := errors.AsType[*api.Problem](err); ok {
		code, why = p.Name, strings.TrimSpace(p.Detail+" "+p.Next)
	}
	g.conn.Do(func(e *session.Server) { e.Bye(code, why) })
}

// leave lets go of the machine, and waits for what was begun.
func (g *guest) leave() {
	g.work.Wait()
	if m := g.joined(); m != nil {
		m.Leave()
	}
}
