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
	"github.com/ingotmetal/ingot/cmd/internal/pause"
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

	saved time.Time // when the file was written; under saving

	saving  sync.Mutex // one writes the file
	mu      sync.Mutex
	kept    uint64        // revision of what was written, or tried
	failed  bool          // it was tried
	changed chan struct{} // closed when that moves on; made when first asked for
	waiting int           // who waits for a revision
	hurry   context.CancelCauseFunc
}

const (
	pollWait = 30 * time.Second
	// The file is written at most so often, unless somebody waits for it.
	saveEvery = 2 * time.Second
	maxWorld  = 256 << 20 // bytes of the file
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
	w := NewWorld(s)
	f.Desk.Change(func(*World) *World { return w })
	f.keep(w.Revision, nil)
	return nil
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	defer f.save(true)
	for retry := firstRetry; ctx.Err() == nil; {
		err := f.once(ctx)
		if err == nil {
			retry = firstRetry
			continue
		}
		if ctx.Err() != nil {
			return
		}
		f.save(true)
		f.Log.Warn("the feed of the control plane failed; machines are served from what is known", "error", err, "retry", retry.String())
		if !pause.For(ctx, retry) {
			return
		}
		retry = min(2*retry, lastRetry)
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
	var poll context.Context
	poll, in.Wait.Duration = f.begin(ctx, revision)
	delta, err := api.BooterChanges.Call(poll, f.Client, &in)
	hurried := f.end(poll)
	if err != nil {
		if hurried && ctx.Err() == nil {
			return nil
		}
		return err
	}
	f.Desk.Heard()
	same := true
	f.Desk.Change(func(w *World) *World { same = w.Take(delta); return w })
	if !same {
		return f.fetch(ctx)
	}
	f.save(false)
	return nil
}

func (f *Follower) fetch(ctx context.Context) error {
	s, err := api.BooterSnapshot.Call(ctx, f.Client, &api.Empty{})
	if err != nil {
		return err
	}
	f.Desk.Heard()
	f.Log.Info("the site was fetched", "revision", s.Revision, "records", len(s.Boots))
	w := NewWorld(s)
	f.Desk.Change(func(*World) *World { return w })
	f.save(true)
	return nil
}

// at is where the world stands.
func (f *Follower) at() (incarnation string, revision uint64) {
	f.Desk.mu.Lock()
	defer f.Desk.mu.Unlock()
	return f.Desk.world.Incarnation, f.Desk.world.Revision
}

// behind reports whether the file is older than what is served.
func (f *Follower) behind(revision uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.older(revision)
}

func (f *Follower) older(revision uint64) bool { return f.kept != revision || f.failed }

// save writes the world, where it changed, and wakes who waits for it: at once if it
// must or somebody waits. A disk that does not take it is no reason to serve less.
func (f *Follower) save(must bool) {
	f.saving.Lock()
	defer f.saving.Unlock()
	f.Desk.mu.Lock()
	revision, now := f.Desk.world.Revision, f.Desk.now()
	f.Desk.mu.Unlock()
	if !f.behind(revision) || !must && !f.awaited() && now.Sub(f.saved) < saveEvery {
		return
	}
	f.Desk.mu.Lock()
	s := f.Desk.world.Snapshot()
	f.Desk.mu.Unlock()
	raw, err := json.Marshal(s)
	if err == nil {
		err = whole.Replace(f.File, whole.Bytes(raw))
	}
	switch news := f.Desk.kept(keepsSite, err); {
	case news && err != nil:
		f.Log.Error("the site could not be kept for the time when the control plane is away", "error", err, "next", "free space in the state folder; it is tried again by itself")
	case news:
		f.Log.Info("the site is kept again")
	}
	f.saved = now
	f.keep(s.Revision, err)
}

// keep notes that a revision was written, or tried, and wakes who waits.
func (f *Follower) keep(revision uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept, f.failed = revision, err != nil
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}
