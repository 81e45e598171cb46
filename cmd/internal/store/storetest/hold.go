package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// held is an update under way, for as long as the law wants. Closures do not wait
// elsewhere; here it is how others come to queue up behind.
type held struct {
	release func()
	done    chan error
}

// hold begins an update that puts the key held, and returns once it runs.
func (s site) hold(ctx context.Context) (*held, error) {
	running, free := make(chan struct{}), make(chan struct{})
	began := sync.OnceFunc(func() { close(running) })
	h := &held{release: sync.OnceFunc(func() { close(free) }), done: make(chan error, 1)}
	go func() {
		_, err := s.Update(ctx, func(tx store.Tx) error {
			began()
			select {
			case <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			tx.Put("held", nil)
			tx.Log(told("held"))
			return nil
		})
		h.done <- err
	}()
	return h, comes(ctx, "the closure of an update", running)
}

// end lets the update go and waits for it.
func (h *held) end(ctx context.Context) error {
	h.release()
	return ends(ctx, "an update", func() error { return <-h.done })
}

// settle is long enough for what was just called to queue up. Where it is not, a
// law sees less and does not err.
func settle() { time.Sleep(5 * time.Millisecond) }
