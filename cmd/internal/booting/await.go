package booting

import (
	"context"
	"errors"
	"time"
)

// hasteWait is how long the feed is waited for while somebody waits for a revision.
const hasteWait = 100 * time.Millisecond

// errHaste ends a poll of the feed because somebody waits for a revision. The feed
// answers when a boot record changes, and what is waited for may have changed none:
// such as a setup that failed.
var errHaste = errors.New("booting: somebody waits for a revision")

// begin is for a poll of the feed: its context, and how long it may wait for news.
func (f *Follower) begin(ctx context.Context, revision uint64) (context.Context, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, f.hurry = context.WithCancelCause(ctx)
	switch {
	case f.waiting > 0:
		return ctx, hasteWait
	case f.older(revision):
		return ctx, saveEvery
	}
	return ctx, pollWait
}

// end lets go of a poll, and reports whether it was hurried.
func (f *Follower) end(poll context.Context) (hurried bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	hurried = errors.Is(context.Cause(poll), errHaste)
	f.hurry(nil)
	f.hurry = nil
	return hurried
}

// awaited reports whether somebody waits for a revision.
func (f *Follower) awaited() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting > 0
}

// Wait waits until the world has a revision and was written, or ctx ends. A disk that
// does not take the world is not waited for.
func (f *Follower) Wait(ctx context.Context, revision uint64) error {
	defer f.waits(-1)
	for f.waits(1); ; {
		if _, at := f.at(); at >= revision {
			f.save(true) // it came before somebody waited for it
		}
		changed := f.moves(revision)
		if changed == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *Follower) waits(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting += n
}

// moves is closed when what is written moves on; nil where it is at a revision. A poll
// that may take long is ended.
func (f *Follower) moves(revision uint64) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept >= revision {
		return nil
	}
	if f.changed == nil {
		f.changed = make(chan struct{})
		if f.hurry != nil {
			f.hurry(errHaste)
		}
	}
	return f.changed
}
