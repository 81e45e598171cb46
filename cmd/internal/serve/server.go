// Package serve is the shell around the handlers of a daemon: it bounds what a
// client may hold (connections, streams, headers, time), knows where a request came
// from, survives what a handler throws, and stops so that nothing is left running.
//
// It opens nothing: listeners come in, and the whole runs in a testing/synctest
// bubble.
package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// A Listener is one door: TLS where a configuration is given, plain HTTP otherwise.
// Callers of a Unix socket are known by their credentials.
type Listener struct {
	net.Listener
	TLS *tls.Config
}

// A Server serves Handler on any number of listeners. Its zero fields take their
// defaults, but for Handler. Serve is called once.
type Server struct {
	Handler http.Handler
	Log     *slog.Logger // default: none
	Limits  Limits
	// TrustedProxies are those whose X-Forwarded-For is believed. They are not
	// held to Limits.PerSource.
	TrustedProxies []netip.Prefix
	// Credentials tells who is at the other end of a Unix socket. It is called
	// once a connection. Default: nobody is known.
	Credentials func(net.Conn) (uid uint32, pid int32, ok bool)
	// Done hears of every request that has ended. It must not wait.
	Done func(Done)
	// Logged is what the access log says of a request's target; default its path.
	Logged func(*http.Request) string
	System System

	gate     gate
	stopping chan struct{} // closed when the stop begins
	handlers tally
	conns    tally
	panics   counter
	slow     counter
	resets   counter
	access   limiter
}

// Done is a request that has ended.
type Done struct {
	Request *http.Request
	Status  int   // 0 when the connection was taken over or cut before an answer
	Bytes   int64 // of the answer's body
	Took    time.Duration
}

// Serve serves until ctx ends, and then stops: it accepts nothing more, tells the
// streams (Stopping), waits Limits.Drain for requests to end, cuts what is left and
// waits for it. It returns nil after such a stop, *Stuck when a handler did not end,
// and what a listener failed with otherwise. It closes the listeners.
func (s *Server) Serve(ctx context.Context, listeners ...Listener) error {
	s.prepare()
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(http.ErrServerClosed)
	srv := s.http(base)
	failed := make(chan error, len(listeners))
	var accepting sync.WaitGroup
	for _, l := range listeners {
		accepting.Go(func() {
			if err := srv.Serve(s.gated(l)); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	defer s.System.watch(ctx)()
	s.System.notify(ready)
	err := s.run(ctx, failed)
	err = errors.Join(err, s.stop(ctx, srv, cut))
	accepting.Wait()
	return err
}

// run waits for the end of ctx or of a listener.
func (s *Server) run(ctx context.Context, failed <-chan error) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return &Failed{err}
	}
}

func (s *Server) prepare() {
	s.Limits = s.Limits.filled()
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.Logged == nil {
		s.Logged = func(r *http.Request) string { return r.URL.Path }
	}
	s.gate.limits, s.gate.exempt = s.Limits, s.trusted
	s.stopping = make(chan struct{})
}

// http is the server of net/http that does the work.
func (s *Server) http(base context.Context) *http.Server {
	return &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: s.Limits.Header,
		IdleTimeout:       s.Limits.Idle,
		MaxHeaderBytes:    s.Limits.HeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: s.Limits.Streams,
			SendPingTimeout:      30 * time.Second,
			PingTimeout:          15 * time.Second,
			// A body waits in memory until its handler reads it.
			MaxReceiveBufferPerConnection: 1 << 20,
			MaxReceiveBufferPerStream:     256 << 10,
		},
		ErrorLog:    slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return base },
		ConnContext: withConn,
		ConnState:   s.conns.follow,
	}
}
