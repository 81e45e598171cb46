package simnet

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A port is where packets arrive: one number on one segment.
type port struct {
	segment string
	number  uint16
}

// A PacketConn sends and receives datagrams on one segment. It is a
// net.PacketConn.
type PacketConn struct {
	link
	host    *Host
	port    port
	bound   netip.Addr // unspecified: whatever address the host has there
	rd      deadline
	arrived sync.Cond
	in      []packet
	out     []packet
	marked  bool
	sent    uint64
	paths   map[*PacketConn]*path
	closed  bool
}

// A packet is one datagram; peer is where it goes to, and then where it came
// from.
type packet struct {
	peer netip.AddrPort
	data []byte
}

// A path leads from one PacketConn to another.
type path struct {
	link
	floor time.Duration
}

const (
	maxPacket = 65507 // bytes, as UDP over IPv4
	maxQueue  = 256   // packets that wait to be read; further ones are lost
)

// Join gives the host an address on a segment, or takes it away if ip is the
// zero Addr. Without one it sends from 0.0.0.0 and hears broadcasts only.
func (h *Host) Join(segment string, ip netip.Addr) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	h.addrs[segment] = ip
}

// ListenPacket opens a UDP port on a segment, which is a broadcast domain by
// name. With an unspecified address it receives what is sent to the host's
// address there, and broadcasts; port 0 takes a free one.
func (h *Host) ListenPacket(segment string, at netip.AddrPort) (*PacketConn, error) {
	n := h.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if h.dead {
		return nil, &net.OpError{Op: "listen", Net: "udp", Err: net.ErrClosed}
	}
	number := at.Port()
	if number == 0 {
		number = uint16(h.site.nextPort())
	}
	id := fmt.Sprintf("%s/%s:%d", h.site.name, segment, number)
	n.dials[id]++
	p := &PacketConn{link: newLink(fmt.Sprintf("%s#%d", id, n.dials[id])), host: h, port: port{segment, number}, bound: at.Addr(), paths: map[*PacketConn]*path{}}
	p.rd.link = newLink(p.name + " read")
	p.arrived.L = &n.mu
	for _, other := range n.air[p.port] {
		if other.host == h && other.bound == p.bound {
			return nil, &net.OpError{Op: "listen", Net: "udp", Addr: p.addr(), Err: syscall.EADDRINUSE}
		}
	}
	h.packets[p] = true
	n.air[p.port] = append(n.air[p.port], p)
	return p, nil
}

// source is the address that p sends from.
func (p *PacketConn) source() netip.AddrPort {
	ip := p.bound
	if a := p.host.addrs[p.port.segment]; !ip.IsValid() || ip.IsUnspecified() {
		ip = a
	}
	if !ip.IsValid() {
		ip = netip.IPv4Unspecified()
	}
	return netip.AddrPortFrom(ip, p.port.number)
}

func (p *PacketConn) addr() *net.UDPAddr { return net.UDPAddrFromAddrPort(p.source()) }

func (p *PacketConn) fault(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: p.addr(), Err: err}
}

// LocalAddr is net.PacketConn's, a *net.UDPAddr.
func (p *PacketConn) LocalAddr() net.Addr {
	p.host.net.mu.Lock()
	defer p.host.net.mu.Unlock()
	return p.addr()
}

// ReadFrom is net.PacketConn's. The address is a *net.UDPAddr.
func (p *PacketConn) ReadFrom(b []byte) (int, net.Addr, error) {
	k, from, err := p.ReadFromUDPAddrPort(b)
	if err != nil {
		return k, nil, err
	}
	return k, net.UDPAddrFromAddrPort(from), nil
}

// ReadFromUDPAddrPort is net.UDPConn's. What b has no room for is lost.
func (p *PacketConn) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	n := p.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		switch {
		case p.closed:
			return 0, netip.AddrPort{}, p.fault("read", net.ErrClosed)
		case p.rd.passed:
			return 0, netip.AddrPort{}, p.fault("read", os.ErrDeadlineExceeded)
		case len(p.in) > 0:
			first := p.in[0]
			p.in = p.in[1:]
			return copy(b, first.data), first.peer, nil
		}
		p.arrived.Wait()
	}
}

// WriteTo is net.PacketConn's. To 255.255.255.255 is to everybody on the
// segment.
func (p *PacketConn) WriteTo(b []byte, to net.Addr) (int, error) {
	ap, err := netip.ParseAddrPort(to.String())
	if err != nil {
		return 0, p.fault("write", &net.AddrError{Err: "simnet: want an address and a port", Addr: to.String()})
	}
	return p.WriteToUDPAddrPort(b, ap)
}

// WriteToUDPAddrPort is net.UDPConn's. It never blocks.
func (p *PacketConn) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	n := p.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case p.closed:
		return 0, p.fault("write", net.ErrClosed)
	case len(b) > maxPacket:
		return 0, p.fault("write", os.NewSyscallError("sendto", syscall.EMSGSIZE))
	}
	p.out = append(p.out, packet{netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), bytes.Clone(b)})
	if !p.marked {
		p.marked = true
		n.mark(p)
	}
	return len(b), nil
}

// Close is net.PacketConn's.
func (p *PacketConn) Close() error {
	p.host.net.mu.Lock()
	defer p.host.net.mu.Unlock()
	if p.closed {
		return p.fault("close", net.ErrClosed)
	}
	p.leave()
	p.arrived.Broadcast()
	return nil
}

func (p *PacketConn) leave() {
	n := p.host.net
	p.closed = true
	p.in = nil
	p.rd.clear(n)
	delete(p.host.packets, p)
	n.air[p.port] = slices.DeleteFunc(n.air[p.port], func(o *PacketConn) bool { return o == p })
}

// SetDeadline is net.PacketConn's.
func (p *PacketConn) SetDeadline(t time.Time) error { return p.SetReadDeadline(t) }

// SetReadDeadline is net.PacketConn's.
func (p *PacketConn) SetReadDeadline(t time.Time) error {
	n := p.host.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.closed {
		return p.fault("set", net.ErrClosed)
	}
	p.rd.set(n, t, p.arrived.Broadcast)
	return nil
}

// SetWriteDeadline is net.PacketConn's. Nothing blocks a write.
func (p *PacketConn) SetWriteDeadline(time.Time) error { return nil }
