package httpboot

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// A Request is what a client asks for.
type Request struct {
	Source netip.Addr     // the client's
	Local  netip.AddrPort // the address of ours that it reached; zero if that is not known
	Path   string         // as CleanPath returns it; it may hold a token, so keep it out of logs
	Head   bool           // it asks for the headers alone
}

// A Transfer is how a request ended.
type Transfer struct {
	Request  Request // without a path where the client's was refused
	Status   int     // of HTTP
	Bytes    int64   // of the body, as handed to the kernel
	Duration time.Duration
	Err      error // why it broke off, or why it was refused; nil where all was sent
}

// Whole reports whether the client was sent all of the content in one answer.
func (t Transfer) Whole() bool { return t.Status == http.StatusOK && t.Err == nil && !t.Request.Head }

// A Handler serves boot files. Its fields must not change once it serves; it is safe
// for concurrent use.
type Handler struct {
	// Resolve returns what a client is served. An error with the code UNAVAILABLE or
	// RATE_LIMITED, or the end of a deadline, becomes 503 with Retry-After; every
	// other, fs.ErrNotExist and *Denied among them, 404 without a reason.
	Resolve func(context.Context, Request) (Content, error)

	Done   func(Transfer) // called once for each request, by its goroutine; may be nil
	Log    *slog.Logger   // errors of Resolve that have no code; nil for none
	Limits Limits

	busy gauge
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	a := &answer{w: w, head: r.Method == http.MethodHead, stall: h.Limits.stall()}
	a.extend()
	if r.ContentLength != 0 {
		a.noBody()
	}
	q := Request{Source: source(r), Local: local(r), Head: a.head}
	if h.Done != nil {
		defer func() {
			h.Done(Transfer{q, cmp.Or(a.status, http.StatusInternalServerError), a.sent, time.Since(start), a.err})
		}()
	}
	if r.Method != http.MethodGet && !a.head {
		w.Header().Set("Allow", "GET, HEAD")
		a.refuse(http.StatusMethodNotAllowed, &Denied{"the method is neither GET nor HEAD"})
		return
	}
	path, ok := CleanPath(r.URL.Path)
	if !ok {
		a.refuse(http.StatusNotFound, &Denied{"the path is not local"})
		return
	}
	q.Path = path
	if !h.busy.enter(q.Source, h.Limits) {
		a.unavailable(&Unavailable{})
		return
	}
	defer h.busy.leave(q.Source)
	c, err := h.Resolve(r.Context(), q)
	if err != nil {
		h.fail(a, q, err)
		return
	}
	defer c.close()
	a.serve(r, c)
}

// fail answers for an error of Resolve.
func (h *Handler) fail(a *answer, q Request, err error) {
	switch kindOf(err) {
	case passing:
		a.unavailable(err)
		return
	case unknown:
		if h.Log != nil {
			h.Log.Error("a boot file could not be resolved", "source", q.Source, "error", err)
		}
	}
	a.refuse(http.StatusNotFound, err)
}

func source(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

func local(r *http.Request) netip.AddrPort {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if at == nil {
		return netip.AddrPort{}
	}
	out, err := netip.ParseAddrPort(at.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(out.Addr().Unmap(), out.Port())
}
