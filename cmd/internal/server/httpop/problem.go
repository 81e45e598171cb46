package httpop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// refusal is a problem as huma takes it from a handler.
type refusal struct{ *api.Problem }

// GetStatus is the HTTP status.
func (r refusal) GetStatus() int { return r.Status }

// ContentType is that of RFC 9457.
func (refusal) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// refuse makes a handler's error a problem.
func (s *server) refuse(ctx context.Context, d api.Def, err error) error {
	return refusal{s.problem(ctx, d, err)}
}

// answer writes an error of the gate.
func (s *server) answer(ctx context.Context, w http.ResponseWriter, d api.Def, err error) {
	writeProblem(w, s.problem(ctx, d, err))
}

// problem is what the caller is told of err. The log gets what is ours to mend.
func (s *server) problem(ctx context.Context, d api.Def, err error) *api.Problem {
	p := Problem(err, s.opts.Now())
	if p.Status >= http.StatusInternalServerError && p.Name == "UNAVAILABLE" {
		s.opts.Log.WarnContext(ctx, "an operation failed", "op", d.Name, "status", p.Status, "err", err)
	}
	return p
}

// Problem is what a caller is told of err: the first error in it that has a code
// of API-3, with its facts. Anything else is UNAVAILABLE with status 500, and
// says nothing more. now is for how long to wait.
func Problem(err error, now time.Time) *api.Problem {
	if p, ok := errors.AsType[*api.Problem](err); ok {
		return p
	}
	coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	switch {
	case ok && slices.Contains(api.Codes(), coded.Code()):
		p := api.NewProblem(coded.Code(), coded.Error())
		extend(p, err, now)
		return p
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		p := api.NewProblem("UNAVAILABLE", "it took too long")
		p.Next = "try again; a change with the same Idempotency-Key"
		return p
	}
	p := api.NewProblem("UNAVAILABLE", "")
	p.Status = http.StatusInternalServerError
	return p
}

// Answer answers with p, for what is served beside the operations.
func Answer(w http.ResponseWriter, p *api.Problem) { writeProblem(w, p) }

// writeProblem answers with p. Every answer of ours that is no success comes
// by here or by huma with a refusal.
func writeProblem(w http.ResponseWriter, p *api.Problem) {
	h := w.Header()
	h.Set("Content-Type", problemType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	hints(h, p)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the caller is gone, or has it
}

// hints are the headers that say what a problem says.
func hints(h http.Header, p *api.Problem) {
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
}

// seconds is how long it is until t, at least one, so that nobody comes early.
func seconds(now, t time.Time) int {
	return max(1, int(math.Ceil(t.Sub(now).Seconds())))
}

// cut ends a stream that failed.
func (s *server) cut(ctx context.Context, w *writer, d api.Def, err error) {
	p := s.problem(ctx, d, err)
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, p)
}

// catch turns a panic into a problem. The log gets where, and of what type, and
// not what: it may hold anything.
func (s *server) catch(w *writer, d api.Def) {
	p := recover()
	if p == nil {
		return
	}
	if p != http.ErrAbortHandler { //nolint:errorlint // net/http compares so
		what := fmt.Sprintf("%T", p)
		if err, ok := p.(runtime.Error); ok {
			what = err.Error()
		}
		s.opts.Log.Error("a handler panicked", "op", d.Name, "what", what, "stack", string(debug.Stack()))
	}
	if w.begun || p == http.ErrAbortHandler {
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, Problem(errors.New("panic"), s.opts.Now()))
}
