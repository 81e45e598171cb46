package carry

import (
	"errors"
	"strings"
)

var (
	errLong   = errors.New("a line is longer than 512 bytes")
	errClosed = errors.New("the control plane stops, and takes no line any more")
)

// Absent reports a booter that carries nothing at the moment.
type Absent struct{ Booter string }

// Code is the error's wire name (API-3).
func (*Absent) Code() string { return "UNAVAILABLE" }

// Error says what to look at.
func (e *Absent) Error() string {
	return "booter " + e.Booter + ", which carries connections to this BMC, is not connected: does it run, with the BMC's network in carry of its configuration?"
}

// NotCarried reports an address that a booter did not connect to. Nothing was sent to it.
type NotCarried struct{ Booter, Address, Why string }

// Code is the error's wire name (API-3).
func (*NotCarried) Code() string { return "UNAVAILABLE" }

// Error has the booter's reason.
func (e *NotCarried) Error() string {
	return "booter " + e.Booter + " does not reach " + e.Address + ": " + e.Why
}

// plain is foreign text that can stand in a line, cut to its bound.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	if len(text) > maxLine-len(refused)-1 {
		text = strings.ToValidUTF8(text[:maxLine-len(refused)-1], "")
	}
	return text
}
