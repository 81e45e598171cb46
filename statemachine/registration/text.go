package registration

import (
	"encoding/hex"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// BadText reports a stored value that is no hash, MAC or UUID.
type BadText struct{ What, Text string }

// Error quotes the text.
func (e *BadText) Error() string { return e.What + " " + clip(e.Text) + " cannot be read" }

// Code is INVALID_INPUT.
func (*BadText) Code() string { return string(sm.InvalidInput) }

// MarshalText is hexadecimal; empty for the zero Hash.
func (h Hash) MarshalText() ([]byte, error) {
	if h == (Hash{}) {
		return nil, nil
	}
	return hex.AppendEncode(nil, h[:]), nil
}

// UnmarshalText reads what MarshalText writes.
func (h *Hash) UnmarshalText(b []byte) error { return unhex("hash", h[:], b) }

// MarshalText is hexadecimal without separators.
func (m MAC) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, m[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (m *MAC) UnmarshalText(b []byte) error { return unhex("MAC", m[:], b) }

// MarshalText is the text form; empty for the zero ServerID.
func (id ServerID) MarshalText() ([]byte, error) {
	if id == (ServerID{}) {
		return nil, nil
	}
	return []byte(id.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (id *ServerID) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*id = ServerID{}
		return nil
	}
	got, err := ParseServerID(string(b))
	*id = got
	return err
}

// unhex fills dst from exactly as much hexadecimal, or clears it from none. On
// error dst is zero, which no secret's hash equals: Holds refuses it.
func unhex(what string, dst, src []byte) error {
	clear(dst)
	if len(src) == 0 {
		return nil
	}
	if len(src) != hex.EncodedLen(len(dst)) {
		return &BadText{what, string(src)}
	}
	if _, err := hex.Decode(dst, src); err != nil {
		clear(dst)
		return &BadText{what, string(src)}
	}
	return nil
}
