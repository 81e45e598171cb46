package httpop

import (
	"context"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ingotmetal/ingot/cmd/api"
)

// pass takes a request through the gate: who, may it, is it well formed; then
// huma reads it into the input, and the handler runs.
func (s *server) pass(rt *route, rw http.ResponseWriter, r *http.Request) {
	w := &writer{ResponseWriter: rw}
	defer s.catch(w, rt.def)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	ctx, err := s.opts.Authenticate(r.Context(), rt.def, r)
	if err == nil {
		err = s.opts.Authorize(ctx, rt.def, pathOf(rt.def, r))
	}
	if err != nil {
		s.answer(r.Context(), w, rt.def, err)
		return
	}
	body, problem := s.read(rt, w, r)
	if problem != nil {
		writeProblem(w, problem)
		return
	}
	ctx, done := s.deadline(ctx, rt.def)
	defer done()
	rt.run(&exchange{inner: humago.NewContext(rt.op, r.WithContext(ctx), w), w: w, body: body})
}

// pathOf hides variables that are not the operation's own.
func pathOf(d api.Def, r *http.Request) Path {
	return func(name string) string {
		if !strings.Contains(d.Path, "{"+name+"}") {
			return ""
		}
		return r.PathValue(name)
	}
}

// read checks the query, the headers and the body, and returns the body.
func (s *server) read(rt *route, w *writer, r *http.Request) ([]byte, *api.Problem) {
	if p := rt.form.query(r.URL.RawQuery); p != nil {
		return nil, p
	}
	if p := rt.form.headers(r.Header); p != nil {
		return nil, p
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(s.opts.Now().Add(s.opts.BodyTimeout)) // not every writer has one
	body, p := rt.form.body(r)
	_ = control.SetReadDeadline(time.Time{})
	return body, p
}

// deadline bounds a handler that has no reason to wait.
func (s *server) deadline(ctx context.Context, d api.Def) (context.Context, context.CancelFunc) {
	if d.Waits || d.Stream != api.JSON {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.opts.Timeout)
}

// Plain is next for requests whose path is written as it is served: one with
// dots, doubled or encoded slashes is NOT_FOUND, where a mux would redirect, and
// a rule in front of us may have read it otherwise. What panics is a problem.
func Plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != clean(r.URL.Path) || strings.Contains(strings.ToLower(r.URL.EscapedPath()), "%2f") || r.Method == http.MethodConnect {
			notFound(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// clean is the one way to write a path; a slash at the end stays.
func clean(p string) string {
	c := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && c != "/" {
		c += "/"
	}
	return c
}

// inner is huma's, under a name that is not its method's.
type inner = huma.Context

// exchange is a request as huma sees it, once it is through the gate.
type exchange struct {
	inner
	w    *writer
	body []byte
}
