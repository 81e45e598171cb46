package bmcsim

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// listen is a socket on loopback.
func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	return ln
}

// serving runs serve until the fleet is closed.
func serving(t testing.TB, f *Fleet, serve func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- serve() }()
	t.Cleanup(func() {
		must(t, f.Close())
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// client trusts an authority alone.
func client(t testing.TB, f *Fleet) *http.Client {
	t.Helper()
	a, err := f.Authority()
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(a.Certificate())
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

// Many BMCs on one listener are told apart by host, with TLS and without.
func TestFleetByHost(t *testing.T) {
	for _, kind := range []TLSKind{TLSOff, TLSAuthority} {
		f := NewFleet(rand.Reader, nil)
		tree, scheme := load(t, "openbmc-stock-2.15-off"), "http"
		for _, name := range []string{"m1.test", "m2.test"} {
			_, err := f.Add(Spec{Name: name, Tree: tree, TLS: TLS{Kind: kind}})
			must(t, err)
		}
		ln := listen(t)
		serving(t, f, func() error { return f.Serve(ln) })
		c := client(t, f)
		c.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, ln.Addr().String())
		}
		if kind != TLSOff {
			scheme = "https"
		}
		for host, want := range map[string]int{"m1.test": 200, "M2.TEST:8443": 200, "m3.test": 421} {
			resp, err := c.Get(scheme + "://" + host + "/redfish/v1")
			if want == 421 && kind != TLSOff {
				if err == nil {
					t.Error("a host that is none shakes hands")
				}
				continue
			}
			must(t, err)
			if _ = resp.Body.Close(); resp.StatusCode != want {
				t.Errorf("%s: %d", host, resp.StatusCode)
			}
		}
		if n := f.BMC("m2.test").Stats().Total; n != 1 {
			t.Errorf("m2 was asked %d times", n)
		}
	}
}

// Each kind of certificate is refused for its own reason.
func TestTLSKinds(t *testing.T) {
	f := NewFleet(rand.Reader, nil)
	tree := load(t, "openbmc-stock-2.15-off")
	a, err := f.Authority()
	must(t, err)
	given, err := TLS{Kind: TLSAuthority}.certificate(rand.Reader, "given", a, time.Now())
	must(t, err)
	for _, c := range []struct {
		tls  TLS
		want func(error) bool
	}{
		{TLS{Kind: TLSAuthority}, func(err error) bool { return err == nil }},
		{TLS{Kind: TLSAuthority, TLS12: true}, func(err error) bool { return err == nil }},
		{TLS{Kind: TLSGiven, Certificate: given}, func(err error) bool { return err == nil }},
		{TLS{Kind: TLSSelfSigned}, func(err error) bool { _, ok := errors.AsType[x509.UnknownAuthorityError](err); return ok }},
		{TLS{Kind: TLSExpired}, func(err error) bool {
			e, ok := errors.AsType[x509.CertificateInvalidError](err)
			return ok && e.Reason == x509.Expired
		}},
		{TLS{Kind: TLSWrongName}, func(err error) bool { _, ok := errors.AsType[x509.HostnameError](err); return ok }},
	} {
		name := fmt.Sprintf("%s-%t", c.tls.Kind, c.tls.TLS12)
		_, err := f.Add(Spec{Name: name, Tree: tree, TLS: c.tls})
		must(t, err)
		ln := listen(t)
		go func() { _ = f.ServeOne(ln, name) }() // Close waits for it
		resp, err := client(t, f).Get("https://" + ln.Addr().String() + "/redfish/v1")
		if err == nil {
			if want := map[bool]uint16{true: tls.VersionTLS12, false: tls.VersionTLS13}[c.tls.TLS12]; resp.TLS.Version != want {
				t.Errorf("%s: version %x", name, resp.TLS.Version)
			}
			_ = resp.Body.Close()
		}
		if !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, f.Close())
}

// A BMC may have another key after it restarted, and is not there in between.
func TestNewKeyAfterRestart(t *testing.T) {
	f := NewFleet(rand.Reader, nil)
	b, err := f.Add(Spec{Name: "b", Tree: load(t, "openbmc-stock-2.15-off"), TLS: TLS{Kind: TLSSelfSigned, NewKey: true}})
	must(t, err)
	ln := listen(t)
	serving(t, f, func() error { return f.ServeOne(ln, "b") })
	key := func() string {
		c, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		must(t, err)
		defer c.Close()
		return string(c.ConnectionState().PeerCertificates[0].RawSubjectPublicKeyInfo)
	}
	first := key()
	if key() != first {
		t.Error("the key changes by itself")
	}
	b.Reboot()
	if key() == first {
		t.Error("the key is the same")
	}
	b.mu.Lock()
	b.o.Load.Rebooting = time.Hour
	b.mu.Unlock()
	b.Reboot()
	if _, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true}); err == nil {
		t.Error("it is there while it restarts")
	}
}

func TestFleetRefuses(t *testing.T) {
	f := NewFleet(rand.Reader, nil)
	tree := load(t, "openbmc-stock-2.15-off")
	_, err := f.Add(Spec{Name: "a", Tree: tree})
	must(t, err)
	for _, s := range []Spec{{Name: "A", Tree: tree}, {Tree: tree}, {Name: "b", Tree: tree, TLS: TLS{Kind: "odd"}}, {Name: "b", Tree: tree, TLS: TLS{Kind: TLSGiven}},
		{Name: "b", Tree: tree, TLS: TLS{Kind: TLSExpired, NewKey: true}}, {Name: "b", Tree: tree, Options: Options{LogSize: -1}}} {
		_, err := f.Add(s)
		if e, ok := errors.AsType[*OptionError](err); !ok || e.Code() != "INVALID_CONFIG" {
			t.Errorf("%+v: %v", s.TLS, err)
		}
	}
	if err := f.ServeOne(listen(t), "nobody"); err == nil {
		t.Error("it serves nobody")
	}
	if got := strings.Join(f.Names(), " "); got != "a" {
		t.Error(got)
	}
	must(t, f.Close())
	if _, err := f.Add(Spec{Name: "c", Tree: tree}); !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if err := f.Serve(listen(t)); !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// BenchmarkFleet measures what BMCs over one tree cost, each with TLS on a port of its
// own, asked once, and its connection kept: bytes of heap and stack a BMC, the client's end
// among them. INGOT_BMCS says how many.
func BenchmarkFleet(b *testing.B) {
	n := 200
	if s := os.Getenv("INGOT_BMCS"); s != "" {
		_, err := fmt.Sscan(s, &n)
		must(b, err)
	}
	tree := load(b, r750)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f := NewFleet(rand.Reader, nil)
		var wait sync.WaitGroup
		var conns []*tls.Conn
		for i := range n {
			name := fmt.Sprint("b", i)
			_, err := f.Add(Spec{Name: name, Tree: tree, TLS: TLS{Kind: TLSSelfSigned}})
			must(b, err)
			ln := listen(b)
			wait.Go(func() { _ = f.ServeOne(ln, name) })
			c, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true})
			must(b, err)
			conns = append(conns, c)
			_, err = fmt.Fprintf(c, "GET /redfish/v1 HTTP/1.1\r\nHost: b\r\n\r\n")
			must(b, err)
			var head [4096]byte
			_, err = c.Read(head[:])
			must(b, err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/float64(n), "B/BMC")
		must(b, f.Close())
		wait.Wait()
		for _, c := range conns {
			_ = c.Close()
		}
	}
}
