package tftp

import (
	"net"
	"net/netip"
)

// A LocalReader is a net.PacketConn that knows to which of its addresses a
// packet came. [Server.Serve] asks it when it is given one; a *net.UDPConn
// needs none on Linux.
type LocalReader interface {
	// ReadFromLocal is ReadFrom that also says where the packet was sent to.
	// The address may be a group's, or invalid if it is unknown.
	ReadFromLocal(b []byte) (n int, from net.Addr, local netip.Addr, err error)
}

// A door is where requests come in.
type door struct {
	read func(b []byte) (n int, from netip.AddrPort, local netip.Addr, err error)
}

// newDoor finds out how to learn the address that was asked: the socket says
// it itself, or the kernel does (IP_PKTINFO), or the socket is bound to one.
func newDoor(c net.PacketConn) door {
	if r, ok := c.(LocalReader); ok {
		return door{func(b []byte) (int, netip.AddrPort, netip.Addr, error) {
			n, from, local, err := r.ReadFromLocal(b)
			return n, addrPort(from), local.Unmap(), err
		}}
	}
	bound := addrPort(c.LocalAddr()).Addr()
	if !bound.IsUnspecified() {
		w := newWire(c)
		return door{func(b []byte) (int, netip.AddrPort, netip.Addr, error) {
			n, from, err := w.read(b)
			return n, from, bound, err
		}}
	}
	if udp, ok := c.(*net.UDPConn); ok && askLocal(udp) == nil {
		return pktinfoDoor(udp)
	}
	w := newWire(c)
	return door{func(b []byte) (int, netip.AddrPort, netip.Addr, error) {
		n, from, err := w.read(b)
		return n, from, netip.Addr{}, err
	}}
}
