package bmctest

import (
	"context"
	"errors"
	"net"
	"sync"
)

// A wires is a network in memory: names, and who listens there. A connection is a
// net.Pipe, so that it may run in a synctest bubble.
type wires struct {
	mu        sync.Mutex
	listeners map[string]*plug
	elsewhere int // dials to where nobody listens
}

// A plug is a listener of a network in memory.
type plug struct {
	conns chan net.Conn
	done  chan struct{}

	mu     sync.Mutex
	closed bool
	far    []net.Conn // the ends here of what was accepted
}

// Accept waits for a connection.
func (p *plug) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and what was accepted: who closes TLS after it need not wait for
// a peer that closes too.
func (p *plug) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	close(p.done)
	var errs []error
	for _, c := range p.far {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// keep notes an end to close.
func (p *plug) keep(c net.Conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return c.Close()
	}
	p.far = append(p.far, c)
	return nil
}

// Addr is no address.
func (p *plug) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

func (w *wires) listen(address string) *plug {
	p := &plug{conns: make(chan net.Conn), done: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listeners == nil {
		w.listeners = map[string]*plug{}
	}
	w.listeners[address] = p
	return p
}

func (w *wires) forget(address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.listeners, address)
}

// dial connects to who listens.
func (w *wires) dial(ctx context.Context, address string) (net.Conn, error) {
	w.mu.Lock()
	p := w.listeners[address]
	if p == nil {
		w.elsewhere++
	}
	w.mu.Unlock()
	if p == nil {
		return nil, errors.New("connection refused")
	}
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, p.keep(far)
	case <-p.done:
	case <-ctx.Done():
	}
	return nil, errors.Join(errors.New("connection refused"), near.Close(), far.Close())
}

// strays is how many dials went to where nobody listens.
func (w *wires) strays() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.elsewhere
}
