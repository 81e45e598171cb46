package serve

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// logAccess writes one line: who, what, how it ended. It has no query, no header
// and no body, since secrets travel there. Lines beyond the rate are left out and
// counted in the next.
func (s *Server) logAccess(w *reply, r *http.Request, took time.Duration) {
	ctx := context.WithoutCancel(r.Context())
	if !s.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	ok, left := s.access.take(time.Now(), s.Limits.LogRate, 2*s.Limits.LogRate)
	if !ok {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", clip(r.Method)), slog.String("target", clip(s.Logged(r))), slog.String("proto", r.Proto),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Duration("took", took),
	}
	if a := SourceFrom(ctx); a.IsValid() {
		attrs = append(attrs, slog.String("source", a.String()))
	}
	if p, ok := PeerFrom(ctx); ok {
		attrs = append(attrs, slog.Int64("uid", int64(p.UID)), slog.Int64("pid", int64(p.PID)))
	}
	if left > 0 {
		attrs = append(attrs, slog.Uint64("left_out", left))
	}
	s.Log.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// clip keeps a line short whatever a client sent.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
