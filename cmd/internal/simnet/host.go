package simnet

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
)

// A site is a place on the net that keeps its name and address while what runs
// there comes and goes.
type site struct {
	link
	addr    netip.Addr
	host    *Host // what runs there now
	port    int   // the last port given out
	clogged int
	dark    bool // without power
}

// A Host is what runs at one place on the net, until it is killed. Then nothing
// that its goroutines do reaches the net any more: a restarted host is another
// Host.
type Host struct {
	net       *Net
	site      *site
	dead      bool
	listeners map[int]*Listener
	conns     map[*Conn]bool
	packets   map[*PacketConn]bool
	addrs     map[string]netip.Addr // by segment
}

// Host returns what runs at the place of this name now, a new one if there is
// none. Its address, in 10.0.0.0/8, depends on the name.
func (n *Net) Host(name string) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hostAt(n.site(name))
}

func (n *Net) hostAt(s *site) *Host {
	if s.host == nil || s.host.dead {
		s.host = &Host{net: n, site: s, dead: n.closed || s.dark, listeners: map[int]*Listener{}, conns: map[*Conn]bool{}, packets: map[*PacketConn]bool{}, addrs: map[string]netip.Addr{}}
		n.hosts = append(n.hosts, s.host)
	}
	return s.host
}

func (n *Net) site(name string) *site {
	if s := n.sites[name]; s != nil {
		return s
	}
	s := &site{link: newLink(name), port: 32767}
	for i := s.hash; !s.addr.IsValid() || n.byAddr[s.addr] != nil; i++ {
		b := binary.BigEndian.AppendUint32(nil, uint32(10<<24|1+i%(1<<24-2)))
		s.addr = netip.AddrFrom4([4]byte(b))
	}
	n.sites[name], n.byAddr[s.addr] = s, s
	return s
}

// find returns the place that a name or an address means, or nil.
func (n *Net) find(host string) *site {
	if s := n.sites[host]; s != nil {
		return s
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	return n.byAddr[a]
}

// nextPort gives out the ports from 32768 on, again and again.
func (s *site) nextPort() int {
	if s.port++; s.port > 60999 {
		s.port = 32768
	}
	return s.port
}

// Name is the name the host was made by.
func (h *Host) Name() string { return h.site.name }

// Addr is the host's address.
func (h *Host) Addr() netip.Addr { return h.site.addr }

func (h *Host) tcp(port int) *net.TCPAddr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(h.site.addr, uint16(port)))
}

// Listen is net.Listen on a host that is made if need be: address is its name
// and a port.
func (n *Net) Listen(network, address string) (net.Listener, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Err: err}
	}
	return n.Host(name).Listen(network, ":"+port)
}

// Listen is net.Listen. The host of the address is not looked at; port 0 takes a
// free one.
func (h *Host) Listen(network, address string) (net.Listener, error) {
	fail := func(err error) (net.Listener, error) { return nil, &net.OpError{Op: "listen", Net: network, Err: err} }
	port, err := parsePort(network, "tcp", address)
	if err != nil {
		return fail(err)
	}
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	for port == 0 || port >= 32768 && h.listeners[port] != nil {
		port = h.site.nextPort()
	}
	switch {
	case h.dead:
		return fail(net.ErrClosed)
	case h.listeners[port] != nil:
		return fail(syscall.EADDRINUSE)
	}
	l := &Listener{link: newLink(fmt.Sprintf("%s:%d", h.site.name, port)), host: h, port: port}
	l.arrived.L = &h.net.mu
	h.listeners[port] = l
	return l, nil
}

func parsePort(network, want, address string) (int, error) {
	if network != want && network != want+"4" {
		return 0, net.UnknownNetworkError(network)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0, &net.AddrError{Err: "simnet: want a port number", Addr: address}
	}
	return int(p), nil
}

// A Listener accepts the connections that reach one port of a host.
type Listener struct {
	link
	host    *Host
	port    int
	arrived sync.Cond
	backlog []*Conn
	closed  bool
}

// maxBacklog is how many connections wait to be accepted; further ones are
// refused.
const maxBacklog = 4096

// Accept is net.Listener's.
func (l *Listener) Accept() (net.Conn, error) {
	n := l.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(l.backlog) == 0 && !l.closed {
		l.arrived.Wait()
	}
	if l.closed {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Source: l.host.tcp(l.port), Err: net.ErrClosed}
	}
	c := l.backlog[0]
	l.backlog = l.backlog[1:]
	return c, nil
}

