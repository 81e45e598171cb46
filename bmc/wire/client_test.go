package wire_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

// serve starts a BMC over TLS, and a client that trusts its pin.
func serve(t *testing.T, h http.HandlerFunc, o wire.Options) (*httptest.Server, *wire.Client) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	c := client(t, bmc.Endpoint{URL: s.URL, Trust: bmc.Trust{Pin: wire.PinOf(s.Certificate())}}, o)
	return s, c
}

func client(t *testing.T, e bmc.Endpoint, o wire.Options) *wire.Client {
	t.Helper()
	c, err := wire.New(e, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// want fails where err is not of this kind, with this word of whether it was sent.
func want(t *testing.T, err error, kind bmc.Kind, sent bmc.Sent) {
	t.Helper()
	if e, ok := errors.AsType[*bmc.Error](err); !ok || e.Kind != kind || e.Sent != sent {
		t.Errorf("got %v (%#v); want %s, sent: %s", err, e, kind, sent)
	}
}

func TestRedirects(t *testing.T) {
	var evil atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { evil.Add(1) }))
	defer other.Close()
	var s *httptest.Server
	s, c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		move := func(code int, to string) { w.Header().Set("Location", to); w.WriteHeader(code) }
		switch r.URL.Path {
		case "/moved", "/moved/here":
			if r.URL.Path == "/moved" {
				move(http.StatusPermanentRedirect, s.URL+"/moved/here")
				return
			}
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s", r.Method, body)
		case "/away":
			move(http.StatusTemporaryRedirect, other.URL+"/x")
		case "/port":
			move(http.StatusFound, "https://127.0.0.1:1/x")
		case "/user":
			move(http.StatusFound, strings.Replace(s.URL, "https://", "https://a@", 1)+"/moved/here")
		case "/loop":
			move(http.StatusFound, "/loop")
		case "/see":
			move(http.StatusSeeOther, "/moved/here")
		}
	}, wire.Options{})
	ask := func(method, path string) (*wire.Response, error) {
		return c.Do(t.Context(), wire.Request{Method: method, Path: path, Body: []byte("{}")})
	}
	if a, err := ask("POST", "/moved"); err != nil || string(a.Body) != "POST {}" || a.Path != "/moved/here" {
		t.Errorf("308 of a POST: %v, %v", a, err)
	}
	if a, err := ask("POST", "/see"); err != nil || a.Status != http.StatusSeeOther {
		t.Errorf("303 of a POST: %v, %v", a, err)
	}
	for _, path := range []string{"/away", "/port", "/user"} {
		_, err := ask("GET", path)
		want(t, err, bmc.Untrusted, bmc.SentNo)
	}
	_, err := ask("GET", "/loop")
	want(t, err, bmc.Protocol, bmc.SentYes)
	if evil.Load() != 0 {
		t.Error("the other host was asked")
	}
}

func TestBodiesHaveLimits(t *testing.T) {
	s, c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			for {
				if _, err := w.Write(make([]byte, 1<<12)); err != nil {
					return
				}
			}
		case "/large":
			w.Header().Set("Content-Length", "99999999")
			w.WriteHeader(200)
		case "/exact":
			_, _ = w.Write(make([]byte, 1<<16))
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("x"))
		case "/head":
			for i := range 5000 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("y", 100))
			}
		}
	}, wire.Options{Body: 1 << 16})
	_ = s
	for _, path := range []string{"/endless", "/large", "/gzip", "/head"} {
		_, err := c.Do(t.Context(), wire.Request{Path: path})
		want(t, err, bmc.Protocol, bmc.SentYes)
	}
	if a, err := c.Do(t.Context(), wire.Request{Path: "/exact"}); err != nil || len(a.Body) != 1<<16 {
		t.Error(err)
	}
}

