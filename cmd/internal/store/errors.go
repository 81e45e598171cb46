package store

import (
	"errors"
	"fmt"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// ErrClosed is the end of a store by Close.
var ErrClosed = errors.New("store: closed")

// Unknown reports a commit whose outcome nobody knows. The store has stopped; who
// asked finds out by the idempotency key, once it is open again.
type Unknown struct{ Err error }

// Error says what to do.
func (e *Unknown) Error() string {
	return fmt.Sprintf("store: the outcome of a commit is unknown: %v; the store has stopped: mend the cause, start again, and ask with the same idempotency key", e.Err)
}

// Unwrap is what the commit met.
func (e *Unknown) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Unknown) Code() string { return "UNAVAILABLE" }

// Unavailable reports a call that the store could not take. Nothing happened.
type Unavailable struct{ Err error }

// Error names the cause.
func (e *Unavailable) Error() string { return "store: nothing happened: " + e.Err.Error() }

// Unwrap is the cause.
func (e *Unavailable) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Unavailable) Code() string { return "UNAVAILABLE" }

// ReadOnly reports an update that was asked of a store which another process writes.
type ReadOnly struct{ Writer string }

// Error says who writes.
func (e *ReadOnly) Error() string { return "this process only reads; " + e.Writer + " writes" }

// Next is what to do.
func (e *ReadOnly) Next() string { return "ask the writer" }

// Code is the error's wire name (API-3).
func (*ReadOnly) Code() string { return "UNAVAILABLE" }

// TooLong reports a view that read for longer than MaxView: a long reader makes
// the file grow.
type TooLong struct{}

// Error says what to do.
func (*TooLong) Error() string {
	return fmt.Sprintf("store: a view lasted over %s; ask for less at a time", MaxView)
}

// Code is the error's wire name (API-3).
func (*TooLong) Code() string { return "UNAVAILABLE" }

// Misuse reports a closure that broke the contract. Nothing of it was kept.
type Misuse struct{ Why string }

// Error names the rule.
func (e *Misuse) Error() string { return "store: " + e.Why }

// Code is the error's wire name (API-3).
func (*Misuse) Code() string { return "INVALID_INPUT" }

// Damaged reports a store that is not what was acknowledged. It serves nothing.
type Damaged struct {
	What string
	Have journal.Head
	Next string // what to do
	Err  error
}

// Error says what was found and what to do.
func (e *Damaged) Error() string {
	s := "store: " + e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s + "; " + e.Next
}

// Unwrap is what was met on the way.
func (e *Damaged) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Damaged) Code() string { return "UNAVAILABLE" }
