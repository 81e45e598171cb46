package bmcsim

import (
	"context"
	"fmt"
	"time"
)

// Switch is a hand at the machine of a system, by its path: it has power when it
// returns, or has none, however long an order would take. What the BMC shows
// follows as it is configured. A machine that is turned on takes the boot override
// as with an order. The error is the backend's, or says that there is no such
// system.
func (b *BMC) Switch(ctx context.Context, system string, on bool) error {
	s := b.systems[key(system)]
	if s == nil {
		return fmt.Errorf("bmcsim: no system %s", system)
	}
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	running, err := b.look(ctx, s)
	if err != nil || running == on {
		return err
	}
	b.mu.Lock()
	goes := s.goesOn(time.Now())
	b.mu.Unlock()
	switch {
	case !on:
		err = s.backend.Off(ctx)
	case !goes:
		err = s.backend.On(ctx, b.start(s))
	}
	if err != nil {
		return err
	}
	b.dropRestart(s)
	for running = !on; running != on; {
		if running, err = b.look(ctx, s); err == nil && running != on {
			err = b.sleep(ctx, 100*time.Millisecond)
		}
		if err != nil {
			return err
		}
	}
	b.mu.Lock()
	s.want = ""
	b.mu.Unlock()
	return nil
}

// ExpireSessions ends every session, as their time does.
func (b *BMC) ExpireSessions() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for token := range b.sessions {
		b.end(token)
	}
}
