package serve

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// A reply notes what was answered. On HTTP/2 it also bounds how long a client may
// leave a write without room; on HTTP/1 its connection does.
type reply struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration // 0 on HTTP/1
	status  int           // 0 before the header
	bytes   int64
	taken   bool // hijacked
}

func newReply(w http.ResponseWriter, r *http.Request, stall time.Duration) *reply {
	if r.ProtoMajor < 2 {
		stall = 0
	}
	return &reply{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
}

// Unwrap lets http.ResponseController through.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader notes the first status that ends a request's wait.
func (w *reply) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *reply) Write(p []byte) (int, error) {
	w.began()
	defer w.bounded()()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

func (w *reply) began() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
}

// Flush is for those who assert http.Flusher.
func (w *reply) Flush() { _ = w.FlushError() }

// FlushError is what http.ResponseController calls.
func (w *reply) FlushError() error {
	w.began()
	defer w.bounded()()
	return w.control.Flush()
}

// Hijack hands the connection over; the caller closes it.
func (w *reply) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := w.control.Hijack()
	w.taken = w.taken || err == nil
	return c, rw, err
}

// bounded sets a deadline for a write and returns what lifts it: a stream that
// waits for something to say is not stalled.
func (w *reply) bounded() (lift func()) {
	if w.stall == 0 {
		return func() {}
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) // HTTP/2 has it
	return func() { _ = w.control.SetWriteDeadline(time.Time{}) }
}

// finish bounds what net/http still writes when the handler is done.
func (w *reply) finish() {
	if w.stall != 0 {
		_ = w.control.SetWriteDeadline(time.Now().Add(w.stall))
	}
}
