package machine

import (
	"container/list"
	"context"
	"sync"
)

// Idle bounds the sessions that stay open: beyond Keep, the one that was used
// least lately is closed. A session in use is never closed, so that there may be
// more. It is safe for concurrent use; share one, and Wait for it at the end.
type Idle struct {
	// Keep is how many stay open; default 1,000: an idle TLS connection holds 57 KiB.
	Keep int

	mu      sync.Mutex
	order   list.List // of *Machine, lately used first
	where   map[*Machine]*list.Element
	closing sync.WaitGroup
}

func (i *Idle) keep() int {
	if i.Keep > 0 {
		return i.Keep
	}
	return 1000
}

// opened counts a session that is in use.
func (i *Idle) opened(m *Machine) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.touch(m)
}

func (i *Idle) touch(m *Machine) {
	if e := i.where[m]; e != nil {
		i.order.MoveToFront(e)
		return
	}
	if i.where == nil {
		i.where = map[*Machine]*list.Element{}
	}
	i.where[m] = i.order.PushFront(m)
}

// used says that m's session is idle from now on, and closes the oldest idle one
// where there are too many.
func (i *Idle) used(m *Machine) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.touch(m)
	for e := i.order.Back(); e != nil && i.order.Len() > i.keep(); {
		victim, before := e.Value.(*Machine), e.Prev()
		if victim.unused() {
			i.order.Remove(e)
			delete(i.where, victim)
			i.closing.Go(func() { victim.dropIdle(context.Background()) })
		}
		e = before
	}
}

func (i *Idle) forget(m *Machine) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if e := i.where[m]; e != nil {
		i.order.Remove(e)
		delete(i.where, m)
	}
}

// Open is how many sessions are open.
func (i *Idle) Open() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.order.Len()
}

// Wait returns when the sessions that are being closed are.
func (i *Idle) Wait() { i.closing.Wait() }

// unused reports whether nobody sits in the session.
func (m *Machine) unused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held == nil || m.held.users == 0
}
