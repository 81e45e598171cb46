package serve

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSource walks X-Forwarded-For. The chain is believed from its end, and only as
// far as trusted proxies speak.
func TestSource(t *testing.T) {
	s := &Server{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}
	for _, c := range []struct {
		name, peer string
		header     []string
		want       string
	}{
		{"no proxy is trusted without being one", "203.0.113.5", []string{"198.51.100.1"}, "203.0.113.5"},
		{"one proxy", "10.0.0.1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"what the client claims itself", "10.0.0.1", []string{"127.0.0.1, 198.51.100.1"}, "198.51.100.1"},
		{"two proxies", "10.0.0.1", []string{"127.0.0.1, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"two headers", "10.0.0.1", []string{"127.0.0.1", "198.51.100.1,10.0.0.2"}, "198.51.100.1"},
		{"proxies alone", "10.0.0.1", []string{"10.0.0.3"}, "10.0.0.3"},
		{"no header", "10.0.0.1", nil, "10.0.0.1"},
		{"no address", "10.0.0.1", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"a port is no address", "10.0.0.1", []string{"198.51.100.1:80"}, "10.0.0.1"},
		{"a mapped address", "fd00::1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"a zone", "fd00::1", []string{"fe80::1%eth0"}, "fe80::1"},
		{"longer than is followed", "10.0.0.1", []string{"198.51.100.1" + strings.Repeat(", 10.0.0.2", maxHops)}, "10.0.0.2"},
	} {
		got := s.source(netip.MustParseAddr(c.peer), http.Header{"X-Forwarded-For": c.header})
		if got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func FuzzSource(f *testing.F) {
	f.Add("198.51.100.1, 10.0.0.2")
	s := &Server{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	peer := netip.MustParseAddr("10.0.0.1")
	f.Fuzz(func(t *testing.T, h string) {
		got := s.source(peer, http.Header{"X-Forwarded-For": {h}})
		if !got.IsValid() || got.Zone() != "" || got.Is4In6() {
			t.Errorf("%q: %s", h, got)
		}
		// A client behind the proxy cannot choose: what the proxy appends decides.
		if got := s.source(peer, http.Header{"X-Forwarded-For": {h + ", 203.0.113.9"}}); got.String() != "203.0.113.9" {
			t.Errorf("%q: %s", h, got)
		}
	})
}

func TestHandlersSeeWhoCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		r := start(t, func(w http.ResponseWriter, r *http.Request) {
			p, known := PeerFrom(r.Context())
			fmt.Fprint(w, SourceFrom(r.Context()), " ", p.UID, " ", p.PID, " ", known)
		}, &Server{
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			Credentials:    func(net.Conn) (uint32, int32, bool) { asked++; return 1000, 77, asked == 1 },
		})
		forwarded := strings.Replace(get, "Host: h", "Host: h\r\nX-Forwarded-For: 198.51.100.9", 1)
		for _, c := range []struct{ from, raw, want string }{
			{"", get, "invalid IP 1000 77 true"},
			{"", forwarded, "invalid IP 0 0 false"}, // the kernel did not say
			{"203.0.113.1:9", forwarded, "203.0.113.1 0 0 false"},
			{"10.1.1.1:9", forwarded, "198.51.100.9 0 0 false"},
		} {
			if got := r.ask(c.from, c.raw); !strings.HasSuffix(got, "\r\n\r\n"+c.want) {
				t.Errorf("%q: want %s in %s", c.from, c.want, got)
			}
		}
		if err := r.end(); err != nil || asked != 2 {
			t.Error(err, asked)
		}
		if log := r.logs.String(); !strings.Contains(log, "uid=1000 pid=77") {
			t.Error(log)
		}
	})
}

func TestAccessLogIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, ok, &Server{Limits: Limits{LogRate: 5}})
		for range 100 {
			r.ask("198.51.100.1:9", get)
		}
		if n := strings.Count(r.logs.String(), "msg=request"); n != 10 || r.Stats().LeftOut != 90 {
			t.Errorf("%d lines, %+v", n, r.Stats())
		}
		time.Sleep(time.Second)
		r.ask("198.51.100.1:9", get)
		if !strings.Contains(r.logs.String(), "left_out=90") || r.Stats().LeftOut != 0 {
			t.Error(r.logs.String()[len(r.logs.String())-200:])
		}
		long := strings.Replace(get, "/a?", "/"+strings.Repeat("%0Ax", 5000/4)+"?", 1)
		before := r.logs.Len()
		r.ask("198.51.100.1:9", long)
		if line := r.logs.String()[before:]; strings.Count(line, "\n") != 1 || len(line) > 1000 {
			t.Errorf("%d bytes: %.300s", len(line), line)
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var states bytes.Buffer
		var sick atomic.Bool
		r := start(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, &Server{System: System{
			Notify:   func(s string) { mu.Lock(); defer mu.Unlock(); states.WriteString(s[:1]) },
			Watchdog: 10 * time.Second,
			Alive: func(ctx context.Context) error {
				if sick.Load() {
					return net.ErrClosed
				}
				return nil
			},
		}})
		c := r.dial("198.51.100.1:9")
		fmt.Fprint(c, get)
		time.Sleep(11 * time.Second)
		sick.Store(true)
		time.Sleep(10 * time.Second)
		sick.Store(false)
		if err := r.end(); err != nil { // drains for 20 s
			t.Error(err)
		}
		c.Close()
		got := states.String()
		if strings.Count(got, "W") != 3+4 || strings.Count(got, "R") != 1 || !strings.HasSuffix(got, "SWWWW") {
			t.Error(got)
		}
	})
}
