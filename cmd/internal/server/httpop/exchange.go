package httpop

import (
	"bytes"
	"io"
	"net/http"
	"time"
)

// BodyReader reads what the gate has read.
func (e *exchange) BodyReader() io.Reader { return bytes.NewReader(e.body) }

// SetReadDeadline does nothing: the body is read, and a deadline left behind
// would end handlers that wait.
func (e *exchange) SetReadDeadline(time.Time) error { return nil }

// Header gives the media type as huma knows it, however the caller wrote it: the
// gate has judged it.
func (e *exchange) Header(name string) string {
	if name == "Content-Type" {
		return "application/json"
	}
	return e.inner.Header(name)
}

// SetStatus gives 400 where huma has numbers of its own for bad input (API-3).
// No code of ours has these.
func (e *exchange) SetStatus(code int) {
	switch code {
	case http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge,
		http.StatusNotAcceptable, http.StatusRequestTimeout:
		code = http.StatusBadRequest
	}
	e.inner.SetStatus(code)
}

// writer remembers whether the answer has begun.
type writer struct {
	http.ResponseWriter
	begun bool
}

func (w *writer) WriteHeader(status int) {
	w.begun = w.begun || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(b []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(b)
}

// Flush sends what is written so far.
func (w *writer) Flush() {
	w.begun = true
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets a ResponseController through.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
