package cli_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/server"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
)

// counter is entropy that never repeats and is the same in each run.
type counter struct{ n uint64 }

func (c *counter) Read(b []byte) (int, error) {
	for i := range b {
		c.n = c.n*6364136223846793005 + 1442695040888963407
		b[i] = byte(c.n >> 56)
	}
	return len(b), nil
}

type hostKey struct{}

// site is a control plane in this process: over the network, with TLS, and as its
// own host sees it.
type site struct {
	remote, tls, host string
	close             func()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newSite(t testing.TB) *site {
	t.Helper()
	st := storetest.Memory("lab")
	entropy := &counter{n: 1}
	master, err := secrets.NewMaster([secrets.Size]byte{1})
	must(t, err)
	hasher, err := operators.NewHasher(operators.Hashing{Cost: operators.Cost{Time: 1, Memory: 64, Threads: 1}}, entropy)
	must(t, err)
	door := control.New(control.Config{Store: st, Now: time.Now})
	must(t, door.Found(context.Background(), control.Draw{Entropy: entropy}))
	srv, err := server.New(server.Config{Door: door, Master: master, Entropy: entropy, Log: slog.New(slog.DiscardHandler), Owner: "default", Site: "lab", Hasher: hasher,
		OnHost: func(ctx context.Context) bool { return ctx.Value(hostKey{}) != nil },
		Source: func(context.Context) netip.Addr { return netip.MustParseAddr("192.0.2.1") }})
	must(t, err)
	h, err := srv.Handler("test")
	must(t, err)
	return serveSite(h, func() { _ = st.Close() })
}

// serveSite serves a handler three times. What it closes is the caller's to close.
func serveSite(h http.Handler, done func()) *site {
	remote, local, secure := httptest.NewServer(h), httptest.NewUnstartedServer(h), httptest.NewUnstartedServer(h)
	local.Config.BaseContext = func(net.Listener) context.Context { return context.WithValue(context.Background(), hostKey{}, true) }
	local.Start()
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	return &site{remote.URL, secure.URL, local.URL, func() { done(); remote.Close(); local.Close(); secure.Close() }}
}
