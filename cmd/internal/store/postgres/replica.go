package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// A Replica reads a site that another process writes, from the primary or from a
// hot standby. What it shows may be a little old, but in order. It is safe for
// concurrent use.
type Replica struct {
	view views
	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	rev     store.Rev
	holder  Holder
	changed chan struct{} // closed at the next row
	failed  chan struct{}
	err     error
}

var (
	_ store.Store = (*Store)(nil)
	_ store.Store = (*Replica)(nil)
)

// OpenReplica opens a site for reading. It writes nothing, and reads a newer schema
// too (MACH-8). Errors are *Invalid, *Absent and *Foreign; else what the connection
// met. ctx bounds OpenReplica alone.
func OpenReplica(ctx context.Context, opt Options) (*Replica, error) {
	o, err := opt.settle()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), o.replica())
	if err != nil {
		return nil, err
	}
	r := &Replica{view: views{o, pool}, done: make(chan struct{}), changed: make(chan struct{}), failed: make(chan struct{})}
	if err := r.look(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	go r.watch(background)
	return r, nil
}

// View runs fn on a snapshot; see store.Store.
func (r *Replica) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := r.Err(); err != nil {
		return &store.Unavailable{Err: err}
	}
	return r.view.run(ctx, fn)
}

// Update is refused with *store.Unavailable of *store.ReadOnly, which says who writes.
func (r *Replica) Update(context.Context, func(store.Tx) error) (store.Rev, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, &store.Unavailable{Err: r.err}
	}
	return 0, &store.Unavailable{Err: &store.ReadOnly{Writer: r.holder.String()}}
}

// Changed is closed within Options.Poll of when the server here has the next row;
// see store.Store. A standby cannot notify.
func (r *Replica) Changed(after store.Rev) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rev > after || r.err != nil {
		now := make(chan struct{})
		close(now)
		return now
	}
	return r.changed
}

// Failed is closed by Close; see store.Store.
func (r *Replica) Failed() <-chan struct{} { return r.failed }

// Err is nil until Close; see store.Store.
func (r *Replica) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close waits for the views that have begun.
func (r *Replica) Close() error {
	r.mu.Lock()
	if r.err == nil {
		r.err = store.ErrClosed
		close(r.failed)
		close(r.changed)
	}
	r.mu.Unlock()
	r.stop()
	<-r.done
	r.view.pool.Close()
	return nil
}

// watch looks for news until Close. What it meets is met again by the views, who
// say so.
func (r *Replica) watch(ctx context.Context) {
	defer close(r.done)
	tick := time.NewTicker(r.view.o.Poll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = r.look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// look reads where the log ends and who writes.
func (r *Replica) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.view.o.Timeout)
	defer cancel()
	s, err := readState(ctx, r.view.pool, r.view.o)
	if err != nil {
		return err
	}
	var rev store.Rev
	err = r.view.run(ctx, func(at store.Reader) error {
		rev = store.Rev(at.Head().Revision)
		return nil
	})
	if err != nil {
		return err
	}
	r.news(rev, s.Holder)
	return nil
}

func (r *Replica) news(rev store.Rev, h Holder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holder = h
	if rev <= r.rev || r.err != nil {
		return
	}
	r.rev = rev
	close(r.changed)
	r.changed = make(chan struct{})
}
