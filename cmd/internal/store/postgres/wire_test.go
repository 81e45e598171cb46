package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// wire stands between a store and its server, and can cut connections.
type wire struct {
	mu    sync.Mutex
	conns map[*cable]bool
	fault *fault
}

// fault is what happens to the nth message of some kind.
type fault struct {
	after   int
	commit  bool // of COMMIT; else of a batch of prepared statements
	forward bool // the server gets it and answers, but the answer is lost
}

var (
	errCut = errors.New("the wire is cut")
	query  = append([]byte{'Q', 0, 0, 0, 11}, "commit\x00"...)
)

// dial is postgres.Options.Dial.
func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &cable{Conn: conn, w: w}
	if w.conns == nil {
		w.conns = map[*cable]bool{}
	}
	w.conns[c] = true
	return c, nil
}

// arm replaces the fault that is to come.
func (w *wire) arm(f *fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
}

// cut closes every connection.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.Conn.Close()
	}
	clear(w.conns)
}

// abandon breaks every connection without the server noticing, as a network does
// that swallows packets.
func (w *wire) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.dead.Store(true)
	}
}

// strikes counts a message of the client's, and returns the fault that it meets.
func (w *wire) strikes(msg []byte) *fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.fault
	if f == nil || f.commit != bytes.Equal(msg, query) || !f.commit && msg[0] != 'B' {
		return nil
	}
	if f.after--; f.after > 0 {
		return nil
	}
	w.fault = nil
	return f
}

// cable is one connection.
type cable struct {
	net.Conn
	w    *wire
	dead atomic.Bool
}

func (c *cable) Read(msg []byte) (int, error) {
	if c.dead.Load() {
		return 0, errCut
	}
	return c.Conn.Read(msg)
}

// Close leaves the server's end of an abandoned connection open until cut.
func (c *cable) Close() error {
	if c.dead.Load() {
		return nil
	}
	return c.Conn.Close()
}

func (c *cable) Write(msg []byte) (int, error) {
	if c.dead.Load() {
		return 0, errCut
	}
	f := c.w.strikes(msg)
	if f == nil {
		return c.Conn.Write(msg)
	}
	defer c.Conn.Close()
	if f.forward {
		n, err := c.Conn.Write(msg)
		if err != nil {
			return n, err
		}
		_, err = c.Conn.Read(make([]byte, 1<<10)) // the server has committed
		return n, err
	}
	return 0, errCut
}
