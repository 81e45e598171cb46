package machine

import (
	"context"
	"sync"
)

// A door lets many through at once, or one alone. Who wants to be alone keeps
// newcomers out while those inside leave.
type door struct {
	mu     sync.Mutex
	inside int
	shut   bool
	moved  chan struct{} // closed at the next change; nil: nobody waits
}

// enter waits until the door is open, or with alone until nobody is inside.
func (d *door) enter(ctx context.Context, alone bool) (leave func(), err error) {
	if err := d.await(ctx, func() bool {
		if d.shut {
			return false
		}
		if alone {
			d.shut = true
		} else {
			d.inside++
		}
		return true
	}); err != nil {
		return nil, noTurn(ctx)
	}
	if !alone {
		return func() { d.change(func() { d.inside-- }) }, nil
	}
	open := func() { d.change(func() { d.shut = false }) }
	if err := d.await(ctx, func() bool { return d.inside == 0 }); err != nil {
		open()
		return nil, noTurn(ctx)
	}
	return open, nil
}

// await waits until ready says so. Ready is called with the lock held.
func (d *door) await(ctx context.Context, ready func() bool) error {
	for {
		d.mu.Lock()
		if ready() {
			d.mu.Unlock()
			return nil
		}
		if d.moved == nil {
			d.moved = make(chan struct{})
		}
		moved := d.moved
		d.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (d *door) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	if d.moved != nil {
		close(d.moved)
		d.moved = nil
	}
}
