package pin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/serve/servetest"
)

func entropy(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }

func maker(t *testing.T, seed byte, names ...string) Maker {
	return Maker{Dir: filepath.Join(t.TempDir(), "state"), Names: names, Now: time.Now, Entropy: entropy(seed)}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func must(p *tls.Certificate, err error) *tls.Certificate {
	if err != nil {
		panic(err)
	}
	return p
}

// handshake connects a client and a server in memory and returns the error of each.
func handshake(server, client *tls.Config) (serverErr, clientErr error) {
	a, b := servetest.Pipe(&net.TCPAddr{}, &net.TCPAddr{})
	done := make(chan error, 1)
	go func() {
		s := tls.Server(a, server)
		err := s.Handshake()
		a.Close()
		done <- err
	}()
	c := tls.Client(b, client)
	clientErr = c.Handshake()
	if clientErr == nil { // in TLS 1.3 the server's verdict comes with the first read
		_, err := c.Read(make([]byte, 1))
		if !errors.Is(err, io.EOF) {
			clientErr = err
		}
	}
	b.Close()
	return <-done, clientErr
}

func TestPinnedHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, err := SelfSigned(maker(t, 1), quiet())
		if err != nil {
			t.Fatal(err)
		}
		other := Pin{1}
		for name, c := range map[string]struct {
			trust Trust
			want  any
		}{
			"the pin":         {Trust{Pins: []Pin{src.Pin()}}, nil},
			"one of the pins": {Trust{Pins: []Pin{other, src.Pin()}}, nil},
			"another pin":     {Trust{Pins: []Pin{other}, Name: "h"}, &Mismatch{}},
			"no pin":          {Trust{Name: "localhost"}, x509.UnknownAuthorityError{}},
		} {
			_, err := handshake(Server(src.Certificate, time.Now), Client(c.trust, time.Now))
			if c.want == nil && err != nil || c.want != nil && err == nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, ok := c.want.(*Mismatch); ok {
				e, is := errors.AsType[*Mismatch](err)
				if !is || e.Presented != src.Pin() || e.Code() != "UNAUTHENTICATED" || !strings.Contains(e.Error(), "h presented the key "+src.Pin().String()+", and the client trusts "+other.String()) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
}

// A pin is a promise about a key: dates are no part of it. Without a pin they are.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := maker(t, 1)
		if err := m.Ensure(); err != nil {
			t.Fatal(err)
		}
		pair := must(m.Load())
		roots := x509.NewCertPool()
		roots.AddCert(pair.Leaf)
		show := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair, nil }
		pinned := Client(Trust{Pins: []Pin{Of(pair.Leaf)}}, time.Now)
		rooted := Client(Trust{Name: "localhost", Roots: roots}, time.Now)
		if _, err := handshake(Server(show, time.Now), rooted); err != nil {
			t.Fatal(err)
		}
		if _, err := handshake(Server(show, time.Now), Client(Trust{Name: "elsewhere", Roots: roots}, time.Now)); err == nil {
			t.Error("a certificate for another name was taken")
		}
		time.Sleep(validity + time.Hour)
		_, err := handshake(Server(show, time.Now), rooted)
		if e, ok := errors.AsType[x509.CertificateInvalidError](err); !ok || e.Reason != x509.Expired {
			t.Errorf("after its end: %v", err)
		}
		if _, err := handshake(Server(show, time.Now), pinned); err != nil {
			t.Errorf("pinned, after its end: %v", err)
		}
	})
}

func TestOldVersionsAndTickets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, err := SelfSigned(maker(t, 1), quiet())
		if err != nil {
			t.Fatal(err)
		}
		old := Client(Trust{Pins: []Pin{src.Pin()}}, time.Now)
		old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		serverErr, err := handshake(Server(src.Certificate, time.Now), old)
		if err == nil || serverErr == nil || !strings.Contains(err.Error(), "protocol version not supported") {
			t.Errorf("TLS 1.2: server %v, client %v", serverErr, err)
		}
		oldServer := Server(src.Certificate, time.Now)
		oldServer.MinVersion, oldServer.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		if _, err := handshake(oldServer, Client(Trust{Pins: []Pin{src.Pin()}}, time.Now)); err == nil {
			t.Error("our client spoke TLS 1.2")
		}
		resuming := Client(Trust{Pins: []Pin{src.Pin()}}, time.Now)
		resuming.ClientSessionCache = &counted{}
		if _, err := handshake(Server(src.Certificate, time.Now), resuming); err != nil {
			t.Fatal(err)
		}
		if n := resuming.ClientSessionCache.(*counted).puts; n != 0 {
			t.Errorf("%d tickets", n)
		}
	})
}

