package booting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

// A Follower keeps a desk's world: from the control plane's feed, and in a file of
// mode 0600, so that a booter that starts while the control plane is away serves what
// it knew.
type Follower struct {
	Client *api.Client
	Desk   *Desk
	File   string
	Log    *slog.Logger

	mu      sync.Mutex
	changed chan struct{} // closed at the next change; made when first asked for
}

const (
	pollWait = 30 * time.Second
	maxWorld = 256 << 20 // bytes of the file
	// The pause after a feed that failed, doubling.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// Load takes the world that the file holds, if there is one.
func (f *Follower) Load() error {
	file, err := os.Open(f.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	var s api.BootSnapshot
	if err := json.NewDecoder(io.LimitReader(file, maxWorld)).Decode(&s); err != nil {
		return fmt.Errorf("%s is damaged: %w; remove it, it is fetched anew", f.File, err)
	}
	f.Desk.Change(func(*World) *World { return NewWorld(s) })
	return nil
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	for retry := firstRetry; ctx.Err() == nil; {
		err := f.once(ctx)
		if err == nil {
			retry = firstRetry
			continue
		}
		if ctx.Err() != nil {
			return
		}
		f.Log.Warn("the feed of the control plane failed; machines are served from what is known", "error", err, "retry", retry.String())
		if !pause(ctx, retry) {
			return
		}
		retry = min(2*retry, lastRetry)
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// once takes in what changed, or a snapshot where nothing is known or what is known is
// of another world.
func (f *Follower) once(ctx context.Context) error {
	incarnation, revision := f.at()
	if incarnation == "" {
		return f.fetch(ctx)
	}
	in := api.BootChanges{Incarnation: incarnation, Revision: revision}
	in.Wait.Duration = pollWait
	delta, err := api.BooterChanges.Call(ctx, f.Client, &in)
	if err != nil {
		return err
	}
	f.Desk.Heard()
	same := true
	f.Desk.Change(func(w *World) *World { same = w.Take(delta); return w })
	if !same {
		return f.fetch(ctx)
	}
	if delta.Revision != revision {
		return f.moved()
	}
	return nil
}

func (f *Follower) fetch(ctx context.Context) error {
	s, err := api.BooterSnapshot.Call(ctx, f.Client, &api.Empty{})
	if err != nil {
		return err
	}
	f.Desk.Heard()
	f.Log.Info("the site was fetched", "revision", s.Revision, "records", len(s.Boots))
	f.Desk.Change(func(*World) *World { return NewWorld(s) })
	return f.moved()
}

// at is where the world stands.
func (f *Follower) at() (incarnation string, revision uint64) {
	f.Desk.mu.Lock()
	defer f.Desk.mu.Unlock()
	return f.Desk.world.Incarnation, f.Desk.world.Revision
}

// moved saves the world and wakes who waits for it. A disk that does not take it is no
// reason to serve less.
func (f *Follower) moved() error {
	f.Desk.mu.Lock()
	s := f.Desk.world.Snapshot()
	f.Desk.mu.Unlock()
	raw, err := json.Marshal(s)
	if err == nil {
		err = whole.Replace(f.File, whole.Bytes(raw))
	}
	if err != nil {
		f.Log.Error("the site could not be kept for the time when the control plane is away", "error", err, "next", "free space in the state folder")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
	return nil
}

// Wait waits until the world has a revision, or ctx ends.
func (f *Follower) Wait(ctx context.Context, revision uint64) error {
	for {
		f.mu.Lock()
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		changed := f.changed
		f.mu.Unlock()
		if _, at := f.at(); at >= revision {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