// Close is net.Listener's. Connections that nobody accepted are reset.
func (l *Listener) Close() error {
	n := l.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if l.closed {
		return &net.OpError{Op: "close", Net: "tcp", Source: l.host.tcp(l.port), Err: net.ErrClosed}
	}
	l.close()
	l.arrived.Broadcast()
	return nil
}

func (l *Listener) close() {
	l.closed = true
	if l.host.listeners[l.port] == l {
		delete(l.host.listeners, l.port)
	}
	for _, c := range l.backlog {
		c.abort()
	}
	l.backlog = nil
}

// Addr is net.Listener's.
func (l *Listener) Addr() net.Addr { return l.host.tcp(l.port) }

// DialContext dials from a host called "outside".
func (n *Net) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return n.Host("outside").DialContext(ctx, network, address)
}

// DialContext is net.Dialer's, for TCP. The address names a host, or is its
// address. The connection is there after one round trip.
func (h *Host) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return h.dial(ctx, "", network, address)
}

// Dialer returns a DialContext whose connections bear a label, so that several
// clients of one host may dial one address at the same instant.
func (h *Host) Dialer(label string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return h.dial(ctx, "/"+label, network, address)
	}
}

// DialFrom dials from an address that the host has beside its own, as one that it was
// leased.
func (h *Host) DialFrom(ctx context.Context, from netip.Addr, network, address string) (net.Conn, error) {
	return h.dialFrom(ctx, from, "/"+from.String(), network, address)
}

func (h *Host) dial(ctx context.Context, label, network, address string) (net.Conn, error) {
	return h.dialFrom(ctx, h.site.addr, label, network, address)
}

func (h *Host) dialFrom(ctx context.Context, from netip.Addr, label, network, address string) (net.Conn, error) {
	c, err := h.begin(ctx, from, label, network, address)
	if err == nil {
		err = c.await(ctx)
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: dialled(address), Err: err}
	}
	return c, nil
}

// dialled is an address as the caller wrote it.
type dialled string

func (dialled) Network() string  { return "tcp" }
func (d dialled) String() string { return string(d) }

// begin sends the first packet of a connection.
func (h *Host) begin(ctx context.Context, from netip.Addr, label, network, address string) (*Conn, error) {
	port, err := parsePort(network, "tcp", address)
	if err != nil {
		return nil, err
	}
	name, _, _ := net.SplitHostPort(address)
	n := h.net
	n.mu.Lock()
	defer n.mu.Unlock()
	to := n.find(name)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case h.dead || n.closed:
		return nil, net.ErrClosed
	case to == nil:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	id := fmt.Sprintf("%s%s>%s:%d", h.site.name, label, to.name, port)
	n.dials[id]++
	c := newConn(n, fmt.Sprintf("%s#%d", id, n.dials[id]), h, from, to, port)
	h.conns[c] = true
	c.dialing = true
	c.overdue = n.push(&c.wd.link, n.now()+n.connectTimeout, func() { c.fail(syscall.ETIMEDOUT, Timeout) })
	c.out.hello = true
	c.out.mark()
	return c, nil
}

// await waits until a dialed connection is there.
func (c *Conn) await(ctx context.Context) error {
	n := c.n
	defer context.AfterFunc(ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		c.write.Broadcast()
	})()
	n.mu.Lock()
	defer n.mu.Unlock()
	for c.dialing && ctx.Err() == nil && !c.closed && c.err == nil {
		c.write.Wait()
	}
	n.drop(c.overdue)
	switch {
	case c.err != nil:
		c.leave()
		return c.err
	case c.closed:
		return net.ErrClosed
	case c.dialing:
		c.abort()
		return ctx.Err()
	}
	return nil
}

// die ends all that a host has. end is called for each, to wake who waits on it;
// the order of the calls is any. A silent death sends nothing.
func (h *Host) die(silent bool, end func(*link, func())) {
	h.dead = true
	for _, l := range h.listeners {
		l.close()
		end(&l.link, l.arrived.Broadcast)
	}
	for c := range h.conns {
		c.out.mute = silent
		c.hangUp()
		end(&c.out.link, c.wakeAll)
	}
	for p := range h.packets {
		p.leave()
		end(&p.link, p.arrived.Broadcast)
	}
}