type counted struct{ puts int }

func (c *counted) Get(string) (*tls.ClientSessionState, bool) { return nil, false }
func (c *counted) Put(string, *tls.ClientSessionState)        { c.puts++ }

func TestEnsure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := maker(t, 1, "a.example", "192.0.2.1")
		first := ensured(t, m)
		for path, want := range map[string]os.FileMode{m.Dir: 0o700, m.KeyPath(): 0o600, m.CertificatePath(): 0o600} {
			fi, err := os.Stat(path)
			if err != nil || fi.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", path, fi.Mode(), err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(m.Dir, ".*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		for _, name := range []string{"a.example", "192.0.2.1"} {
			if err := first.VerifyHostname(name); err != nil {
				t.Error(err)
			}
		}
		if again := ensured(t, m); !again.Equal(first) {
			t.Error("a good certificate was made anew")
		}
		m.Names = append(m.Names, "b.example")
		second := ensured(t, m)
		if second.Equal(first) || Of(second) != Of(first) || second.VerifyHostname("b.example") != nil {
			t.Error("another name: want another certificate for the same key")
		}
		time.Sleep(validity - renewal - time.Hour)
		if third := ensured(t, m); !third.Equal(second) {
			t.Error("made anew too early")
		}
		time.Sleep(2 * time.Hour)
		if third := ensured(t, m); third.Equal(second) || Of(third) != Of(first) || time.Until(third.NotAfter) != validity {
			t.Error("not renewed a year before its end")
		}
	})
}

func ensured(t *testing.T, m Maker) *x509.Certificate {
	t.Helper()
	if err := m.Ensure(); err != nil {
		t.Fatal(err)
	}
	return must(m.Load()).Leaf
}

// The key comes from the entropy that was handed in, and from nothing else.
func TestKeyIsDrawnFromEntropy(t *testing.T) {
	a, b, c := ensured(t, maker(t, 7)), ensured(t, maker(t, 7)), ensured(t, maker(t, 8))
	if Of(a) != Of(b) || Of(a) == Of(c) {
		t.Errorf("%s %s %s", Of(a), Of(b), Of(c))
	}
	m := maker(t, 1)
	m.Entropy = strings.NewReader("too short")
	if err := m.Ensure(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("short entropy: %v", err)
	}
	if left, _ := os.ReadDir(m.Dir); len(left) != 0 {
		t.Errorf("a failure left %v", left)
	}
}

// A first runs once, before the bytes come.
type first struct {
	io.Reader
	run func()
}

func (f *first) Read(p []byte) (int, error) {
	if f.run != nil {
		f.run()
		f.run = nil
	}
	return f.Reader.Read(p)
}

// Two processes at their first start end up with one key: the one that was first.
func TestFirstStartTwice(t *testing.T) {
	other := maker(t, 1)
	m := other
	var made Pin
	m.Entropy = &first{entropy(2), func() { made = Of(ensured(t, other)) }}
	if got := Of(ensured(t, m)); got != made || made == (Pin{}) {
		t.Errorf("%s, and the first was %s", got, made)
	}
}

func TestChainsAreBounded(t *testing.T) {
	leaf := ensured(t, maker(t, 1))
	trust := Trust{Pins: []Pin{Of(leaf)}}
	for n, good := range map[int]bool{0: false, 1: true, maxChain: true, maxChain + 1: false} {
		err := trust.verify(tls.ConnectionState{PeerCertificates: slices.Repeat([]*x509.Certificate{leaf}, n)})
		if _, is := errors.AsType[*NoCertificate](err); is == good {
			t.Errorf("%d certificates: %v", n, err)
		}
	}
}

