package operators

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of a password in bytes. There are no rules of composition (NIST SP
// 800-63B section 3.1.1.2): length is what counts.
const (
	MinPassword = 12
	MaxPassword = 256
)

// A Password is one in the clear, as it was typed: it is neither trimmed nor
// normalized, so it must be typed in the same form each time. It prints as
// [redacted].
type Password struct {
	redacted
	reveal func() string
}

// NewPassword takes what was typed. Whether it may be set, Acceptable says; any
// may be presented.
func NewPassword(typed string) Password { return Password{reveal: func() string { return typed }} }

// raw returns what was typed, cut to MaxPassword, and whether it may match: what
// was cut may not.
func (p Password) raw() ([]byte, bool) {
	if p.reveal == nil {
		return nil, false
	}
	typed := p.reveal()
	if len(typed) > MaxPassword {
		return []byte(typed[:MaxPassword]), false
	}
	return []byte(typed), true
}

// Acceptable reports whether p may become the password of the account name: 12
// to 256 bytes of UTF-8 that are not the name. The error is [*Invalid].
func (p Password) Acceptable(name string) error {
	if p.reveal == nil {
		return &Invalid{"password", "is missing"}
	}
	typed := p.reveal()
	switch {
	case len(typed) < MinPassword || len(typed) > MaxPassword:
		return &Invalid{"password", fmt.Sprintf("has %d bytes, want %d to %d", len(typed), MinPassword, MaxPassword)}
	case !utf8.ValidString(typed):
		return &Invalid{"password", "is not UTF-8"}
	case strings.EqualFold(typed, name):
		return &Invalid{"password", "is the account's name"}
	}
	return nil
}
