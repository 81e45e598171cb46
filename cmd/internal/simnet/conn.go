package simnet

import (
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Conn is one end of a stream. It behaves like a net.TCPConn.
type Conn struct {
	n             *Net
	site          *site
	host          *Host // nil until the connection reached it
	local, remote *net.TCPAddr
	peer          *Conn
	in, out       *way
	read, write   sync.Cond
	rd, wd        deadline
	dialing       bool
	overdue       *event // the dial gives up
	busy          bool   // somebody writes
	closed        bool   // by this side
	err           error  // a syscall.Errno, of the other side or of the way there
}

// newConn makes both ends of a connection, and returns the dialer's.
func newConn(n *Net, id string, from *Host, source netip.Addr, to *site, port int) *Conn {
	a := &Conn{n: n, site: from.site, host: from, local: net.TCPAddrFromAddrPort(netip.AddrPortFrom(source, 0))}
	b := &Conn{n: n, site: to, peer: a}
	a.peer = b
	b.local = (&Host{site: to}).tcp(port)
	a.remote, b.remote = b.local, a.local
	a.out = &way{n: n, link: newLink(id), from: a, to: b}
	b.out = &way{n: n, link: newLink(id + " back"), from: b, to: a}
	a.in, b.in = b.out, a.out
	for _, c := range []*Conn{a, b} {
		c.read.L, c.write.L = &n.mu, &n.mu
		c.rd.link, c.wd.link = newLink(c.out.name+" read"), newLink(c.out.name+" write")
	}
	return a
}

func (c *Conn) fault(op string, err error) error {
	if e, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(op, e)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Read is net.Conn's.
func (c *Conn) Read(p []byte) (int, error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, c.fault("read", net.ErrClosed)
		case c.rd.passed:
			return 0, c.fault("read", os.ErrDeadlineExceeded)
		case c.err != nil:
			return 0, c.fault("read", c.err)
		case len(p) == 0:
			return 0, nil
		case len(c.in.buf) > 0:
			return c.in.take(p), nil
		case c.in.ended:
			return 0, io.EOF
		}
		c.read.Wait()
	}
}

// Write is net.Conn's. It returns when the net has taken all bytes, of which it
// holds Options.Window for a reader that does not read.
func (c *Conn) Write(p []byte) (sent int, err error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	for c.busy && c.unwritable() == nil {
		c.write.Wait()
	}
	if c.busy { // and there is an error: the other writer leaves as well
		return 0, c.unwritable()
	}
	c.busy = true
	defer func() { c.busy = false; c.write.Broadcast() }()
	for {
		if err := c.unwritable(); err != nil || len(p) == 0 {
			return sent, err
		}
		k := c.out.put(p)
		sent, p = sent+k, p[k:]
		if k == 0 {
			c.write.Wait()
		}
	}
}

// unwritable is why a write fails, or nil.
func (c *Conn) unwritable() error {
	switch {
	case c.closed:
		return c.fault("write", net.ErrClosed)
	case c.wd.passed:
		return c.fault("write", os.ErrDeadlineExceeded)
	case c.err != nil:
		return c.fault("write", c.err)
	case c.out.ending:
		return c.fault("write", syscall.EPIPE)
	}
	return nil
}

// Close is net.Conn's. What was written still arrives. As on Linux, bytes that
// came and were not read turn the close into a reset.
func (c *Conn) Close() error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.closed {
		return c.fault("close", net.ErrClosed)
	}
	c.hangUp()
	c.wakeAll()
	return nil
}

// hangUp closes this end: what was taken is still sent, unless there are bytes
// that nobody read.
func (c *Conn) hangUp() {
	switch {
	case c.err != nil: // the connection is no more
	case len(c.in.buf) > 0:
		c.out.reset = true
	default:
		c.out.ending = true
	}
	c.out.mark()
	c.leave()
}

// abort closes this end and resets the other.
func (c *Conn) abort() {
	c.out.reset = c.err == nil
	c.out.mark()
	c.leave()
	c.wakeAll()
}

func (c *Conn) leave() {
	c.closed = true
	c.in.buf = nil
	if c.host != nil {
		delete(c.host.conns, c)
	}
	c.rd.clear(c.n)
	c.wd.clear(c.n)
}

// CloseWrite ends this direction, as net.TCPConn's does: the reader comes to
// io.EOF.
func (c *Conn) CloseWrite() error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.closed {
		return c.fault("close", net.ErrClosed)
	}
	c.out.ending = true
	c.out.mark()
	c.write.Broadcast()
	return nil
}

// Reset closes this end; the other loses what is under way and what it has not
// read.
func (c *Conn) Reset() {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if !c.closed {
		c.abort()
	}
}

// fail ends a connection from outside: both reads and writes return err.
func (c *Conn) fail(err syscall.Errno, k Kind) {
	if c.closed || c.err != nil {
		return
	}
	c.n.note(k, &c.out.link, nil, 0)
	c.err = err
	c.in.buf, c.out.out = nil, nil
	c.wakeAll()
}

func (c *Conn) wakeAll() {
	c.read.Broadcast()
	c.write.Broadcast()
}

// LocalAddr is net.Conn's, a *net.TCPAddr.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is net.Conn's, a *net.TCPAddr.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline is net.Conn's.
func (c *Conn) SetDeadline(t time.Time) error { return c.setDeadlines(t, &c.rd, &c.wd) }

// SetReadDeadline is net.Conn's.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadlines(t, &c.rd) }

// SetWriteDeadline is net.Conn's.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(t, &c.wd) }

func (c *Conn) setDeadlines(t time.Time, ds ...*deadline) error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.closed {
		return c.fault("set", net.ErrClosed)
	}
	for _, d := range ds {
		d.set(c.n, t, c.wakeAll)
	}
	return nil
}
