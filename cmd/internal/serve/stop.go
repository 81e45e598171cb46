package serve

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// lastWait is how long a handler has to notice that it was cut.
const lastWait = 5 * time.Second

// stop ends everything: first gently, then not.
func (s *Server) stop(ctx context.Context, srv *http.Server, cut context.CancelCauseFunc) error {
	s.System.notify(stopping)
	close(s.stopping)
	ctx = context.WithoutCancel(ctx)
	gentle, cancel := context.WithTimeout(ctx, s.Limits.Drain)
	defer cancel()
	_ = srv.Shutdown(gentle) // what it did not end is cut below
	left := s.handlers.wait(gentle)
	if left > 0 {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "requests are cut", slog.Int("requests", left), slog.Duration("after", s.Limits.Drain))
	}
	s.handlers.close()
	cut(http.ErrServerClosed)
	s.gate.cut()
	_ = srv.Close() // everything is closed already
	last, cancel := context.WithTimeout(ctx, lastWait)
	defer cancel()
	if left := s.handlers.wait(last); left > 0 {
		return &Stuck{left}
	}
	s.conns.wait(last)
	return nil
}