// A body that drips ends at the limit of time, and a caller that goes is let go.
func TestTimeHasLimits(t *testing.T) {
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(time.Millisecond):
			}
		}
	}
	before := runtime.NumGoroutine()
	s, c := serve(t, drip, wire.Options{Time: 200 * time.Millisecond})
	_, err := c.Do(t.Context(), wire.Request{Path: "/"})
	want(t, err, bmc.Indeterminate, bmc.SentMaybe)

	patient := client(t, bmc.Endpoint{URL: s.URL, Trust: bmc.Trust{Insecure: true}}, wire.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = patient.Do(ctx, wire.Request{Method: "POST", Path: "/"})
	want(t, err, bmc.Indeterminate, bmc.SentMaybe)
	if d := time.Since(began); d > time.Second {
		t.Errorf("let go after %s", d)
	}
	c.Close()
	patient.Close()
	s.Close()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
		<-time.After(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// Each policy meets the peer that it trusts and another one.
func TestTrust(t *testing.T) {
	var asked atomic.Int32
	s, c := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) }, wire.Options{})
	if _, err := c.Do(t.Context(), wire.Request{Path: "/"}); err != nil || c.Peer() != wire.PinOf(s.Certificate()) {
		t.Fatalf("its own pin: %v, peer %s", err, c.Peer())
	}
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	named := strings.Replace(s.URL, "127.0.0.1", "example.com", 1)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
	}
	for name, tt := range map[string]struct {
		url   string
		trust bmc.Trust
		ok    bool
	}{
		"system roots":         {s.URL, bmc.Trust{}, false},
		"another pin":          {s.URL, bmc.Trust{Pin: bmc.PinPrefix + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}, false},
		"CA and name":          {named, bmc.Trust{CA: ca}, true},
		"CA and another name":  {"https://bmc.other", bmc.Trust{CA: ca}, false},
		"pin without its name": {"https://bmc.other", bmc.Trust{Pin: wire.PinOf(s.Certificate())}, true},
		"first use":            {s.URL, bmc.Trust{FirstUse: true}, true},
		"insecure":             {s.URL, bmc.Trust{Insecure: true}, true},
	} {
		before := asked.Load()
		c := client(t, bmc.Endpoint{URL: tt.url, Trust: tt.trust}, wire.Options{Dial: dial})
		_, err := c.Do(t.Context(), wire.Request{Path: "/"})
		if tt.ok && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !tt.ok {
			want(t, err, bmc.PeerIdentity, bmc.SentNo)
			if asked.Load() != before {
				t.Errorf("%s: the peer was sent a request", name)
			}
		}
	}
}

// A peer that changes its key in the life of a client is met again with the first.
func TestFirstUseIsOnce(t *testing.T) {
	one, _ := serve(t, func(http.ResponseWriter, *http.Request) {}, wire.Options{})
	two := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	two.TLS = &tls.Config{Certificates: []tls.Certificate{otherCert(t)}}
	two.StartTLS()
	defer two.Close()
	to := one.Listener.Addr().String()
	c := client(t, bmc.Endpoint{URL: "https://bmc", Trust: bmc.Trust{FirstUse: true}}, wire.Options{Idle: -1,
		Dial: func(ctx context.Context, n, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, n, to)
		}})
	if _, err := c.Do(t.Context(), wire.Request{Path: "/"}); err != nil {
		t.Fatal(err)
	}
	to = two.Listener.Addr().String()
	_, err := c.Do(t.Context(), wire.Request{Path: "/"})
	want(t, err, bmc.PeerIdentity, bmc.SentNo)
}

func TestSent(t *testing.T) {
	gone := client(t, bmc.Endpoint{URL: "http://127.0.0.1:1", Trust: bmc.Trust{Insecure: true}}, wire.Options{})
	_, err := gone.Do(t.Context(), wire.Request{Method: "POST", Path: "/"})
	want(t, err, bmc.Unreachable, bmc.SentNo)

	var posts atomic.Int32
	_, c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		posts.Add(1)
		conn, _, _ := http.NewResponseController(w).Hijack()
		_ = conn.Close()
	}, wire.Options{})
	_, err = c.Do(t.Context(), wire.Request{Method: "POST", Path: "/reset", Body: []byte("{}")})
	want(t, err, bmc.Indeterminate, bmc.SentMaybe)
	if posts.Load() != 1 {
		t.Errorf("%d POSTs, want one", posts.Load())
	}
}

// A library cannot be led to another host.
func TestRoundTripStaysHome(t *testing.T) {
	s, c := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("home")) }, wire.Options{})
	h := &http.Client{Transport: c, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := h.Get(s.URL + "/redfish/v1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "home" {
		t.Errorf("%q", body)
	}
	for _, u := range []string{s.URL + "@evil.example:1/x", "https://evil.example/", strings.Replace(s.URL, "https", "http", 1) + "/", s.URL + "//x", s.URL + "/a/../b"} {
		resp, err := h.Get(u)
		if err == nil {
			resp.Body.Close()
		}
		want(t, err, bmc.Untrusted, bmc.SentNo)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, e := range []bmc.Endpoint{
		{URL: "http://bmc"}, {URL: "ftp://bmc", Trust: bmc.Trust{Insecure: true}}, {URL: "https://u:p@bmc"}, {URL: "https://bmc/x"},
		{URL: "bmc"}, {URL: ""}, {URL: "https://bmc", Trust: bmc.Trust{CA: "-----BEGIN CERTIFICATE-----\nx"}},
		{URL: "https://bmc", Trust: bmc.Trust{FirstUse: true, Insecure: true}}, {URL: "https://bmc", Trust: bmc.Trust{Pin: "sha256/x"}},
	} {
		_, err := wire.New(e, nil, wire.Options{})
		want(t, err, bmc.InvalidOption, bmc.SentNo)
		if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for v, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "-5": 0, "999999999": 10 * time.Minute, "x": 0,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		if got := wire.RetryAfter(http.Header{"Retry-After": {v}}, now); got != want {
			t.Errorf("%q: %s, want %s", v, got, want)
		}
	}
}
