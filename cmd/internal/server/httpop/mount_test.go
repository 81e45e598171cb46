package httpop_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop/stubs"
)

// open lets everybody do everything.
func open() httpop.Options {
	return httpop.Options{
		Authenticate: func(ctx context.Context, _ api.Def, _ *http.Request) (context.Context, error) { return ctx, nil },
		Authorize:    func(context.Context, api.Def, httpop.Path) error { return nil },
	}
}

// logged is open with a log to look at.
func logged(w io.Writer) httpop.Options {
	o := open()
	o.Log = slog.New(slog.NewTextHandler(w, nil))
	return o
}

// mounted is a table with its bindings, behind Plain.
func mounted(t testing.TB, opts httpop.Options, table []api.Any, bindings ...httpop.Binding) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", httpop.NotFound())
	if err := httpop.Mount(mux, table, opts, bindings...); err != nil {
		t.Fatal(err)
	}
	return httpop.Plain(mux)
}

// whole is the table of package api with handlers that do nothing.
func whole(t testing.TB, opts httpop.Options) http.Handler {
	return mounted(t, opts, api.All(), stubs.All()...)
}

// ask sends one request; a body is JSON.
func ask(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] == "" {
			r.Header.Del(header[i])
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// problem reads an answer that must be one, with the headers of every answer.
func problem(t testing.TB, w *httptest.ResponseRecorder) api.Problem {
	t.Helper()
	var p api.Problem
	dec := json.NewDecoder(strings.NewReader(w.Body.String()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%d, %q is no problem: %v\n%s", w.Code, w.Header().Get("Content-Type"), err, w.Body)
	}
	if p.Status != w.Code || p.Type == "" || p.Title == "" || p.Name == "" {
		t.Fatalf("%d: %+v", w.Code, p)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Fatalf("%v", w.Header())
	}
	return p
}

func TestTheWholeTableIsServed(t *testing.T) {
	srv := httptest.NewServer(whole(t, open()))
	defer srv.Close()
	client := &api.Client{Base: srv.URL, HTTP: srv.Client()}
	out, err := api.NodeListing.Call(t.Context(), client, &api.NodeList{Page: api.Page{Limit: 3}})
	if err != nil || out.Nodes == nil {
		t.Errorf("%+v, %v", out, err)
	}
	in := &api.ApproveSetup{RegistrationChange: api.RegistrationChange{RegistrationRef: api.RegistrationRef{Server: "6f1f5e9a-3c0e-4a52-9c3a-2f0f5a1c9b11"}}}
	in.Body.Hostname, in.Body.ShownPlan, in.Body.MACs = "n1", strings.Repeat("a", 64), []string{}
	_, err = api.RegistrationApproveSetup.Call(t.Context(), client, in)
	if p, ok := err.(*api.Problem); !ok || p.Code() != "INVALID_INPUT" || len(p.Fields) != 1 || p.Fields[0].Field != "body.layout.disks" {
		t.Errorf("%v", err)
	}
}

func TestMountRefuses(t *testing.T) {
	all, none := stubs.All(), httpop.Options{}
	half := open()
	half.Authorize = nil
	other := httpop.Handle(api.Op[api.Empty, api.Empty]{Def: api.Def{Name: "other.thing", Method: "GET", Path: "/v1/other"}},
		func(context.Context, *api.Empty) (api.Empty, error) { return api.Empty{}, nil })
	for _, c := range []struct {
		name     string
		opts     httpop.Options
		table    []api.Any
		bindings []httpop.Binding
		want     string
	}{
		{"a missing handler", open(), api.All(), all[1:], "registration.register has 0 handlers"},
		{"a handler twice", open(), api.All(), append(stubs.All(), all[0]), "registration.register has 2 handlers"},
		{"a handler of no operation", open(), api.All(), append(stubs.All(), other), "other.thing"},
		{"nobody to ask who it is", none, api.All(), all, "Authenticate"},
		{"nobody to ask what it may", half, api.All(), all, "Authorize"},
		{"two at one address", open(), []api.Any{pour, twin}, []httpop.Binding{httpop.Handle(pour, poured), httpop.Handle(twin, poured)}, "POST /v1/cups/{cup}"},
	} {
		err := httpop.Mount(http.NewServeMux(), c.table, c.opts, c.bindings...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What huma serves by itself is off, and nothing answered is made of Host.
func TestNothingElseIsServed(t *testing.T) {
	h := whole(t, open())
	for _, path := range []string{"/docs", "/schemas/Node.json", "/openapi.yaml", "/openapi", "/openapi-3.0.yaml", "/"} {
		if w := ask(h, "GET", path, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for _, path := range []string{"/v1/nodes", "/openapi.json", "/openapi-3.0.json", "/v1/nope", "/v1/nodes?limit=0"} {
		w := ask(h, "GET", "http://evil.test"+path, "")
		if all := w.Body.String(); strings.Contains(all, "evil.test") || strings.Contains(all, "$schema") || w.Header().Get("Link") != "" {
			t.Errorf("%s: %v %.200s", path, w.Header(), all)
		}
	}
}
