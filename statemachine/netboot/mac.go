package netboot

import (
	"encoding/hex"
	"fmt"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// MAC is an Ethernet hardware address.
type MAC [6]byte

// macLen is the length of a MAC's canonical text.
const macLen = len("00:00:00:00:00:00")

// BadName reports text that is no MAC, prefix, tag or image reference.
type BadName struct{ What, Text, Why string }

// Error quotes the text and says what is wanted.
func (e *BadName) Error() string { return fmt.Sprintf("%s %q: %s", e.What, e.Text, e.Why) }

// Code is INVALID_INPUT.
func (*BadName) Code() string { return string(sm.InvalidInput) }

// ParseMAC reads six octets with colons or dashes, in any case. The zero
// address and group addresses (IEEE 802, bit 0 of the first octet) are no
// NIC's.
func ParseMAC(s string) (MAC, error) {
	var m MAC
	if len(s) != macLen {
		return m, &BadName{"MAC", s[:min(len(s), macLen)], "want six octets such as 52:54:00:12:34:56"}
	}
	for i := range m {
		if i > 0 && s[3*i-1] != s[2] || s[2] != ':' && s[2] != '-' {
			return MAC{}, &BadName{"MAC", s, "want colons, or dashes, throughout"}
		}
		if _, err := hex.Decode(m[i:i+1], []byte(s[3*i:3*i+2])); err != nil {
			return MAC{}, &BadName{"MAC", s, "want hexadecimal digits"}
		}
	}
	if !m.Valid() {
		return MAC{}, &BadName{"MAC", s, "the zero address and group addresses are no NIC's"}
	}
	return m, nil
}

// Valid reports whether m can be a NIC's: not zero, and no group address.
func (m MAC) Valid() bool { return m != MAC{} && m[0]&1 == 0 }

// String is the canonical form: lower case, with colons.
func (m MAC) String() string {
	b := make([]byte, 0, macLen)
	for i, octet := range m {
		if i > 0 {
			b = append(b, ':')
		}
		b = hex.AppendEncode(b, []byte{octet})
	}
	return string(b)
}

// MarshalText is the canonical form; empty for the zero MAC.
func (m MAC) MarshalText() ([]byte, error) {
	if m == (MAC{}) {
		return nil, nil
	}
	return []byte(m.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (m *MAC) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*m = MAC{}
		return nil
	}
	got, err := ParseMAC(string(b))
	*m = got
	return err
}

// MarshalText is hexadecimal; empty for the zero ServerID.
func (id ServerID) MarshalText() ([]byte, error) {
	if id == (ServerID{}) {
		return nil, nil
	}
	return hex.AppendEncode(nil, id[:]), nil
}

// UnmarshalText reads what MarshalText writes.
func (id *ServerID) UnmarshalText(b []byte) error {
	*id = ServerID{}
	if len(b) == 0 {
		return nil
	}
	var got ServerID
	if len(b) != hex.EncodedLen(len(id)) {
		return &BadName{"server ID", string(b[:min(len(b), MaxTag)]), "want 32 hexadecimal digits"}
	}
	if _, err := hex.Decode(got[:], b); err != nil {
		return &BadName{"server ID", string(b), "want hexadecimal digits"}
	}
	*id = got
	return nil
}
