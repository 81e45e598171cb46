package sessions

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/liveness/session"
)

// Limits bound the sessions that are open. A zero field takes its default.
type Limits struct {
	All       int // default 4096
	PerSource int // from one IPv4 address or one IPv6 /64; default 64
}

// A Handler serves sessions, best at [Path]. Who may connect is for the handler
// around it to decide; what that puts into the request's context, Serve finds there.
// It must not be copied once it serves.
type Handler struct {
	Now    func() time.Time
	Log    *slog.Logger // default: none
	Limits Limits
	// Serve runs a session, on the request's goroutine: it ranges over the events
	// and returns. It ends no later than its context, or when the server stops
	// (serve.Stopping): then the agent is told to come again.
	Serve func(context.Context, *Conn)

	mu   sync.Mutex
	open map[netip.Prefix]int
	all  int
}

// Open is how many sessions there are now.
func (h *Handler) Open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all
}

// ServeHTTP upgrades the connection and runs its session.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !asks(r) {
		refuse(w, api.NewProblem("INVALID_INPUT", "this is the address of sessions: a WebSocket over HTTP/1.1, subprotocol "+Subprotocol))
		return
	}
	source := sourceOf(serve.SourceFrom(r.Context()))
	if why := h.enter(source); why != "" {
		p := api.NewProblem("RATE_LIMITED", why)
		p.RetryAfter = 10
		refuse(w, p)
		return
	}
	defer h.leave(source)
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}})
	if err != nil { // the answer is given
		h.log(r.Context(), "a session was not opened", err)
		return
	}
	c := newLink(r.Context(), ws, session.NewServer(h.Now()), h.Now)
	c.stop, c.goodbye, c.polite = serve.Stopping(r.Context()), goodbye, true
	defer c.abandon()
	h.Serve(r.Context(), c)
	h.log(r.Context(), "a session has ended", c.err)
}

func goodbye(s *session.Server) {
	s.Bye("UNAVAILABLE", "this server stops; connect again")
}

func (h *Handler) log(ctx context.Context, what string, err error) {
	if h.Log == nil {
		return
	}
	why := "by this server"
	if err != nil {
		why = err.Error()
	}
	h.Log.LogAttrs(ctx, slog.LevelDebug, what, slog.String("source", serve.SourceFrom(ctx).String()), slog.String("why", why))
}

// asks reports whether a request is for a session at all.
func asks(r *http.Request) bool {
	if r.ProtoMajor != 1 || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return false
	}
	names := strings.Split(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), ",")
	return slices.ContainsFunc(names, func(n string) bool { return strings.TrimSpace(n) == Subprotocol })
}

// sourceOf is what an address counts as; invalid for none.
func sourceOf(a netip.Addr) netip.Prefix {
	bits := 64
	if a = a.Unmap(); a.Is4() {
		bits = 32
	}
	p, _ := a.WithZone("").Prefix(bits) // of no address: none
	return p
}

// enter makes room for a session, or says why there is none.
func (h *Handler) enter(source netip.Prefix) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.all >= orElse(h.Limits.All, 4096):
		return "there are as many sessions as this server takes; try again"
	case source.IsValid() && h.open[source] >= orElse(h.Limits.PerSource, 64):
		return "there are as many sessions from this address as one may have; try again"
	}
	if h.open == nil {
		h.open = map[netip.Prefix]int{}
	}
	h.all++
	h.open[source]++
	return ""
}

func (h *Handler) leave(source netip.Prefix) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all--
	if h.open[source]--; h.open[source] == 0 {
		delete(h.open, source)
	}
}

func orElse(n, or int) int {
	if n == 0 {
		return or
	}
	return n
}

func refuse(w http.ResponseWriter, p *api.Problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // whoever asked may be gone
}
