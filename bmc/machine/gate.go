package machine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
)

// A Gate is the budget of one BMC: so many requests at once, so far apart, first
// come first served, and none while the BMC is taken for dead. It is a
// [bmc.Gate], safe for concurrent use, and made by [Gates].
type Gate struct {
	key      string
	interval time.Duration
	breaker  *breaker
	door     door
	refused  refusals
	stirs    stirs

	mu      sync.Mutex
	free    int
	waiting []*waiter
	next    time.Time // the next request starts no earlier
}

// A waiter is one request that has not started; told holds what became of it.
type waiter struct {
	told  chan error
	probe bool
}

// errTurn marks the errors of requests that never had their turn. They say
// nothing of the BMC, and are not tried again behind the caller's back.
var errTurn = errors.New("machine: its turn did not come")

func newGate(key string, l bmc.Limits, b *breaker) *Gate {
	return &Gate{key: key, interval: l.Interval, free: max(1, l.Concurrent), breaker: b}
}

// Enter waits for the turn of a request. The error is a [*bmc.Error] of kind
// [bmc.Unreachable] with nothing sent: ctx ended, or the BMC is taken for dead.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	ctx, cancel := turn(ctx)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return nil, noTurn(ctx)
	}
	if err := g.slot(ctx); err != nil {
		return nil, err
	}
	if !g.pace(ctx) {
		g.release()
		return nil, noTurn(ctx)
	}
	return sync.OnceFunc(g.release), nil
}

func noTurn(ctx context.Context) error {
	return &bmc.Error{Kind: bmc.Unreachable, Op: "wait for its turn", Sent: bmc.SentNo, Why: "the time was over first", Err: errors.Join(errTurn, context.Cause(ctx))}
}

// slot takes one of the requests that may be under way.
func (g *Gate) slot(ctx context.Context) error {
	w := &waiter{told: make(chan error, 1), probe: isProbe(ctx)}
	g.mu.Lock()
	if err := g.breaker.closedTo(w.probe); err != nil {
		g.mu.Unlock()
		return err
	}
	g.waiting = append(g.waiting, w)
	g.serve()
	g.mu.Unlock()
	select {
	case err := <-w.told:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	} else if <-w.told == nil { // it was served while ctx ended
		g.free++
		g.serve()
	}
	return noTurn(ctx)
}

// serve lets in who is first, as long as there is room. The lock is held.
func (g *Gate) serve() {
	for g.free > 0 && len(g.waiting) > 0 {
		w := g.waiting[0]
		g.waiting = g.waiting[1:]
		err := g.breaker.closedTo(w.probe)
		if err == nil {
			g.free--
		}
		w.told <- err
	}
}

// turnAway sends home who waits for a BMC that was just taken for dead.
func (g *Gate) turnAway() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(w *waiter) bool {
		err := g.breaker.closedTo(w.probe)
		if err != nil {
			w.told <- err
		}
		return err != nil
	})
}

func (g *Gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	g.serve()
}

// pace waits until a request may start, and reports whether it may.
func (g *Gate) pace(ctx context.Context) bool {
	if g.interval <= 0 {
		return true
	}
	g.mu.Lock()
	at := time.Now()
	if g.next.After(at) {
		at = g.next
	}
	mine := at.Add(g.interval)
	g.next = mine
	g.mu.Unlock()
	if sleep(ctx, at, nil) {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next.Equal(mine) { // nobody has lined up behind
		g.next = at
	}
	return false
}

// sleep waits until an instant, and reports whether it came before ctx ended or
// stop was closed.
func sleep(ctx context.Context, until time.Time, stop <-chan struct{}) bool {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-stop:
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

// probeKey marks the one operation that finds out whether a BMC is back.
type probeKey struct{}

func isProbe(ctx context.Context) bool { return ctx.Value(probeKey{}) != nil }

// Try begins an operation, which may be several requests. While the BMC is taken
// for dead it fails at once with a [*bmc.Error] of kind [bmc.Unreachable], whose
// After says when it is tried again; then one operation is let through, under the
// returned context. done tells how the operation ended, and is called once.
func (g *Gate) Try(ctx context.Context) (_ context.Context, done func(error), err error) {
	probe, err := g.breaker.try()
	if err != nil {
		return nil, nil, err
	}
	if probe {
		ctx = context.WithValue(ctx, probeKey{}, true)
	}
	return ctx, func(err error) {
		if g.breaker.told(err, probe) {
			g.turnAway()
		}
	}, nil
}

// Key is the BMC's host and port, as [Gates] tells BMCs apart.
func (g *Gate) Key() string { return g.key }
