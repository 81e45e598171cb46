package provision

import (
	"encoding/hex"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// BadHash reports a stored hash that cannot be read. It has the length alone:
// the text may be anything, and this error reaches logs.
type BadHash struct{ Len int }

// Error says what is wanted.
func (*BadHash) Error() string { return "hash: want 64 hexadecimal digits" }

// Code is INVALID_INPUT.
func (*BadHash) Code() string { return string(sm.InvalidInput) }

// MarshalText is hexadecimal; empty for the zero Hash.
func (h Hash) MarshalText() ([]byte, error) {
	if h == (Hash{}) {
		return nil, nil
	}
	return hex.AppendEncode(nil, h[:]), nil
}

// UnmarshalText reads what MarshalText writes. On error h is zero, which is no
// evidence: a damaged store never counts as a wipe.
func (h *Hash) UnmarshalText(b []byte) error {
	*h = Hash{}
	if len(b) == 0 {
		return nil
	}
	if len(b) != hex.EncodedLen(len(h)) {
		return &BadHash{len(b)}
	}
	if _, err := hex.Decode(h[:], b); err != nil {
		*h = Hash{}
		return &BadHash{len(b)}
	}
	return nil
}
