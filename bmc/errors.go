package bmc

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Kind says what went wrong, and so what may be done about it.
type Kind string

// The kinds. Only Busy, and Unreachable that was not sent, may be tried again as
// they are; a read may be tried again also after Indeterminate.
const (
	Unsupports     Kind = "unsupported"     // the machine or driver cannot; trying again ends the same
	InvalidOption  Kind = "invalid-option"  // an endpoint, option or argument that is wrong
	Auth           Kind = "auth"            // the credentials are refused; nothing is tried until their version changes
	Forbidden      Kind = "forbidden"       // the account may not
	Licence        Kind = "licence"         // the BMC lacks one
	PasswordChange Kind = "password-change" // the BMC wants a new password first
	Unreachable    Kind = "unreachable"     // no connection, or none that lasted
	PeerIdentity   Kind = "peer-identity"   // the TLS peer is not the one that is trusted
	Busy           Kind = "busy"            // not now; After says when
	Conflict       Kind = "conflict"        // the machine's state does not allow it; State says which
	NotFound       Kind = "not-found"       // no such system, slot or resource
	Protocol       Kind = "protocol"        // the answer is none that the protocol knows, or too large
	Untrusted      Kind = "untrusted"       // the answer leads elsewhere, and was not followed
	Indeterminate  Kind = "indeterminate"   // sent, and the answer is lost
	NotReached     Kind = "not-reached"     // accepted, and the state did not come in time
)

// Sent says whether a request reached the BMC.
type Sent string

// The answers. The zero value counts as no.
const (
	SentNo    Sent = "no"
	SentYes   Sent = "yes"   // and it answered
	SentMaybe Sent = "maybe" // written in part or whole, and no answer came
)

// An Error is any failure of a driver or a course.
type Error struct {
	Kind   Kind
	Op     string        // what was asked: "power off", "open"
	Sent   Sent          //
	Why    string        // what the BMC or the wire said; never a secret, at most [MaxWhy] bytes
	Do     string        // what would help, or be legal
	After  time.Duration // of Busy: when to ask again; 0: not said
	State  State         // of Conflict and NotReached: as last seen
	Status int           // of HTTP, where there was one
	Err    error         // the cause, may be nil
}

// MaxWhy bounds what an error quotes of a BMC, in bytes.
const MaxWhy = 512

// Error says what was asked, what went wrong, whether it was sent, and what
// would help.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "bmc: %s: %s", Quote(e.Op), e.Kind)
	if e.Why != "" {
		b.WriteString(": " + Quote(e.Why))
	}
	if e.State != "" {
		fmt.Fprintf(&b, " (the machine is %s)", e.State)
	}
	if e.Sent == SentMaybe {
		b.WriteString(" (it may have been sent)")
	}
	if e.After > 0 {
		fmt.Fprintf(&b, "; try again in %s", e.After)
	}
	if e.Do != "" {
		b.WriteString("; " + Quote(e.Do))
	}
	return b.String()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Code is the wire name.
func (e *Error) Code() string {
	switch e.Kind {
	case InvalidOption:
		return "INVALID_INPUT"
	case Unsupports, Licence:
		return "UNSUPPORTED"
	case Auth, Forbidden, PasswordChange, PeerIdentity:
		return "INVALID_CONFIG"
	case Conflict:
		return "CONFLICT"
	case NotFound:
		return "NOT_FOUND"
	}
	return "UNAVAILABLE"
}

// Again reports whether the same request may be sent once more: it was not
// carried out, and later it may be.
func (e *Error) Again() bool {
	return e.Kind == Busy && e.Sent != SentMaybe || e.Kind == Unreachable && (e.Sent == SentNo || e.Sent == "")
}

// Quote makes what a BMC said fit for a log or terminal: one line, printable,
// at most [MaxWhy] bytes.
func Quote(s string) string {
	cut := false
	if len(s) > MaxWhy {
		s, cut = s[:MaxWhy-len(" ...")], true
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool { return r == ' ' || !printable(r) }), " ")
	if cut {
		s += " ..."
	}
	return s
}

func printable(r rune) bool { return strconv.IsPrint(r) }
