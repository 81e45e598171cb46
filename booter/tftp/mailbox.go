package tftp

import (
	"context"
	"time"
)

// knock leaves a request with a transfer that runs. Only the latest is kept.
func (t *transfer) knock(v visit) {
	t.mailbox.Lock()
	defer t.mailbox.Unlock()
	t.waiting = &v
	t.rouse()
}

// stir makes the transfer look around.
func (t *transfer) stir() {
	t.mailbox.Lock()
	defer t.mailbox.Unlock()
	t.rouse()
}

// rouse makes a read that waits return. The mailbox is locked.
func (t *transfer) rouse() {
	if t.wire != nil {
		wake(t.wire)
	}
}

// knocked takes the request that waits, nil for none.
func (t *transfer) knocked() *visit {
	t.mailbox.Lock()
	defer t.mailbox.Unlock()
	v := t.waiting
	t.waiting = nil
	return v
}

// attach names the socket that is read from now on, nil for none.
func (t *transfer) attach(w *wire) {
	t.mailbox.Lock()
	defer t.mailbox.Unlock()
	t.wire = w
}

// arm prepares a read that ends at the deadline, unless there is a request to
// look at first. What comes after it wakes the read.
func (t *transfer) arm(ctx context.Context, deadline time.Time) (v visit, asked bool, err error) {
	t.mailbox.Lock()
	defer t.mailbox.Unlock()
	if err := ctx.Err(); err != nil {
		return visit{}, false, err
	}
	if t.waiting != nil {
		v, t.waiting = *t.waiting, nil
		return v, true, nil
	}
	left := deadline.Sub(t.Now())
	return visit{}, false, t.wire.SetReadDeadline(time.Now().Add(left)) // sockets have a clock of their own
}
