package secrets

import "fmt"

// An Invalid reports arguments that a secret cannot be made or kept with. It
// never carries one.
type Invalid struct {
	What, Why string
}

// Error says what is wrong and what would do.
func (e *Invalid) Error() string { return "secrets: " + e.What + " " + e.Why }

// Code is the error's wire name (API-3).
func (e *Invalid) Code() string { return "INVALID_INPUT" }

// An Unsealable reports a sealed value that does not open where it stands. Until
// that is mended, what needs it cannot go on.
type Unsealable struct {
	Place Place
	Why   string
}

// Error says which, and what to look at.
func (e *Unsealable) Error() string {
	return fmt.Sprintf("secrets: the sealed value of %s %s: restore the master secret that belongs to this store, or set the value again", e.Place, e.Why)
}

// Code is the error's wire name (API-3).
func (e *Unsealable) Code() string { return "INVALID_CONFIG" }

// A BadFile reports a file that a secret is not read from or written to.
type BadFile struct {
	Path, Why string
	Err       error // the system's, or nil
	code      string
}

// Error says which file, what is wrong and what would do.
func (e *BadFile) Error() string {
	s := fmt.Sprintf("secrets: %s: %s", e.Path, e.Why)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap is the system's error.
func (e *BadFile) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3): CONFLICT where the file to make is
// there already, NOT_FOUND where the one to read is not, UNAVAILABLE where
// another process holds it, else INVALID_CONFIG.
func (e *BadFile) Code() string {
	if e.code == "" {
		return "INVALID_CONFIG"
	}
	return e.code
}

// A BadKeys reports a list of age recipients or identities that cannot be used.
// It never carries a line of it: people paste the wrong half.
type BadKeys struct {
	What string // "recipients" or "identities"
	Why  string
}

// Error says what is wrong and what would do.
func (e *BadKeys) Error() string { return "secrets: age " + e.What + ": " + e.Why }

// Code is the error's wire name (API-3).
func (e *BadKeys) Code() string { return "INVALID_CONFIG" }

// An Unreadable reports an age file that does not decrypt, at its beginning or
// midway: nothing read from it so far may be used.
type Unreadable struct {
	Why string
	Err error // age's or the source's, or nil
}

// Error says why.
func (e *Unreadable) Error() string {
	s := "secrets: the age file does not decrypt: " + e.Why
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap is age's error or the source's.
func (e *Unreadable) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (e *Unreadable) Code() string { return "INVALID_INPUT" }
