package agent

import (
	"context"
	"sync"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
)

// rooting carries out what the control plane tells of the root password (BOOT-3), the
// newest alone, beside the session, which must not wait.
type rooting struct {
	*running
	news chan api.Secret // room for one: the newest
	done sync.WaitGroup
}

// rooted begins it; end ends it and waits.
func (r *running) rooted(ctx context.Context) (w *rooting, end func()) {
	w = &rooting{running: r, news: make(chan api.Secret, 1)}
	ctx, cancel := context.WithCancel(ctx)
	w.done.Go(func() { w.run(ctx) })
	return w, func() { cancel(); w.done.Wait() }
}

// hear takes a hash, empty for none. One goroutine calls it.
func (w *rooting) hear(hash api.Secret) {
	if w.SetRoot == nil {
		return
	}
	if hash != "" {
		if err := sessions.CheckRoot(hash); err != nil {
			w.Log.Error("the control plane told a root password hash that is none, and nothing is changed", "error", err)
			return
		}
	}
	select {
	case <-w.news: // an older one
	default:
	}
	w.news <- hash
}

// run sets what is heard; what fails is tried again until something newer comes, and is
// said once for each reason.
func (w *rooting) run(ctx context.Context) {
	var hash api.Secret
	var said string
	for {
		select {
		case <-ctx.Done():
			return
		case hash = <-w.news:
		}
		wait := backoff{entropy: w.Entropy}
		for len(w.news) == 0 {
			err := w.SetRoot(ctx, hash)
			if err == nil {
				said = ""
				break
			}
			if ctx.Err() == nil && err.Error() != said {
				said = err.Error()
				w.Log.Error("the root password is not set, and tried again", "error", err)
			}
			if !wait.wait(ctx) {
				return
			}
		}
	}
}
