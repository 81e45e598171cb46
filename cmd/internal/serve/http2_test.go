package serve

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/serve/servetest"
)

// A tlsRig is a server with TLS and a client that trusts its pin.
type tlsRig struct {
	*Server
	door   *servetest.Listener
	trust  *tls.Config
	stop   context.CancelFunc
	err    chan error
	client *http.Client
}

func startTLS(t *testing.T, h http.HandlerFunc, s *Server) *tlsRig {
	t.Helper()
	src, err := pin.SelfSigned(pin.Maker{Dir: filepath.Join(t.TempDir(), "s"), Now: time.Now, Entropy: rand.NewChaCha8([32]byte{})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &tlsRig{Server: s, door: servetest.Listen("192.0.2.1:443"), err: make(chan error, 1)}
	r.trust = pin.Client(pin.Trust{Pins: []pin.Pin{src.Pin()}, Name: "localhost"}, time.Now)
	s.Handler = h
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() {
		r.err <- s.Serve(ctx, Listener{Listener: r.door, TLS: pin.Server(src.Certificate, time.Now)})
	}()
	r.client = &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return r.dial(ctx)
	}}}
	return r
}

// dial makes a TLS connection that has agreed on HTTP/2.
func (r *tlsRig) dial(ctx context.Context) (net.Conn, error) {
	raw, err := r.door.Dial(ctx, "198.51.100.1:9")
	if err != nil {
		return nil, err
	}
	c := tls.Client(raw, r.trust)
	return c, c.HandshakeContext(ctx)
}

func (r *tlsRig) end() error {
	r.stop()
	err := <-r.err
	r.client.CloseIdleConnections()
	return err
}

func TestHTTP2Answers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, r.Proto, " ", SourceFrom(r.Context()), " ", n, " ", err)
		}, &Server{})
		for body, want := range map[int]string{0: "HTTP/2.0 198.51.100.1 0 <nil>", 2 << 20: "HTTP/2.0 198.51.100.1 1048576 http: request body too large"} {
			res, err := r.client.Post("https://h/x", "text/plain", strings.NewReader(strings.Repeat("x", body)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || string(got) != want {
				t.Errorf("%s, %v", got, err)
			}
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

// A body that trickles on HTTP/2 is cut like one on HTTP/1, and the connection's
// other streams live on.
func TestHTTP2SlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
			_, err := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, err)
		}, &Server{})
		body, feed := io.Pipe()
		begin := time.Now()
		res, err := r.client.Post("https://h/x", "text/plain", body)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(res.Body)
		res.Body.Close()
		feed.Close()
		if took := time.Since(begin); took != 10*time.Second || !strings.Contains(string(got), "too slowly") || r.Stats().Slow != 1 {
			t.Errorf("after %s: %s", took, got)
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

// A client that leaves an answer without room loses the stream; one that waits for
// something to be said does not.
func TestHTTP2StalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		r := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/quiet" {
				fmt.Fprint(w, "a")
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Minute)
				fmt.Fprint(w, "b")
				return
			}
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					ended <- err
					return
				}
			}
		}, &Server{})
		res, err := r.client.Get("https://h/quiet")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(res.Body); string(got) != "ab" || err != nil {
			t.Errorf("%s, %v", got, err)
		}
		res.Body.Close()
		begin := time.Now()
		stalled, err := r.client.Get("https://h/flood")
		if err != nil {
			t.Fatal(err)
		}
		<-ended
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("held for %s", took)
		}
		stalled.Body.Close()
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

// A stream that heeds Stopping lets the connection end at once; nothing is left.
func TestHTTP2Stop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			if r.URL.Path == "/heeds" {
				<-Stopping(r.Context())
				return
			}
			<-r.Context().Done()
		}, &Server{})
		var open []*http.Response
		for _, path := range []string{"/heeds", "/hangs"} {
			res, err := r.client.Get("https://h" + path)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, res)
		}
		begin := time.Now()
		if err := r.end(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("took %s", took)
		}
		if _, err := io.ReadAll(open[0].Body); err != nil {
			t.Errorf("the stream that heeds: %v", err)
		}
		if _, err := io.ReadAll(open[1].Body); err == nil {
			t.Error("the stream that hangs ended as if it were whole")
		}
		for _, res := range open {
			res.Body.Close()
		}
	})
}

// frame writes one frame of HTTP/2 (RFC 9113, section 4.1).
func frame(b []byte, kind, flags byte, stream uint32, payload string) []byte {
	n := len(payload)
	b = append(b, byte(n>>16), byte(n>>8), byte(n), kind, flags)
	b = binary.BigEndian.AppendUint32(b, stream)
	return append(b, payload...)
}

// TestRapidReset opens streams and resets each at once, on one connection, as in
// CVE-2023-44487.
func TestRapidReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began, most, now atomic.Int64
		r := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
			began.Add(1)
			most.Store(max(most.Load(), now.Add(1)))
			<-r.Context().Done()
			time.Sleep(10 * time.Millisecond) // work that does not stop at once
			now.Add(-1)
		}, &Server{})
		c, err := r.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = io.Copy(io.Discard, c)
		}()
		const headers = "\x82\x87\x84\x41\x01h" // GET https / with :authority h
		hello := frame([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 4, 0, 0, "")
		if _, err := c.Write(hello); err != nil {
			t.Fatal(err)
		}
		sent := 0
		for ; sent < 20_000; sent++ {
			id := uint32(2*sent + 1)
			pair := frame(frame(nil, 1, 5, id, headers), 3, 0, id, "\x00\x00\x00\x08")
			if _, err = c.Write(pair); err != nil {
				break
			}
			if sent%50 == 49 { // slowly enough that net/http's own bound is not met
				time.Sleep(20 * time.Millisecond)
			}
		}
		c.Close()
		<-gone
		synctest.Wait()
		if s := r.Stats(); s.Resets == 0 || sent > 1000 || most.Load() > 100 {
			t.Errorf("%+v; sent %d, began %d, at most %d at a time", s, sent, began.Load(), most.Load())
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}
