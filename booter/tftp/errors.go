package tftp

import (
	"errors"
	"fmt"
)

// Error quotes what the client said.
func (e *ClientError) Error() string {
	return fmt.Sprintf("tftp: the client ended the transfer with error %d: %q", e.Number, e.Text)
}

// Code is the error's wire name.
func (e *ClientError) Code() string { return "UNAVAILABLE" }

// A Silent is what Open returns for a client that must get no answer at all
// (BOOT-6). It may be wrapped.
type Silent struct{ Reason string }

// Error gives the reason, for logs.
func (e *Silent) Error() string { return "tftp: not answered: " + e.Reason }

// Code is the error's wire name.
func (e *Silent) Code() string { return "ACCESS_DENIED" }

// A Refused is an answer that the server gave by itself, before Open was
// asked.
type Refused struct {
	Number uint16 // RFC 1350's error code
	Text   string // as sent to the client
}

// Error says what the client was told.
func (e *Refused) Error() string {
	return fmt.Sprintf("tftp: refused with error %d: %s", e.Number, e.Text)
}

// Code is the error's wire name.
func (e *Refused) Code() string {
	switch e.Number {
	case errNotFound:
		return "NOT_FOUND"
	case errDenied:
		return "ACCESS_DENIED"
	}
	return "UNSUPPORTED"
}

func (e *Refused) outcome() Outcome {
	switch e.Number {
	case errNotFound:
		return NotFound
	case errDenied:
		return Denied
	case errIllegal:
		return Rejected
	}
	return Failed
}

// An Invalid reports a field of [Server] that cannot be used.
type Invalid struct{ Field, Want string }

// Error names the field and what it must hold.
func (e *Invalid) Error() string { return fmt.Sprintf("tftp: %s must be %s", e.Field, e.Want) }

// Code is the error's wire name.
func (e *Invalid) Code() string { return "INVALID_CONFIG" }

// errQuiet ends a transfer whose client stopped answering.
var errQuiet = errors.New("tftp: the client stopped answering")
