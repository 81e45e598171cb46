package httpop_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
)

type coded struct{ code, text string }

func (c coded) Error() string { return c.text }
func (c coded) Code() string  { return c.code }

func sipping(err error) httpop.Binding {
	return httpop.Handle(sip, func(context.Context, *api.Empty) (cup, error) { return cup{}, err })
}

// untouched is a body that must not be read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("the body was read before the caller was known")
	return 0, io.EOF
}

// Who may not do a thing learns nothing of how it is done.
func TestOrderOfChecks(t *testing.T) {
	var got *pourIn
	for _, c := range []struct {
		name         string
		who, may     error
		status       int
		code         string
		authenticate string
	}{
		{"unknown", coded{"UNAUTHENTICATED", "who?"}, coded{"ACCESS_DENIED", "no"}, 401, "UNAUTHENTICATED", "Bearer"},
		{"denied", nil, coded{"ACCESS_DENIED", "no"}, 403, "ACCESS_DENIED", ""},
		{"out of sight", nil, coded{"NOT_FOUND", "no such cup"}, 404, "NOT_FOUND", ""},
		{"authentication is away", coded{"UNAVAILABLE", "later"}, nil, 503, "UNAVAILABLE", ""},
	} {
		opts := open()
		opts.Authenticate = func(ctx context.Context, d api.Def, _ *http.Request) (context.Context, error) { return ctx, c.who }
		opts.Authorize = func(_ context.Context, d api.Def, path httpop.Path) error {
			if d.Name != "cup.pour" || path("cup") != "red" || path("other") != "" {
				t.Errorf("authorizing %s on %q", d.Name, path("cup"))
			}
			return c.may
		}
		h := mounted(t, opts, []api.Any{pour}, pouring(&got))
		r := httptest.NewRequest("POST", "/v1/cups/red?nonsense=1", untouched{t})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if p := problem(t, w); w.Code != c.status || p.Name != c.code || got != nil || w.Header().Get("WWW-Authenticate") != c.authenticate {
			t.Errorf("%s: %d %+v %v", c.name, w.Code, p, w.Header())
		}
	}
}

