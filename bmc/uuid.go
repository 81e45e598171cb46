package bmc

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// A UUID is in the order of its text form.
type UUID [16]byte

// String is the usual form.
func (u UUID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// Swapped is u with the first three fields in the other byte order, as SMBIOS
// before 2.6 and some firmware write them (MACH-1).
func (u UUID) Swapped() UUID {
	s := u
	s[0], s[1], s[2], s[3] = u[3], u[2], u[1], u[0]
	s[4], s[5], s[6], s[7] = u[5], u[4], u[7], u[6]
	return s
}

// ReadUUID reads the form with dashes or without, in any case.
func ReadUUID(s string) (UUID, bool) {
	s = strings.TrimSpace(s)
	if len(s) == 36 {
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return UUID{}, false
		}
		s = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	}
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != 16 {
		return UUID{}, false
	}
	return UUID(raw), true
}

// A UUIDClaim is what a BMC says its machine's product UUID is. Match it in both
// orders, and not at all where it has a fault.
type UUIDClaim struct {
	Raw     string
	UUID    UUID
	Swapped UUID
	Fault   string // why it names no machine: absent, malformed, a placeholder; empty: none
}

// ClaimUUID judges a reported UUID (PROV-9).
func ClaimUUID(raw string) UUIDClaim {
	c := UUIDClaim{Raw: raw}
	if strings.TrimSpace(raw) == "" {
		c.Fault = "absent"
		return c
	}
	u, ok := ReadUUID(raw)
	if !ok {
		c.Fault = "malformed"
		return c
	}
	c.UUID, c.Swapped = u, u.Swapped()
	if placeholder(u) || placeholder(c.Swapped) {
		c.Fault = "a placeholder"
	}
	return c
}

// placeholder reports whether firmware gives u to machines that were given none:
// one byte repeated, 03000200-0400-0500-0006-000700080009, its relatives
// that count up, and zeros before a MAC, which names a card and not a machine.
func placeholder(u UUID) bool {
	same, zeros := true, true
	for i, b := range u {
		same = same && b == u[0]
		zeros = zeros && (i >= 10 || b == 0)
	}
	counting, _ := ReadUUID("03000200-0400-0500-0006-000700080009")
	digits, _ := ReadUUID("12345678-1234-5678-90ab-cddeefaabbcc")
	return same || zeros || u == counting || u == digits
}
