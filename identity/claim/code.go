// Package claim is the claim code of a machine that registers: the six
// characters that its agent prints and an operator types to approve it.
//
// A life of one: [New] makes a [Code] from entropy, the agent gets [Code.Show],
// and the row keeps only what [SiteKey.Issue] returns. When an operator types a
// code, ask [Ledger.Allow] first, then [Parse], [SiteKey.Hash] and
// [Issued.Check]. A refusal by Check is a wrong try: [Ledger.Count] it.
//
// Thirty bits are few. Three things make them enough: the hash at rest is keyed,
// a code lives one hour, and wrong tries are limited (REG-5).
package claim

import (
	"fmt"
	"unicode"
)

const (
	// Length is the number of symbols in a code (REG-5).
	Length = 6
	// EntropySize is the number of random bytes that New takes. A code is 30
	// bits; New uses 30 of these 32 and drops two, so that every code is
	// equally likely.
	EntropySize = 4
	// MaxInput bounds what Parse looks at, in bytes. It leaves room for a
	// separator of several bytes around each symbol.
	MaxInput = 64

	// alphabet is Crockford's base32: no I, L, O, U.
	alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	half     = Length / 2
)

// A Code is a claim code in the clear. It prints as [redacted] everywhere but
// from Show. The zero Code is no code: it shows as "" and matches nothing.
type Code struct {
	redacted
	reveal func() [Length]byte // symbols of alphabet
}

// New makes the code that entropy stands for. The bytes must come from a
// cryptographic source. Two codes collide once in 2^30 draws: where the hash is
// already in use, draw again.
func New(entropy [EntropySize]byte) Code {
	var symbols [Length]byte
	bits := uint32(entropy[0])<<24 | uint32(entropy[1])<<16 | uint32(entropy[2])<<8 | uint32(entropy[3])
	for i := range symbols {
		symbols[i] = alphabet[bits>>27]
		bits <<= 5
	}
	return seal(symbols)
}

func seal(symbols [Length]byte) Code {
	return Code{reveal: func() [Length]byte { return symbols }}
}

// IsZero reports whether c is no code.
func (c Code) IsZero() bool { return c.reveal == nil }

// Show returns the code in the clear, as XXX-XXX. It is the only way to see one;
// hand the result to the machine's own agent and keep it nowhere.
func (c Code) Show() string {
	if c.IsZero() {
		return ""
	}
	symbols := c.reveal()
	return string(symbols[:half]) + "-" + string(symbols[half:])
}

// Parse reads a code as people type it (REG-5): any case, dashes and white
// space ignored, I and L read as 1, O as 0, U refused. The error is a
// [*Malformed] and never carries what was typed. A malformed code is no try: it
// names no code, so it need not be counted.
func Parse(s string) (Code, error) {
	if len(s) > MaxInput {
		return Code{}, malformed("longer than %d bytes", MaxInput)
	}
	var symbols [Length]byte
	n := 0
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.Is(unicode.Dash, r) {
			continue
		}
		if n == Length {
			return Code{}, malformed("more than %d symbols", Length)
		}
		symbols[n] = symbol(r)
		n++
		if symbols[n-1] == 0 {
			return Code{}, malformed("symbol %d is none of %s", n, alphabet)
		}
	}
	if n < Length {
		return Code{}, malformed("%d symbols, want %d", n, Length)
	}
	return seal(symbols), nil
}

// symbol maps a typed character to the symbol it is read as, 0 if to none.
func symbol(r rune) byte {
	if 'a' <= r && r <= 'z' {
		r -= 'a' - 'A'
	}
	switch {
	case r == 'I', r == 'L':
		return '1'
	case r == 'O':
		return '0'
	case r == 'U':
		return 0
	case '0' <= r && r <= '9', 'A' <= r && r <= 'Z':
		return byte(r)
	}
	return 0
}

// A Malformed reports input that cannot be a claim code or an operator's name,
// before any is compared.
type Malformed struct {
	What string // "code" or "operator"
	Why  string // holds lengths and positions, never the input
}

func malformed(format string, args ...any) *Malformed {
	return &Malformed{What: "code", Why: fmt.Sprintf(format, args...)}
}

// Error says what is wrong with the input without showing it.
func (e *Malformed) Error() string {
	if e.What == "operator" {
		return "claim: operator: " + e.Why
	}
	return "claim: not a claim code: " + e.Why + " (REG-5; XXX-XXX in Crockford base32)"
}

// Code is the error's wire name (API-3).
func (e *Malformed) Code() string { return "INVALID_INPUT" }