func TestFilesThatCannotServe(t *testing.T) {
	for name, c := range map[string]struct {
		break_ func(m Maker) error
		want   string
	}{
		"a key for the group": {func(m Maker) error { return os.Chmod(m.KeyPath(), 0o640) }, "has mode 0640, want 0600 or less"},
		"a key for all":       {func(m Maker) error { return os.Chmod(m.KeyPath(), 0o604) }, "has mode 0604, want 0600 or less"},
		"no key in it":        {func(m Maker) error { return os.WriteFile(m.KeyPath(), []byte("x"), 0o600) }, "holds no private key: no PEM block"},
		"no PKCS #8 in it":    {func(m Maker) error { return os.WriteFile(m.KeyPath(), pemOf("PRIVATE KEY", "x"), 0o600) }, "holds no private key: no PKCS #8 key"},
		"a folder": {func(m Maker) error {
			return errors.Join(os.Remove(m.KeyPath()), os.Mkdir(m.KeyPath(), 0o700))
		}, "cannot be read: it is no regular file"},
		"too large": {func(m Maker) error { return os.Truncate(m.KeyPath(), maxPEM+1) }, "it is too large"},
	} {
		m := maker(t, 1)
		ensured(t, m)
		if err := c.break_(m); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Stat(m.KeyPath())
		err := m.Ensure()
		coded, ok := errors.AsType[interface {
			error
			Code() string
		}](err)
		if !ok || coded.Code() != "INVALID_CONFIG" || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), m.KeyPath()) {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.Stat(m.KeyPath()); !os.SameFile(before, after) {
			t.Errorf("%s: the key was replaced", name)
		}
	}
}

func pemOf(kind, body string) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(body)})
}

// A record keeps what is logged.
type record struct {
	slog.Handler
	lines *[]string
}

func (r record) Enabled(context.Context, slog.Level) bool { return true }
func (r record) Handle(_ context.Context, l slog.Record) error {
	*r.lines = append(*r.lines, l.Message)
	return nil
}

func TestOwnCertificateIsReloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, next := maker(t, 1), maker(t, 2)
		ensured(t, m)
		ensured(t, next)
		var lines []string
		src, err := Own(m.CertificatePath(), m.KeyPath(), time.Now, slog.New(record{slog.DiscardHandler, &lines}))
		if err != nil {
			t.Fatal(err)
		}
		shown := func() Pin { return Of(must(src.Certificate(nil)).Leaf) }
		first := shown()
		swap(t, next.CertificatePath(), m.CertificatePath())
		if shown() != first || src.Err() != nil {
			t.Error("looked again within a minute")
		}
		time.Sleep(recheck)
		for range 3 { // the key does not go with it yet
			if shown() != first || src.Err() == nil {
				t.Errorf("half a change was taken up: %v", src.Err())
			}
			time.Sleep(recheck)
		}
		swap(t, next.KeyPath(), m.KeyPath())
		if want := Of(must(next.Load()).Leaf); shown() != want || src.Err() != nil || src.Pin() != want {
			t.Errorf("the new pair is not shown: %v", src.Err())
		}
		if err := os.Remove(m.KeyPath()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(recheck)
		if shown() == first || src.Err() == nil {
			t.Error("a missing file went unnoticed")
		}
		swap(t, next.KeyPath(), m.KeyPath())
		time.Sleep(recheck)
		if shown(); src.Err() != nil {
			t.Error(src.Err())
		}
		if got := strings.Join(lines, ", "); got != "the old certificate stays, new certificate, the old certificate stays, new certificate" {
			t.Error(got)
		}
	})
}

// swap copies a file over another, as a rename would.
func swap(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to+".new", raw, 0o600)
	}
	if err = errors.Join(err, os.Rename(to+".new", to)); err != nil {
		t.Fatal(err)
	}
}

// A server that runs for nine years renews its own certificate and keeps its pin.
func TestSelfSignedRenewsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, err := SelfSigned(maker(t, 1), quiet())
		if err != nil {
			t.Fatal(err)
		}
		end, pin := src.NotAfter(), src.Pin()
		time.Sleep(validity - renewal + time.Hour)
		must(src.Certificate(nil))
		if !src.NotAfter().After(end) || src.Pin() != pin {
			t.Errorf("ends %s, pin %s; before %s, %s", src.NotAfter(), src.Pin(), end, pin)
		}
	})
}

func TestParse(t *testing.T) {
	p := Of(ensured(t, maker(t, 1)))
	if got, err := Parse(p.String()); err != nil || got != p || len(p.String()) != 51 {
		t.Errorf("%s: %s, %v", p, got, err)
	}
	for _, bad := range []string{"", "sha256/", p.String()[7:], p.String() + "A", p.String()[:50], "SHA256/" + p.String()[7:], p.String() + "\n", strings.Replace(p.String(), "sha256/", "sha256/\n", 1)} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Pin{1, 2, 3}.String())
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := Parse(s); err == nil && p.String() != s {
			t.Errorf("%q is read as %s", s, p)
		}
	})
}
