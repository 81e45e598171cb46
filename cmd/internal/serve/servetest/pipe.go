// Package servetest is a network in memory for tests of servers, also within a
// testing/synctest bubble: connections that buffer, as TLS needs, and have
// deadlines, and a listener to dial. Waiting on them is durable in a bubble.
package servetest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// window is how many bytes may be on their way in one direction.
const window = 256 << 10

// A stream is one direction of a connection.
type stream struct {
	mu      sync.Mutex
	moved   *sync.Cond
	buf     []byte
	eof     bool // the writer is gone
	dead    bool // the reader is gone
	readBy  deadline
	writeBy deadline
}

// A deadline wakes who waits when it passes.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func newStream() *stream {
	s := &stream{}
	s.moved = sync.NewCond(&s.mu)
	return s
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (s *stream) set(d *deadline, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = at
	if !at.IsZero() {
		d.timer = time.AfterFunc(time.Until(at), s.wake)
	}
	s.moved.Broadcast()
}

func (s *stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved.Broadcast()
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.dead:
			return 0, net.ErrClosed
		case s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case len(s.buf) > 0:
			n := copy(p, s.buf)
			s.buf = s.buf[n:]
			s.moved.Broadcast()
			return n, nil
		case s.eof:
			return 0, io.EOF
		}
		s.moved.Wait()
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(p) > 0 {
		switch {
		case s.eof:
			return n, net.ErrClosed
		case s.dead:
			return n, io.ErrClosedPipe
		case s.writeBy.passed():
			return n, os.ErrDeadlineExceeded
		case len(s.buf) < window:
			k := min(len(p), window-len(s.buf))
			s.buf = append(s.buf, p[:k]...)
			n, p = n+k, p[k:]
			s.moved.Broadcast()
			continue
		}
		s.moved.Wait()
	}
	return n, nil
}

// end is the close of one side.
func (s *stream) end(side *bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*side = true
	s.moved.Broadcast()
}

// A conn is one end.
type conn struct {
	in, out       *stream
	local, remote net.Addr
}

// Pipe returns the two ends of a connection between two addresses.
func Pipe(a, b net.Addr) (net.Conn, net.Conn) {
	ab, ba := newStream(), newStream()
	return &conn{ba, ab, a, b}, &conn{ab, ba, b, a}
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }
func (c *conn) LocalAddr() net.Addr         { return c.local }
func (c *conn) RemoteAddr() net.Addr        { return c.remote }

// Close ends both directions; what was written may still be read.
func (c *conn) Close() error {
	_ = c.SetDeadline(time.Time{}) // it cannot fail
	c.in.end(&c.in.dead)
	c.out.end(&c.out.eof)
	return nil
}

// CloseWrite ends one direction, as TCP can.
func (c *conn) CloseWrite() error {
	c.out.end(&c.out.eof)
	return nil
}

func (c *conn) SetDeadline(t time.Time) error {
	c.in.set(&c.in.readBy, t)
	c.out.set(&c.out.writeBy, t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.set(&c.in.readBy, t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.set(&c.out.writeBy, t)
	return nil
}
