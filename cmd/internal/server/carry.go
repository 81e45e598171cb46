package server

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/carry"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
)

// booterName is that of the bodies in which booters name themselves.
var booterName = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// Carry is where booters come to carry connections to BMCs (MACH-6), at [carry.Path].
// Their key is that with which they follow the site; a line ends with its key.
func (s *Server) Carry(d *carry.Desk) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := s.porter(r)
		if err != nil {
			httpop.Answer(w, httpop.Problem(err, s.Door.Now()))
			return
		}
		booter := r.URL.Query().Get("booter")
		ctx, stop := context.WithCancel(ctx)
		var beside sync.WaitGroup
		defer beside.Wait()
		defer stop()
		beside.Go(func() {
			defer stop()
			s.keyLives(ctx)
		})
		s.Log.Info("a booter carries connections to BMCs", "booter", booter, "source", serve.SourceFrom(ctx).String())
		err = d.Accept(ctx, w, r, booter)
		s.Log.LogAttrs(ctx, slog.LevelInfo, "a booter carries no connections any more", slog.String("booter", booter), slog.Any("error", err))
	})
}

// porter proves that a request is a booter's.
func (s *Server) porter(r *http.Request) (context.Context, error) {
	d := api.Def{Name: "booter.carry", Auth: api.Key, Action: keys.BooterSnapshot}
	ctx, err := s.authenticate(r.Context(), d, r)
	if err != nil {
		return ctx, err
	}
	if err := s.allowed(ctx, d, func(string) string { return "" }); err != nil {
		return ctx, err
	}
	if s.foreign(ctx) {
		return ctx, refused("ACCESS_DENIED", "the site is another tenant's", "")
	}
	if !booterName.MatchString(r.URL.Query().Get("booter")) {
		return ctx, invalid("booter", "a booter's name: 1-128 of A-Z, a-z, 0-9, '.', '_', ':' and '-'")
	}
	return ctx, nil
}

// keyLives returns when the caller is shut out, or the server or the request ends.
func (s *Server) keyLives(ctx context.Context) {
	st := s.Door.Store()
	for {
		var rev store.Rev
		err := st.View(ctx, func(r store.Reader) error {
			rev = store.Rev(r.Head().Revision)
			return still(ctx, r)
		})
		if err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-serve.Stopping(ctx):
			return
		case <-st.Failed():
			return
		case <-st.Changed(rev):
		}
		select { // it need not look at each of many commits
		case <-ctx.Done():
			return
		case <-time.After(livePause):
		}
	}
}
