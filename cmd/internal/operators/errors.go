// Package operators is who signs in as an operator identity (ID-8): local
// accounts with a password and a second factor, their sessions, the API keys that
// they mint, the limits on tries, and who is on the host itself.
//
// Records are values, encoded as JSON; the caller keeps them. A sign-in goes in
// two steps, since a password takes a tenth of a second to check and a
// transaction must not wait: [Limits.Take] and [Door.Verify] outside of it, then
// [Open] inside it, which looks again at what may have changed meanwhile.
package operators

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrUnauthenticated is the one answer to every sign-in that fails: no such
// account, disabled, wrong password, wrong or used code.
var ErrUnauthenticated error = unauthenticated{}

type unauthenticated struct{}

func (unauthenticated) Error() string {
	return "operators: name, password or code is wrong, or the account may not sign in; try again, each code once, or ask for a reset on the control plane's host"
}

// Code is the error's wire name (API-3).
func (unauthenticated) Code() string { return "UNAUTHENTICATED" }

// An Invalid reports input that no record can be made of. It never carries a
// secret.
type Invalid struct {
	What, Why string
}

// Error says what is wrong and what would do.
func (e *Invalid) Error() string { return "operators: " + e.What + " " + e.Why }

// Code is the error's wire name (API-3).
func (e *Invalid) Code() string { return "INVALID_INPUT" }

// A Conflict reports a change that does not fit the record as it is. Nothing was
// changed.
type Conflict struct {
	What, Why string
}

// Error says what stands against it and what would do.
func (e *Conflict) Error() string { return "operators: " + e.What + " " + e.Why }

// Code is the error's wire name (API-3).
func (e *Conflict) Code() string { return "CONFLICT" }

// A Newer reports a record that a later release wrote.
type Newer struct {
	Record    string
	Has, Know int // schema numbers
}

// Error says what to do.
func (e *Newer) Error() string {
	return fmt.Sprintf("operators: the %s is of schema %d and this release knows up to %d: run the release that wrote it", e.Record, e.Has, e.Know)
}

// Code is the error's wire name (API-3).
func (e *Newer) Code() string { return "UNSUPPORTED" }

// Busy refuses a password that would have to wait behind too many others. Nothing
// was checked.
type Busy struct {
	Queue int
}

// Error says when to come back.
func (e *Busy) Error() string {
	return fmt.Sprintf("operators: %d passwords wait to be checked already; try again in a few seconds", e.Queue)
}

// Code is the error's wire name (API-3).
func (e *Busy) Code() string { return "RATE_LIMITED" }

// redacted keeps the struct that embeds it out of fmt, JSON and slog. The secret
// itself sits behind a closure, which prints as an address where fmt gets past.
type redacted struct{}

// Format writes [redacted], whatever the verb.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// MarshalText returns [redacted]; JSON and slog's handlers use it.
func (redacted) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// maxRecord bounds a record's JSON, in bytes.
const maxRecord = 64 << 10

// decode reads a record of the store and checks it.
func decode[T interface{ Validate() error }](what string, schema int, b []byte) (T, error) {
	var none, out T
	var version struct{ Schema int }
	if len(b) > maxRecord {
		return none, &Invalid{what, fmt.Sprintf("has %d bytes, at most %d", len(b), maxRecord)}
	}
	if err := json.Unmarshal(b, &version); err != nil {
		return none, &Invalid{what, "is not JSON: check the store"}
	}
	if version.Schema > schema {
		return none, &Newer{what, version.Schema, schema}
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return none, &Invalid{what, "is not the JSON of one: check the store"}
	}
	if err := out.Validate(); err != nil {
		return none, err
	}
	return out, nil
}

// stamp is a time as it comes back from a record.
func stamp(now time.Time) time.Time { return now.UTC().Round(0) }

// faults collects what is wrong with a record.
type faults struct {
	record string
	errs   []error
}

func (f *faults) want(ok bool, why string) {
	if !ok {
		f.errs = append(f.errs, &Invalid{f.record, why})
	}
}

func (f *faults) err() error { return errors.Join(f.errs...) }
