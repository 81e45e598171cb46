package pin

import (
	"fmt"
	"io/fs"
	"strings"
)

// Malformed reports a text that is no pin.
type Malformed struct{}

// Error says what a pin looks like.
func (*Malformed) Error() string {
	return "pin: want sha256/ and 44 characters of base64, as `ingotd pin` prints it"
}

// Code is the error's wire name (API-3).
func (*Malformed) Code() string { return "INVALID_INPUT" }

// A Mismatch reports a server that showed a key nobody told the client of.
type Mismatch struct {
	Host      string // as the client named it; may be empty
	Presented Pin
	Wanted    []Pin
}

// Error says what was presented and what to do.
func (e *Mismatch) Error() string {
	want := make([]string, len(e.Wanted))
	for i, p := range e.Wanted {
		want[i] = p.String()
	}
	return fmt.Sprintf("pin: %s presented the key %s, and the client trusts %s; compare it with what `ingotd pin` prints on the server: if they are equal, give the client the new pin; if not, this is another server",
		or(e.Host, "the server"), e.Presented, strings.Join(want, ", "))
}

// Code is the error's wire name (API-3).
func (*Mismatch) Code() string { return "UNAUTHENTICATED" }

// A NoCertificate reports a server that showed none, or a chain too long to be one.
type NoCertificate struct{ Certificates int }

// Error says how many there were.
func (e *NoCertificate) Error() string {
	return fmt.Sprintf("pin: the server presented %d certificates, want 1 to %d", e.Certificates, maxChain)
}

// Code is the error's wire name (API-3).
func (*NoCertificate) Code() string { return "UNAUTHENTICATED" }

// Exposed reports a key file that others than its owner may touch. It is not used.
type Exposed struct {
	Path string
	Mode fs.FileMode
}

// Error says how to mend it.
func (e *Exposed) Error() string {
	return fmt.Sprintf("pin: %s has mode %04o, want 0600 or less: it is a private key; if nobody has read it, run chmod 600 %s, else replace it", e.Path, e.Mode.Perm(), e.Path)
}

// Code is the error's wire name (API-3).
func (*Exposed) Code() string { return "INVALID_CONFIG" }

// Unusable reports a certificate or key file that cannot serve.
type Unusable struct {
	Path string
	What string
	Err  error // what was met; may be nil
}

// Error says which file and why.
func (e *Unusable) Error() string {
	s := "pin: " + e.Path + ": " + e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap is what was met.
func (e *Unusable) Unwrap() error { return e.Err }

// Code is the error's wire name (API-3).
func (*Unusable) Code() string { return "INVALID_CONFIG" }

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
