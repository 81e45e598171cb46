package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// A tally knows how many handlers run and can be waited on while others begin,
// which a sync.WaitGroup cannot.
type tally struct {
	mu     sync.Mutex
	n      int
	closed bool
	empty  chan struct{} // made by who waits, closed when n is 0
}

// enter counts a handler until leave is called. It fails once the tally is closed.
func (t *tally) enter() (leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	t.n++
	return t.leave, true
}

func (t *tally) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	if t.n == 0 && t.empty != nil {
		close(t.empty)
		t.empty = nil
	}
}

// follow counts the goroutines of connections. One that a handler has taken over
// is the handler's.
func (t *tally) follow(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		_, _ = t.enter() // nobody closes this tally
	case http.StateClosed, http.StateHijacked:
		t.leave()
	}
}

// close lets nobody in any more.
func (t *tally) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// count is how many run now.
func (t *tally) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

// wait returns when nobody is in, or how many are when ctx ends.
func (t *tally) wait(ctx context.Context) int {
	for {
		t.mu.Lock()
		if t.n == 0 {
			t.mu.Unlock()
			return 0
		}
		if t.empty == nil {
			t.empty = make(chan struct{})
		}
		empty := t.empty
		t.mu.Unlock()
		select {
		case <-empty:
		case <-ctx.Done():
			return t.count()
		}
	}
}
