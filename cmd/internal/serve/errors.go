package serve

import "fmt"

// Failed reports a listener that stopped accepting. The server has stopped.
type Failed struct{ Err error }

// Error names the cause.
func (e *Failed) Error() string { return "serve: a listener failed: " + e.Err.Error() }

// Unwrap is the cause.
func (e *Failed) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Failed) Code() string { return "UNAVAILABLE" }

// Stuck reports handlers that went on after they were cut. The process must end.
type Stuck struct{ Handlers int }

// Error says how many.
func (e *Stuck) Error() string {
	return fmt.Sprintf("serve: %d handlers did not end though they were cut; their goroutines are in the log of SIGQUIT", e.Handlers)
}

// Code is the error's wire name (API-3).
func (*Stuck) Code() string { return "UNAVAILABLE" }

// SlowBody is what a handler reads when a body arrives slower than it must. The
// connection ends with the request.
type SlowBody struct{ Read int64 }

// Error says how far it came.
func (e *SlowBody) Error() string {
	return fmt.Sprintf("serve: the body came too slowly: %d bytes so far; send it again on a better link", e.Read)
}

// Code is the error's wire name (API-3).
func (*SlowBody) Code() string { return "INVALID_INPUT" }

// A Socket reports a path where no Unix socket can be made. Nothing was changed.
type Socket struct {
	Path string
	What string
	Err  error // may be nil
}

// Error says why and what to do.
func (e *Socket) Error() string {
	s := "serve: " + e.Path + ": " + e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap is what was met.
func (e *Socket) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Socket) Code() string { return "INVALID_CONFIG" }

// Handed reports a socket of the service manager that is of no use here.
type Handed struct {
	Index int // of the file descriptor, from 0
	Kind  string
}

// Error says which.
func (e *Handed) Error() string {
	return fmt.Sprintf("serve: socket %d of the service manager is %s; name only ListenStream= in the .socket unit", e.Index, e.Kind)
}

// Code is the error's wire name (API-3).
func (*Handed) Code() string { return "INVALID_CONFIG" }
