package tftp

import (
	"net"
	"net/netip"
	"time"
)

// A wire is a transfer's socket. Where it is a *net.UDPConn, reading and
// writing cost no allocation, and a window goes out in one call.
type wire struct {
	net.PacketConn
	udp    *net.UDPConn // nil for a socket of another kind
	single bool         // a window cannot go out in one call
}

func newWire(c net.PacketConn) *wire {
	udp, _ := c.(*net.UDPConn)
	return &wire{PacketConn: c, udp: udp}
}

func (w *wire) read(b []byte) (int, netip.AddrPort, error) {
	if w.udp != nil {
		n, from, err := w.udp.ReadFromUDPAddrPort(b)
		return n, plain(from), err
	}
	n, from, err := w.ReadFrom(b)
	return n, addrPort(from), err
}

func (w *wire) write(b []byte, to netip.AddrPort) error {
	if w.udp != nil {
		_, err := w.udp.WriteToUDPAddrPort(b, to)
		return err
	}
	_, err := w.WriteTo(b, net.UDPAddrFromAddrPort(to))
	return err
}

// writeAll sends packets that lie one behind the other, each of size bytes
// but for the last.
func (w *wire) writeAll(b []byte, size int, to netip.AddrPort) error {
	if !w.single && w.udp != nil && len(b) > size {
		if err := writeSegments(w.udp, b, size, to); err == nil {
			return nil
		}
		w.single = true // what was sent already is sent twice, which clients bear
	}
	for len(b) > 0 {
		n := min(size, len(b))
		if err := w.write(b[:n], to); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// wake makes a read that waits return. It may be called by any goroutine.
func wake(c net.PacketConn) { c.SetReadDeadline(time.Unix(1, 0)) }

// addrPort reads the address of a socket of any kind; the zero AddrPort is
// one that it cannot read.
func addrPort(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case nil:
		return netip.AddrPort{}
	case *net.UDPAddr:
		return plain(a.AddrPort())
	}
	ap, _ := netip.ParseAddrPort(a.String())
	return plain(ap)
}

func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
