package serve

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// A conn is an open connection that the gate has counted.
type conn struct {
	net.Conn
	gate   *gate
	unix   bool
	addr   netip.Addr   // of the peer; invalid on a Unix socket
	source netip.Prefix // what it counts as; invalid when it is not counted
	peer   Peer
	known  bool // peer is set
	resets limiter
	until  atomic.Pointer[time.Time] // the write deadline that was asked for
}

// Close closes the connection and leaves the gate.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.gate.leave(c)
	return err
}

// Write gives a peer that reads nothing Limits.Stall for each write, or less where
// less was asked for.
func (c *conn) Write(p []byte) (int, error) {
	by := time.Now().Add(c.gate.limits.Stall)
	if asked := c.until.Load(); asked != nil && !asked.IsZero() && asked.Before(by) {
		by = *asked
	}
	if err := c.Conn.SetWriteDeadline(by); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// SetWriteDeadline also holds for the writes that follow.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.until.Store(&t)
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline also holds for the writes that follow.
func (c *conn) SetDeadline(t time.Time) error {
	c.until.Store(&t)
	return c.Conn.SetDeadline(t)
}

// gated accepts through the gate.
type gated struct {
	Listener
	server *Server
}

func (s *Server) gated(l Listener) net.Listener { return gated{l, s} }

// Accept returns the next connection that there is room for. Others are closed at
// once: there is nothing to tell them that would not cost more.
func (l gated) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := l.server.gate.enter(raw)
		if c == nil {
			_ = raw.Close() // refused either way
			continue
		}
		if c.unix && l.server.Credentials != nil {
			c.peer.UID, c.peer.PID, c.known = l.server.Credentials(raw)
		}
		if l.TLS != nil {
			return tls.Server(c, l.TLS), nil
		}
		return c, nil
	}
}

type connKey struct{}

// withConn lets requests find their connection.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	if t, ok := nc.(*tls.Conn); ok {
		nc = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, nc)
}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
