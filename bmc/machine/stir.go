package machine

import (
	"context"
	"sync"
	"time"
)

// stirs remembers, by system, until when a start that was sent may still come, so that
// a machine which reads off meanwhile is not taken for off. It outlives the Machine that
// sent it.
type stirs struct {
	mu  sync.Mutex
	all map[string]stir
}

type stir struct{ sent, until time.Time }

// note is told before a start is sent: what becomes of it is another matter.
func (s *stirs) note(system string, takes time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]stir{}
	}
	now := time.Now()
	s.all[system] = stir{now, now.Add(takes)}
}

// came is told that the system ran at a read that began so, or was turned off then.
func (s *stirs) came(system string, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if began.After(s.all[system].sent) {
		delete(s.all, system)
	}
}

func (s *stirs) until(system string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[system].until
}

// startKey is until when a request may start.
type startKey struct{}

// startsBy is ctx for requests that start before until or not at all; what has started
// goes on.
func startsBy(ctx context.Context, until time.Time) context.Context {
	return context.WithValue(ctx, startKey{}, until)
}

// turn is the context in which a request waits for its turn.
func turn(ctx context.Context) (context.Context, context.CancelFunc) {
	if until, ok := ctx.Value(startKey{}).(time.Time); ok {
		return context.WithDeadline(ctx, until)
	}
	return ctx, func() {}
}
