package serve

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// A Peer is a local caller, as the kernel knows it at the time of connecting.
type Peer struct {
	UID uint32
	PID int32 // for logs; another process may have it by now
}

// PeerFrom is the caller of a request on a Unix socket; false on any other.
func PeerFrom(ctx context.Context) (Peer, bool) {
	c := connOf(ctx)
	if c == nil || !c.known {
		return Peer{}, false
	}
	return c.peer, true
}

type sourceKey struct{}

// SourceFrom is the address that a request came from: the peer's, or, where the
// peer is a trusted proxy, the last one in X-Forwarded-For that is none. It is
// invalid on a Unix socket.
func SourceFrom(ctx context.Context) netip.Addr {
	a, _ := ctx.Value(sourceKey{}).(netip.Addr)
	return a
}

type stoppingKey struct{}

// Stopping is closed when the server begins to stop: a stream that lasts ends then,
// so that its client goes elsewhere. It is nil, and never closed, outside a request.
func Stopping(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(stoppingKey{}).(chan struct{})
	return c
}

// trusted reports whether a is a proxy that is believed.
func (s *Server) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(s.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// maxHops is how many proxies in a row are followed.
const maxHops = 16

// source walks from the peer towards the client for as long as proxies that are
// trusted say who was before them. What is no address ends the walk.
func (s *Server) source(peer netip.Addr, h http.Header) netip.Addr {
	if !s.trusted(peer) {
		return peer
	}
	list := strings.Split(strings.Join(h.Values("X-Forwarded-For"), ","), ",")
	at := peer
	for i := 0; i < min(len(list), maxHops); i++ {
		a, err := netip.ParseAddr(strings.TrimSpace(list[len(list)-1-i]))
		if err != nil {
			return at
		}
		if at = a.Unmap().WithZone(""); !s.trusted(at) {
			return at
		}
	}
	return at
}

// withOrigin gives a request what handlers ask for.
func (s *Server) withOrigin(r *http.Request) *http.Request {
	ctx := context.WithValue(r.Context(), stoppingKey{}, s.stopping)
	if c := connOf(ctx); c != nil && c.addr.IsValid() {
		ctx = context.WithValue(ctx, sourceKey{}, s.source(c.addr, r.Header))
	}
	return r.WithContext(ctx)
}
