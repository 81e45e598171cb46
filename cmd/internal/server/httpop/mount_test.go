package httpop_test

import (
	"context"
	"net/http"
	"net/http/httptest"
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

// serve mounts a table with its bindings and returns a client for it.
func serve(t testing.TB, opts httpop.Options, table []api.Any, bindings ...httpop.Binding) (*api.Client, http.Handler) {
	t.Helper()
	mux := http.NewServeMux()
	if err := httpop.Mount(mux, table, opts, bindings...); err != nil {
		t.Fatal(err)
	}
	h := httpop.Plain(mux)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &api.Client{Base: srv.URL, HTTP: srv.Client()}, h
}

func TestTheWholeTableIsServed(t *testing.T) {
	client, _ := serve(t, open(), api.All(), stubs.All()...)
	out, err := api.NodeListing.Call(t.Context(), client, &api.NodeList{})
	if err != nil || out.Nodes == nil {
		t.Errorf("%+v, %v", out, err)
	}
}
