package serve

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// A gate counts the open connections and refuses one too many.
type gate struct {
	limits Limits
	exempt func(netip.Addr) bool // from the count by source

	mu      sync.Mutex
	open    map[*conn]struct{}
	unix    int
	closed  bool
	sources map[netip.Prefix]int

	full, crowded counter // refused: no room at all, no room for the source
}

type counter = atomic.Uint64

// enter lets a connection in and counts it, or returns nil.
func (g *gate) enter(c net.Conn) *conn {
	in := &conn{Conn: c, gate: g, addr: address(c.RemoteAddr()), resets: limiter{}}
	in.unix = c.LocalAddr().Network() == "unix"
	if in.addr.IsValid() && !g.exempt(in.addr) {
		in.source = sourceOf(in.addr)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil
	case in.unix && g.unix >= unixConnections, !in.unix && len(g.open)-g.unix >= g.limits.Connections:
		g.full.Add(1)
		return nil
	case in.source.IsValid() && g.sources[in.source] >= g.limits.PerSource:
		g.crowded.Add(1)
		return nil
	}
	g.add(in)
	return in
}

func (g *gate) add(c *conn) {
	if g.open == nil {
		g.open, g.sources = map[*conn]struct{}{}, map[netip.Prefix]int{}
	}
	g.open[c] = struct{}{}
	if c.unix {
		g.unix++
	}
	if c.source.IsValid() {
		g.sources[c.source]++
	}
}

// leave forgets a connection that is closed.
func (g *gate) leave(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, in := g.open[c]; !in {
		return
	}
	delete(g.open, c)
	if c.unix {
		g.unix--
	}
	if !c.source.IsValid() {
		return
	}
	if g.sources[c.source]--; g.sources[c.source] == 0 {
		delete(g.sources, c.source)
	}
}

// count is how many are open.
func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open)
}

// cut closes every open connection, those that a handler has taken over too, and
// lets none in any more.
func (g *gate) cut() {
	g.mu.Lock()
	g.closed = true
	all := make([]*conn, 0, len(g.open))
	for c := range g.open {
		all = append(all, c)
	}
	g.mu.Unlock()
	for _, c := range all {
		_ = c.Close() // it is cut either way
	}
}

// address is the IP address of a peer, without its zone; invalid on a Unix socket.
func address(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// sourceOf is what counts as one source: who has one IPv6 address has 2^64.
func sourceOf(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // a is valid and has no zone
	return p
}
