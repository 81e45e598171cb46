package sessions

import "strconv"

// A Cut reports a connection that ended without a word. It says nothing about what
// the peer does.
type Cut struct{ Err error }

// Error has the cause.
func (e *Cut) Error() string { return "sessions: the connection ended: " + e.Err.Error() }

// Unwrap is the cause.
func (e *Cut) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Cut) Code() string { return "UNAVAILABLE" }

// A Refused reports a server that answered and opened no session.
type Refused struct {
	Status int    // of HTTP
	Name   string // a code of API-3
	Why    string
}

// Error says what the server said.
func (e *Refused) Error() string {
	return "sessions: the server refused the session (" + strconv.Itoa(e.Status) + "): " + e.Why
}

// Code is the error's wire name (API-3).
func (e *Refused) Code() string { return e.Name }

// An Unreachable reports a server that no session was opened with. Its cause tells
// a wrong pin from a server that is down.
type Unreachable struct {
	URL string
	Err error
}

// Error names the server and the cause.
func (e *Unreachable) Error() string { return "sessions: " + e.URL + ": " + e.Err.Error() }

// Unwrap is the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Unreachable) Code() string { return "UNAVAILABLE" }

// A BadTarget reports an address that no session can be opened with.
type BadTarget struct{ Why string }

// Error says what an address looks like.
func (e *BadTarget) Error() string { return "sessions: " + e.Why }

// Code is the error's wire name (API-3).
func (*BadTarget) Code() string { return "INVALID_INPUT" }
