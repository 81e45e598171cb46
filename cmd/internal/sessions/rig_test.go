package sessions_test

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/liveness/session"
)

const (
	uuid  = "6b1f2c3d-0000-4000-8000-000000000001"
	every = 5 * time.Second
)

// A rig is a server of sessions and how to reach it.
type rig struct {
	handler *sessions.Handler
	target  sessions.Target
	dial    sessions.Dialer
	net     *simnet.Net // nil over loopback
	stop    context.CancelFunc
	served  chan error
	ended   chan error // of each session at the server
}

// start serves h on l.
func start(t *testing.T, l net.Listener, h *sessions.Handler) *rig {
	t.Helper()
	src, err := pin.SelfSigned(pin.Maker{Dir: filepath.Join(t.TempDir(), "s"), Now: time.Now, Entropy: rand.NewChaCha8([32]byte{})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{handler: h, served: make(chan error, 1), ended: make(chan error, 100)}
	r.target = sessions.Target{URL: "https://" + l.Addr().String(), Pins: []pin.Pin{src.Pin()}, Hello: session.Hello{Server: uuid}}
	h.Now = time.Now
	if inner := h.Serve; inner == nil {
		h.Serve = func(ctx context.Context, c *sessions.Conn) { r.ended <- greet(c) }
	} else {
		h.Serve = func(ctx context.Context, c *sessions.Conn) { inner(ctx, c); r.ended <- c.Err() }
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	s := &serve.Server{Handler: h}
	go func() {
		r.served <- s.Serve(ctx, serve.Listener{Listener: l, TLS: pin.Server(src.Certificate, time.Now)})
	}()
	return r
}

// greet welcomes an agent and answers its announces and sentinels.
func greet(c *sessions.Conn) error {
	for e := range c.Events() {
		switch e := e.(type) {
		case session.Hello:
			c.Machine().Welcome(every, c.Now())
		case session.Announce:
			c.Machine().Announced("awaiting_setup")
		case session.Sentinel:
			c.Machine().Done(e.Epoch, "approved")
		}
	}
	return c.Err()
}

// bubble runs f in a bubble with a net and a rig at booter:443.
func bubble(t *testing.T, h *sessions.Handler, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(1, simnet.Options{})
		defer n.Close()
		l, err := n.Listen("tcp", "booter:443")
		if err != nil {
			t.Fatal(err)
		}
		r := start(t, l, h)
		r.net, r.dial, r.target.URL = n, n.Host("node").DialContext, "https://booter:443"
		f(t, r)
		r.stop()
		if err := <-r.served; err != nil {
			t.Error(err)
		}
		if n := h.Open(); n != 0 {
			t.Errorf("%d sessions are still counted", n)
		}
	})
}

// loopback runs f over a real socket.
func loopback(t *testing.T, h *sessions.Handler, f func(t *testing.T, r *rig)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, l, h)
	r.dial = (&net.Dialer{}).DialContext
	f(t, r)
	r.stop()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
}

func (r *rig) open(t *testing.T) *sessions.Agent {
	t.Helper()
	a, err := sessions.Dial(t.Context(), r.target, r.dial, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// startFront serves another handler over loopback.
func startFront(t *testing.T, front http.Handler) *rig {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	src, err := pin.SelfSigned(pin.Maker{Dir: filepath.Join(t.TempDir(), "s"), Now: time.Now, Entropy: rand.NewChaCha8([32]byte{1})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{served: make(chan error, 1)}
	r.target = sessions.Target{URL: "https://" + l.Addr().String(), Pins: []pin.Pin{src.Pin()}, Hello: session.Hello{Server: uuid}}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	s := &serve.Server{Handler: front}
	go func() {
		r.served <- s.Serve(ctx, serve.Listener{Listener: l, TLS: pin.Server(src.Certificate, time.Now)})
	}()
	return r
}