// What Authenticate puts into the context reaches Authorize and the handler.
func TestTheCallerIsCarried(t *testing.T) {
	type key struct{}
	opts := open()
	opts.Authenticate = func(ctx context.Context, _ api.Def, _ *http.Request) (context.Context, error) {
		return context.WithValue(ctx, key{}, "ann"), nil
	}
	opts.Authorize = func(ctx context.Context, _ api.Def, _ httpop.Path) error {
		if ctx.Value(key{}) != "ann" {
			t.Error("Authorize does not know who asks")
		}
		return nil
	}
	h := mounted(t, opts, []api.Any{sip}, httpop.Handle(sip, func(ctx context.Context, _ *api.Empty) (cup, error) {
		return cup{Name: ctx.Value(key{}).(string)}, nil
	}))
	if w := ask(h, "GET", "/v1/sip", ""); !strings.Contains(w.Body.String(), "ann") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestMethodsAndPaths(t *testing.T) {
	h := whole(t, open())
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/v1/nodes", 200, ""},
		{"HEAD", "/v1/nodes", 200, ""},
		{"OPTIONS", "/v1/nodes", 204, "GET, HEAD, OPTIONS"},
		{"POST", "/v1/nodes", 405, "GET, HEAD, OPTIONS"},
		{"TRACE", "/v1/nodes", 405, "GET, HEAD, OPTIONS"},
		{"get", "/v1/nodes", 405, "GET, HEAD, OPTIONS"},
		{"PATCH", "/v1/policy", 405, "GET, HEAD, OPTIONS, PUT"},
		{"HEAD", "/v1/events/stream", 405, "GET, OPTIONS"},
		{"GET", "/v1/registrations/approve", 405, "OPTIONS, POST"},
		{"POST", "/openapi.json", 405, "GET, HEAD"},
		{"GET", "/v1/nodes/", 404, ""},
		{"GET", "/v1/", 404, ""},
		{"GET", "/v1", 404, ""},
		{"GET", "/v1/nope", 404, ""},
		{"GET", "/v1//nodes", 404, ""},
		{"GET", "/v1/../v1/nodes", 404, ""},
		{"GET", "/v1/x/%2e%2e/nodes", 404, ""},
		{"GET", "/v1/keys/a%2Frevoke", 404, ""},
		{"GET", "/V1/nodes", 404, ""},
		{"CONNECT", "/v1/nodes", 404, ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Method = c.method
		r.URL.Path, r.URL.RawPath = c.path, ""
		if decoded := strings.NewReplacer("%2e", ".", "%2F", "/").Replace(c.path); decoded != c.path {
			r.URL.Path, r.URL.RawPath = decoded, c.path
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || w.Header().Get("Allow") != c.allow || w.Header().Get("Location") != "" {
			t.Errorf("%s %s: %d, Allow %q, want %d, %q", c.method, c.path, w.Code, w.Header().Get("Allow"), c.status, c.allow)
		}
		if w.Code >= 400 {
			problem(t, w)
		}
	}
}

func TestPanicsBecomeProblems(t *testing.T) {
	for _, what := range []any{canary, errors.New(canary), struct{ s string }{canary}} {
		var log bytes.Buffer
		h := mounted(t, logged(&log), []api.Any{sip}, httpop.Handle(sip, func(context.Context, *api.Empty) (cup, error) { panic(what) }))
		w := ask(h, "GET", "/v1/sip", "")
		if p := problem(t, w); w.Code != 500 || p.Name != "UNAVAILABLE" || p.Detail != "" {
			t.Errorf("%d %+v", w.Code, p)
		}
		if strings.Contains(log.String(), canary) || !strings.Contains(log.String(), "cup.sip") || strings.Contains(w.Body.String(), canary) {
			t.Errorf("log %s, body %s", log.String(), w.Body)
		}
	}
	var log bytes.Buffer
	h := mounted(t, logged(&log), []api.Any{sip}, httpop.Handle(sip, func(context.Context, *api.Empty) (cup, error) {
		var none []guest
		return cup{Guests: none[:log.Len()+1]}, nil
	}))
	if w := ask(h, "GET", "/v1/sip", ""); w.Code != 500 || !strings.Contains(log.String(), "out of range") {
		t.Errorf("%d %s", w.Code, log.String())
	}
}

func TestHandlersHaveADeadlineUnlessTheyWait(t *testing.T) {
	opts := open()
	opts.Timeout = time.Millisecond
	h := mounted(t, opts, []api.Any{sip, look}, httpop.Handle(sip, func(ctx context.Context, _ *api.Empty) (cup, error) {
		<-ctx.Done()
		return cup{}, ctx.Err()
	}), httpop.Handle(look, func(ctx context.Context, _ *api.LongPoll) (cup, error) {
		if _, ok := ctx.Deadline(); ok {
			t.Error("a long poll has a deadline")
		}
		return cup{}, nil
	}))
	if w := ask(h, "GET", "/v1/sip", ""); problem(t, w).Name != "UNAVAILABLE" || w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(h, "GET", "/v1/cups?wait=1s", ""); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The time to read a body in is over once it is read: what is left of it must
// not end a handler that works longer, nor a long poll, which has no body.
func TestTheBodysDeadlineEndsWithIt(t *testing.T) {
	opts := open()
	opts.BodyTimeout = 30 * time.Millisecond
	work := func(ctx context.Context) (cup, error) {
		select {
		case <-ctx.Done():
			return cup{}, ctx.Err()
		case <-time.After(4 * opts.BodyTimeout):
			return cup{}, nil
		}
	}
	srv := httptest.NewServer(mounted(t, opts, []api.Any{pour, look},
		httpop.Handle(pour, func(ctx context.Context, _ *pourIn) (cup, error) { return work(ctx) }),
		httpop.Handle(look, func(ctx context.Context, _ *api.LongPoll) (cup, error) { return work(ctx) })))
	defer srv.Close()
	slow, hold := io.Pipe()
	defer hold.Close()
	for _, c := range []struct {
		name, method, path string
		body               io.Reader
		status             int
	}{
		{"a change", "POST", "/v1/cups/red", strings.NewReader(`{"drink":"tea"}`), 200},
		{"a long poll", "GET", "/v1/cups", nil, 200},
		{"a body that never comes", "POST", "/v1/cups/red", slow, 400},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, srv.URL+c.path, c.body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s: %s, want %d", c.name, res.Status, c.status)
		}
	}
}
