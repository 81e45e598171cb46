package httpboot

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// Denied is the refusal of a request that may not be served. The client is told
// that there is no such file.
type Denied struct{ Why string }

// Error says why, for logs of ours.
func (e *Denied) Error() string { return "httpboot: not served: " + e.Why }

// Code is the error's wire name.
func (*Denied) Code() string { return "ACCESS_DENIED" }

// Unavailable says that the request may be served later.
type Unavailable struct {
	After time.Duration // when to ask again; 0 is DefaultRetry
	Err   error         // may be nil
}

// DefaultRetry is when a client is asked to come again.
const DefaultRetry = 2 * time.Second

// Error says why.
func (e *Unavailable) Error() string {
	if e.Err == nil {
		return "httpboot: too many transfers at once"
	}
	return "httpboot: not now: " + e.Err.Error()
}

// Unwrap is the cause.
func (e *Unavailable) Unwrap() error { return e.Err }

// Code is the error's wire name.
func (*Unavailable) Code() string { return "UNAVAILABLE" }

// kinds of errors of Resolve.
type errorKind int

const (
	final   errorKind = iota // the client is not to have it
	passing                  // it may be served later
	unknown                  // nobody said which
)

func kindOf(err error) errorKind {
	coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	switch {
	case ok && (coded.Code() == "UNAVAILABLE" || coded.Code() == "RATE_LIMITED"):
		return passing
	case ok, errors.Is(err, fs.ErrNotExist), errors.Is(err, context.Canceled):
		return final
	case errors.Is(err, context.DeadlineExceeded):
		return passing
	}
	return unknown
}
