// Package postgres keeps a site in PostgreSQL, for more than one machine: one
// process writes, others read, and one of them may take over. It is a
// [github.com/ingotmetal/ingot/cmd/internal/store.Store].
//
// The writer holds an advisory lock for as long as its one writing connection
// lives, and has raised a number when it took it: the fence. Each commit checks in
// its own transaction that the number is still the writer's. So one that was
// paused, or cut off, and whose place another took can commit nothing more. The
// server ends the connection of a writer from whom it hears nothing for a Lease.
//
// What the writer has read and written stays in its memory, bounded, since nobody
// else writes. So nobody else may: stop the writer before you change rows by hand.
//
// The server must keep what it reported as kept: Open refuses one whose fsync,
// full_page_writes or synchronous_commit is off. A standby that is to take over
// without loss must be a synchronous one. Nothing that shares connections by
// transaction may stand between, since locks belong to a connection.
package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// A Store is a site's writer. It is safe for concurrent use.
type Store struct {
	*store.Committer
	w    *writer
	view views
	done chan struct{} // the watch has ended
}

// Open makes this process the site's writer. It makes the schema where there is
// none. Errors are *Invalid, *Unsafe, *Newer, *Busy where another process writes
// and Options.Wait is not set, and *store.Damaged; else what the connection met.
// ctx bounds Open alone.
func Open(ctx context.Context, opt Options) (*Store, error) {
	o, err := opt.settle()
	if err != nil {
		return nil, err
	}
	w := newWriter(o)
	head, base, err := w.take(ctx)
	if err != nil {
		w.close()
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), o.readers())
	if err != nil {
		w.close()
		return nil, err
	}
	w.lost = pool.Reset
	s := &Store{w: w, view: views{o, pool}, done: make(chan struct{})}
	s.Committer = store.NewCommitter(head, base, s.begin, nil)
	go s.watch()
	return s, nil
}

// View runs fn on a snapshot; see store.Store. A store that has stopped shows
// nothing.
func (s *Store) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := s.Err(); err != nil {
		return &store.Unavailable{Err: err}
	}
	return s.view.run(ctx, fn)
}

// Close waits for the updates that have begun, and lets go of the lock.
func (s *Store) Close() error {
	s.Committer.Close()
	<-s.done
	s.view.pool.Close()
	return nil
}

// watch has the server hear of the writer while there is nothing to write, and
// notices when another has taken over. Once the store has stopped it lets go of
// the lock.
func (s *Store) watch() {
	defer close(s.done)
	defer s.w.close()
	tick := time.NewTicker(s.w.o.Lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = s.outcome(s.w.beat()) // what is not final is tried again
		case <-s.Failed():
			return
		}
	}
}

// begin opens a batch for the committer.
func (s *Store) begin() (store.Batch, error) {
	b, err := s.w.begin()
	if err != nil {
		return nil, s.outcome(err)
	}
	return &guarded{b, s}, nil
}

// outcome stops the store over an error after which it must not go on.
func (s *Store) outcome(err error) error {
	if final(err) {
		s.Fail(err)
	}
	return err
}

// guarded is a batch whose final errors stop the store.
type guarded struct {
	*batch
	s *Store
}

// Err is store.Batch's.
func (g *guarded) Err() error { return g.s.outcome(g.batch.Err()) }

// Settle is store.Settler's.
func (g *guarded) Settle() (bool, error) {
	again, err := g.batch.Settle()
	return again, g.s.outcome(err)
}

// behind is what a server is that lacks what it had acknowledged.
func behind(have, want journal.Head) error {
	return &store.Damaged{
		What: fmt.Sprintf("the server's log ends at revision %d, but %d was acknowledged", have.Revision, want.Revision),
		Have: have,
		Next: "connect to the server that has it, or restore from a backup; make the standby that takes over a synchronous one",
	}
}
