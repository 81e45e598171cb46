package tftp

import (
	"bytes"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"
)

// A testNet carries packets between its sockets at once and without loss. It
// lives in a bubble: its deadlines run by the bubble's clock.
type testNet struct {
	mu      sync.Mutex
	sockets map[netip.AddrPort]*socket
	next    uint16
	opened  int
}

type datagram struct {
	from, to netip.AddrPort
	b        []byte
}

type socket struct {
	net    *testNet
	addr   netip.AddrPort
	in     chan datagram
	closed chan struct{}

	mu       sync.Mutex
	deadline time.Time
	changed  chan struct{}
}

func newNet() *testNet {
	return &testNet{sockets: map[netip.AddrPort]*socket{}, next: 40000}
}

func (n *testNet) listen(local netip.AddrPort) (net.PacketConn, error) {
	return n.socket(local), nil
}

func (n *testNet) socket(local netip.AddrPort) *socket {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.opened++
	if local.Port() == 0 {
		n.next++
		local = netip.AddrPortFrom(local.Addr(), n.next)
	}
	s := &socket{net: n, addr: local, in: make(chan datagram, 4096), closed: make(chan struct{}), changed: make(chan struct{})}
	n.sockets[local] = s
	return s
}

func (s *socket) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, _, err := s.ReadFromLocal(b)
	return n, from, err
}

// ReadFromLocal makes every socket a LocalReader: what is sent to a port of
// any address reaches the socket of that port.
func (s *socket) ReadFromLocal(b []byte) (int, net.Addr, netip.Addr, error) {
	for {
		s.mu.Lock()
		deadline, changed := s.deadline, s.changed
		s.mu.Unlock()
		var late <-chan time.Time
		if !deadline.IsZero() {
			if !time.Now().Before(deadline) {
				return 0, nil, netip.Addr{}, os.ErrDeadlineExceeded
			}
			late = time.After(time.Until(deadline))
		}
		select {
		case d := <-s.in:
			return copy(b, d.b), net.UDPAddrFromAddrPort(d.from), d.to.Addr(), nil
		case <-s.closed:
			return 0, nil, netip.Addr{}, net.ErrClosed
		case <-late:
		case <-changed:
		}
	}
}

func (s *socket) WriteTo(b []byte, to net.Addr) (int, error) {
	s.send(b, to.(*net.UDPAddr).AddrPort())
	return len(b), nil
}

func (s *socket) send(b []byte, to netip.AddrPort) {
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	d := datagram{s.addr, to, bytes.Clone(b)}
	for addr, other := range s.net.sockets {
		if addr == to || addr.Port() == to.Port() && addr.Addr().IsUnspecified() {
			other.in <- d
		}
	}
}

func (s *socket) Close() error {
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	if s.net.sockets[s.addr] == s {
		delete(s.net.sockets, s.addr)
		close(s.closed)
	}
	return nil
}

func (s *socket) LocalAddr() net.Addr              { return net.UDPAddrFromAddrPort(s.addr) }
func (s *socket) SetWriteDeadline(time.Time) error { return nil }
func (s *socket) SetDeadline(t time.Time) error    { return s.SetReadDeadline(t) }
func (s *socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// expect returns the next packet, which must come within a minute.
func (s *socket) expect(t *testing.T) datagram {
	t.Helper()
	select {
	case d := <-s.in:
		return d
	case <-time.After(time.Minute):
		t.Fatal("no packet came")
		return datagram{}
	}
}

// quiet fails if a packet comes within so much time.
func (s *socket) quiet(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case got := <-s.in:
		t.Fatalf("%s sent %q", got.from, got.b)
	case <-time.After(d):
	}
}
