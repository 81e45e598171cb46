package serve

import (
	"context"
	"time"
)

// System is the service manager. A zero System is none.
type System struct {
	// Notify sends a state, as in sd_notify(3). Two goroutines may call it at once.
	Notify func(state string)
	// Watchdog is how often the manager wants to hear that the process lives;
	// half of it is kept. 0: never.
	Watchdog time.Duration
	// Alive is asked before each sign of life; with an error none is sent, and the
	// manager starts the process anew. It must answer within Watchdog.
	Alive func(context.Context) error
}

// The states that are sent.
const (
	ready    = "READY=1"
	stopping = "STOPPING=1"
	alive    = "WATCHDOG=1"
)

func (s System) notify(state string) {
	if s.Notify != nil {
		s.Notify(state)
	}
}

// watch sends signs of life until what it returns is called, which waits. It goes
// on while the server drains: only the caller ends it.
func (s System) watch(ctx context.Context) (end func()) {
	if s.Notify == nil || s.Watchdog <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.beat(ctx)
	}()
	return func() { cancel(); <-done }
}

func (s System) beat(ctx context.Context) {
	tick := time.NewTicker(s.Watchdog / 2)
	defer tick.Stop()
	for {
		if s.Alive == nil || s.Alive(ctx) == nil {
			s.notify(alive)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
