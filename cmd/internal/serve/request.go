package serve

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// serve is every request: it bounds it, hands it on, and accounts for it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	leave, ok := s.handlers.enter()
	if !ok { // cut already
		panic(http.ErrAbortHandler)
	}
	defer leave()
	start := time.Now()
	r = s.withOrigin(r)
	rep := newReply(w, r, s.Limits.Stall)
	s.boundBody(rep, r)
	defer s.ended(rep, r, start)
	defer rep.finish()
	s.guarded(rep, r)
}

// guarded turns a panic into an answer, or, where one has begun, into a cut: half
// an answer must not look whole.
func (s *Server) guarded(w *reply, r *http.Request) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler)
		}
		s.panics.Add(1)
		s.Log.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelError, "a handler panicked",
			slog.String("method", clip(r.Method)), slog.String("target", clip(s.Logged(r))),
			slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		if w.status != 0 || w.taken {
			panic(http.ErrAbortHandler)
		}
		http.Error(w, "internal error; the log of the server has it", http.StatusInternalServerError)
	}()
	s.Handler.ServeHTTP(w, r)
}

// ended accounts for a request that is over.
func (s *Server) ended(w *reply, r *http.Request, start time.Time) {
	took := time.Since(start)
	s.countReset(r)
	if s.Done != nil {
		s.Done(Done{Request: r, Status: w.status, Bytes: w.bytes, Took: took})
	}
	s.logAccess(w, r, took)
}

// countReset closes a connection whose client opens requests to give them up. What
// net/http bounds by itself is how many of them run and wait at a time.
func (s *Server) countReset(r *http.Request) {
	c := connOf(r.Context())
	if c == nil || r.ProtoMajor < 2 || r.Context().Err() == nil {
		return
	}
	if ok, _ := c.resets.take(time.Now(), 1, s.Limits.Resets); !ok {
		s.resets.Add(1)
		_ = c.Close() // it is cut either way
	}
}
