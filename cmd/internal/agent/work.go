package agent

import (
	"context"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/liveness/session"
)

// A phase is how far the setup in hand is.
type phase int

const (
	idle    phase = iota
	writing       // the install runs
	written       // written and kept: the sentinel is due until it is answered
	given         // given up: the failure is due until it is answered
)

// A status is the setup in hand.
type status struct {
	phase    phase
	epoch    uint64
	why      string // of given
	progress session.Progress
}

// work is the setup in hand, and the one that waits for its end. One goroutine runs
// installs, one after the other; sessions come and go beside it.
type work struct {
	mu      sync.Mutex
	now     status
	last    uint64         // the newest epoch that was taken: none is taken twice
	next    *session.Setup // taken, not begun
	cancel  context.CancelFunc
	begin   chan struct{} // room for one: next is set
	changed chan struct{} // room for one: now has changed
}

func newWork() *work {
	return &work{begin: make(chan struct{}, 1), changed: make(chan struct{}, 1), cancel: func() {}}
}

// take takes a setup, unless it is of an epoch that is known. One that runs is of a
// dead attempt then: it is ended, and waited for before the new one begins.
func (w *work) take(s session.Setup) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Epoch <= w.last {
		return false
	}
	w.last, w.next = s.Epoch, &s
	w.cancel()
	poke(w.begin)
	return true
}

// run carries out what is taken, until ctx ends.
func (w *work) run(ctx context.Context, install func(context.Context, session.Setup, func(session.Progress)) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.begin:
		}
		s, one, cancel := w.start(ctx)
		if s == nil {
			continue
		}
		err := install(one, *s, w.progress)
		cancel()
		w.end(s.Epoch, err)
	}
}

func (w *work) start(ctx context.Context) (*session.Setup, context.Context, context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.next
	if s == nil {
		return nil, nil, nil
	}
	one, cancel := context.WithCancel(ctx)
	w.next, w.cancel = nil, cancel
	w.set(status{phase: writing, epoch: s.Epoch})
	return s, one, cancel
}

func (w *work) end(epoch uint64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.next != nil: // this one's attempt is over at the site
		w.set(status{})
	case err != nil:
		w.set(status{phase: given, epoch: epoch, why: err.Error()})
	default:
		w.set(status{phase: written, epoch: epoch})
	}
}

func (w *work) progress(p session.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now
	now.progress = p
	w.set(now)
}

// set changes the status; the lock is held.
func (w *work) set(s status) {
	w.now = s
	poke(w.changed)
}

// status is the setup in hand.
func (w *work) status() status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// settle lets the setup in hand go, which the server has answered, and returns what
// it was: idle where the answer is to another.
func (w *work) settle(epoch uint64) status {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.now
	if was.epoch != epoch || was.phase != written && was.phase != given {
		return status{}
	}
	w.set(status{})
	return was
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pace is how often progress is told.
const pace = 300 * time.Millisecond
