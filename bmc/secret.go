package bmc

import (
	"fmt"
	"io"
)

// A Secret is a password. It prints as [redacted], whatever prints it. The zero
// Secret is empty.
type Secret struct {
	reveal func() string
}

// Keep hides a password.
func Keep(password string) Secret { return Secret{reveal: func() string { return password }} }

// Show is the password, for the request that needs it.
func (s Secret) Show() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// Format writes [redacted], whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// MarshalText returns [redacted]; JSON and slog's handlers use it.
func (Secret) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }
