package claim

import (
	"fmt"
	"io"
)

// hidden is what a secret prints as.
const hidden = "[redacted]"

// redacted keeps the struct that embeds it out of every rendering: fmt's verbs,
// JSON, text, and so slog's handlers too. The secret itself sits behind a
// closure, since fmt calls no method on an unexported field of someone else's
// struct; there it prints an address.
type redacted struct{}

// Format writes [redacted], whatever the verb.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText returns [redacted].
func (redacted) MarshalText() ([]byte, error) { return []byte(hidden), nil }
