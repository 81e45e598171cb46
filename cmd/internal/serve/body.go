package serve

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// A body is a request's body that must arrive at a minimum rate.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	server  *Server
	start   time.Time
	read    int64
	over    bool
}

// boundBody bounds the size and the time of a request's body. The deadline stands
// from the start, so that it also holds for what net/http reads after a handler
// that did not.
func (s *Server) boundBody(w *reply, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return
	}
	b := &body{control: http.NewResponseController(w.ResponseWriter), server: s, start: time.Now()}
	b.ReadCloser = http.MaxBytesReader(w.ResponseWriter, r.Body, s.Limits.Body)
	b.extend()
	r.Body = b
}

// extend moves the deadline by what has arrived.
func (b *body) extend() {
	l := b.server.Limits
	earned := time.Duration(b.read) * time.Second / time.Duration(l.BodyRate)
	_ = b.control.SetReadDeadline(b.start.Add(l.BodyGrace + earned)) // every writer of net/http has it
}

// Read is slow only as far as the rate allows.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		b.end()
	case errors.Is(err, os.ErrDeadlineExceeded) && !b.over:
		b.over = true
		b.server.slow.Add(1)
		err = &SlowBody{Read: b.read}
	case err == nil:
		b.extend()
	}
	return n, err
}

// end lifts the deadline: what follows on the connection is no body.
func (b *body) end() {
	if !b.over {
		b.over = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
}
