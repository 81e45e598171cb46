package liveness

import "fmt"

// The wire names of API-3 that this package uses.
const (
	codeInput    = "INVALID_INPUT"
	codeConfig   = "INVALID_CONFIG"
	codeNotFound = "NOT_FOUND"
	codeState    = "INVALID_STATE"
	codeConflict = "CONFLICT"
)

// An Invalid reports one value that is out of its range.
type Invalid struct {
	Field     string // the Go name of the field, or the sum that does not fit
	Got, Want string
	Req       string // the requirement that sets the range
	code      string
}

// Error names the field, what it is and what it may be.
func (e *Invalid) Error() string {
	return fmt.Sprintf("liveness: %s is %s, want %s (%s)", e.Field, e.Got, e.Want, e.Req)
}

// Code is the wire name: INVALID_CONFIG for windows, INVALID_INPUT for what
// comes in by a request.
func (e *Invalid) Code() string { return e.code }

// A Refused reports a beat, flush or session that the ledger does not take. The
// ledger is as it was before.
type Refused struct {
	Op      string // what was asked: open, beat, close, apply, restore
	Epoch   uint64 // the session epoch that was named; 0: none
	Current uint64 // the epoch the ledger holds; 0: none
	Why     string // what is wrong, and what would be legal
	code    string
}

// Error says what was refused, and what would be legal.
func (e *Refused) Error() string {
	return fmt.Sprintf("liveness: %s of epoch %d refused: %s (epoch here: %d)", e.Op, e.Epoch, e.Why, e.Current)
}

// Code is the wire name: NOT_FOUND for a node that is not in the ledger,
// CONFLICT for an epoch that is not newest, INVALID_STATE for a session that
// is over.
func (e *Refused) Code() string { return e.code }
