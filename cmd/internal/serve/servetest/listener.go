package servetest

import (
	"context"
	"net"
	"net/netip"
	"sync"
)

// A Listener accepts what Dial connects.
type Listener struct {
	addr    net.Addr
	arrived chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// Listen returns a listener of TCP at addr, as in 192.0.2.1:8443.
func Listen(addr string) *Listener { return newListener(tcp(addr)) }

// ListenUnix returns a listener of a Unix socket at path. There is no file.
func ListenUnix(path string) *Listener {
	return newListener(&net.UnixAddr{Name: path, Net: "unix"})
}

func newListener(addr net.Addr) *Listener {
	return &Listener{addr: addr, arrived: make(chan net.Conn), closed: make(chan struct{})}
}

func tcp(addr string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr)) }

// Dial connects from the address from, as in 198.51.100.7:1234; for a Unix socket
// it is not looked at. It waits until the connection is accepted.
func (l *Listener) Dial(ctx context.Context, from string) (net.Conn, error) {
	var source net.Addr = &net.UnixAddr{Net: "unix"}
	if l.addr.Network() == "tcp" {
		source = tcp(from)
	}
	client, server := Pipe(source, l.addr)
	select {
	case l.arrived <- server:
		return client, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: l.addr.Network(), Addr: l.addr, Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.arrived:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses whatever comes after it.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is where it listens.
func (l *Listener) Addr() net.Addr { return l.addr }
