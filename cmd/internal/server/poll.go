package server

import (
	"context"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/store"
)

// poll looks at the store until look says that there is an answer, or for wait,
// whichever is first; it looks again whenever the log has grown. The last look is
// the answer.
func (s *Server) poll(ctx context.Context, wait time.Duration, look func(store.Reader) (bool, error)) error {
	end := time.NewTimer(min(wait, api.MaxWait))
	defer end.Stop()
	for last := wait <= 0; ; {
		var rev store.Rev
		var found bool
		err := s.Door.Store().View(ctx, func(r store.Reader) (err error) {
			if err := still(ctx, r); err != nil {
				return err
			}
			rev = store.Rev(r.Head().Revision)
			found, err = look(r)
			return err
		})
		if err != nil || found || last {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Door.Store().Failed():
			return &store.Unavailable{Err: s.Door.Store().Err()}
		case <-end.C:
			last = true
		case <-serve.Stopping(ctx): // the caller goes on elsewhere
			last = true
		case <-s.Door.Store().Changed(rev):
		}
	}
}
