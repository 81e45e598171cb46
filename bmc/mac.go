package bmc

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// A MAC is an EUI-48 hardware address.
type MAC [6]byte

// String is the address in lower case with colons.
func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// MarshalText is String.
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// A MACFault says why what a BMC reports names no network card.
type MACFault string

// The faults. An address with a fault proves nothing and is not used.
const (
	NoFault      MACFault = ""
	Absent       MACFault = "absent"      // empty, "Not Available", "N/A"
	Malformed    MACFault = "malformed"   // also longer ones: InfiniBand's 20 octets
	Zero         MACFault = "zero"        // or all ones
	Group        MACFault = "group"       // a multicast address
	Duplicate    MACFault = "duplicate"   // on another card of the same machine
	ToController MACFault = "host-to-bmc" // the BMC's own card for the host, the same in many machines
)

// ReadMAC reads an address as BMCs write it: six octets with colons, dashes or
// nothing between.
func ReadMAC(s string) (MAC, MACFault) {
	s = strings.TrimSpace(s)
	raw, err := hex.DecodeString(plainMAC(s))
	switch {
	case s == "" || strings.EqualFold(s, "not available") || strings.EqualFold(s, "n/a") || strings.EqualFold(s, "null"):
		return MAC{}, Absent
	case err != nil || len(raw) != 6:
		return MAC{}, Malformed
	}
	m := MAC(raw)
	switch {
	case m == MAC{} || m == MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}:
		return MAC{}, Zero
	case m[0]&1 != 0:
		return MAC{}, Group
	}
	return m, NoFault
}

// plainMAC takes the separators out of 17 characters where they are all the
// same and in their places.
func plainMAC(s string) string {
	if len(s) != 17 || s[2] != ':' && s[2] != '-' {
		return s
	}
	plain := s[:2]
	for i := 2; i < len(s); i += 3 {
		if s[i] != s[2] {
			return s
		}
		plain += s[i+1 : i+3]
	}
	return plain
}
