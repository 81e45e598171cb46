package httpboot

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// stretch is how much is sent before the time to take it begins anew.
const stretch = 1 << 20

// An answer is the response to one request. It is the http.ResponseWriter of
// http.ServeContent, whose refusals it words itself, and counts what is sent.
type answer struct {
	w     http.ResponseWriter
	head  bool
	stall time.Duration

	status  int
	refused bool // what is written now is dropped
	sent    int64
	err     error
}

// Header is the response's.
func (a *answer) Header() http.Header { return a.w.Header() }

// WriteHeader begins the response.
func (a *answer) WriteHeader(status int) {
	switch {
	case a.status != 0:
	case status >= http.StatusBadRequest:
		a.refuse(status, errors.New(http.StatusText(status)))
	default:
		a.status = status
		a.w.WriteHeader(status)
	}
}

// Write sends a part of the body.
func (a *answer) Write(p []byte) (int, error) {
	if a.refused {
		return len(p), nil
	}
	a.WriteHeader(http.StatusOK)
	a.extend()
	n, err := a.w.Write(p)
	return n, a.took(int64(n), err)
}

// ReadFrom sends src, by the kernel alone where that can. A client has a while for
// each stretch of it.
func (a *answer) ReadFrom(src io.Reader) (sum int64, err error) {
	limited, ok := src.(*io.LimitedReader)
	from, fast := a.w.(io.ReaderFrom)
	if !ok || !fast || a.refused {
		return io.Copy(struct{ io.Writer }{a}, src)
	}
	a.WriteHeader(http.StatusOK)
	for limited.N > 0 {
		part := &io.LimitedReader{R: limited.R, N: min(limited.N, stretch)}
		want := part.N
		a.extend()
		n, err := from.ReadFrom(part)
		limited.N -= n
		sum += n
		if err == nil && n < want {
			err = io.ErrUnexpectedEOF
		}
		if a.took(n, err) != nil {
			return sum, err
		}
	}
	return sum, nil
}

// extend gives the client a while to take what comes.
func (a *answer) extend() {
	_ = http.NewResponseController(a.w).SetWriteDeadline(time.Now().Add(a.stall)) // of a connection; others have none
}

// bodyWait is how long a body that nobody reads is waited for.
const bodyWait = time.Second

// noBody has the connection closed after an answer to a request with a body, which
// nobody reads: net/http would wait for a part of it.
func (a *answer) noBody() {
	a.Header().Set("Connection", "close")
	_ = http.NewResponseController(a.w).SetReadDeadline(time.Now().Add(bodyWait))
}

// took counts what was sent.
func (a *answer) took(n int64, err error) error {
	a.sent += n
	if a.err == nil {
		a.err = err
	}
	return err
}

// serve sends the content, or the part that is asked for.
func (a *answer) serve(r *http.Request, c Content) {
	body := c.reader()
	if size, err := body.Seek(0, io.SeekEnd); err != nil || size != c.Size {
		a.unavailable(&Unavailable{Err: fmt.Errorf("the content has %d bytes, want %d (%v)", size, c.Size, err)})
		return
	}
	h := a.Header()
	h.Set("Content-Type", cmp.Or(c.Type, "application/octet-stream"))
	h.Set("Cache-Control", "private") // the decision is for this client
	h.Set("Accept-Ranges", "bytes")
	if c.Digest != "" {
		h.Set("Etag", `"`+c.Digest+`"`)
	}
	http.ServeContent(a, ranged(r), "", c.Modified, body)
	if a.status == 0 { // an empty body was copied
		a.WriteHeader(http.StatusOK)
	}
}

// ranged is r with a Range that is served or none: one range, of a GET (RFC 9110
// section 14.2 lets a server ignore others).
func ranged(r *http.Request) *http.Request {
	ranges := r.Header.Values("Range")
	if len(ranges) == 0 || len(ranges) == 1 && r.Method == http.MethodGet && oneRange(ranges[0]) {
		return r
	}
	plain := *r
	plain.Header = r.Header.Clone()
	plain.Header.Del("Range")
	return &plain
}

// refuse answers with an error of HTTP, which says no more than its name.
func (a *answer) refuse(status int, err error) {
	body := http.StatusText(status) + "\n"
	h := a.Header()
	for _, name := range []string{"Etag", "Last-Modified", "Cache-Control", "Accept-Ranges", "X-Content-Type-Options"} {
		h.Del(name)
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	a.status, a.refused, a.err = status, true, err
	a.extend()
	a.w.WriteHeader(status)
	if a.head {
		return
	}
	n, _ := io.WriteString(a.w, body)
	a.sent += int64(n)
}

// unavailable asks the client to come again.
func (a *answer) unavailable(err error) {
	after := DefaultRetry
	if e, ok := errors.AsType[*Unavailable](err); ok && e.After > 0 {
		after = e.After
	}
	seconds := int64((after + time.Second - 1) / time.Second)
	a.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	a.refuse(http.StatusServiceUnavailable, err)
}
