package disklayout

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A UUID in the order of its text: a GPT stores the first three groups with
// their bytes reversed.
type UUID [16]byte

// String is the lower-case form of RFC 9562, with dashes.
func (u UUID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:36], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// MarshalText is String.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText takes the form of String, in any case.
func (u *UUID) UnmarshalText(text []byte) error {
	v, ok := parseUUID(string(text))
	if !ok {
		return refuse(Malformed, nil, "no UUID of the form 8-4-4-4-12")
	}
	*u = v
	return nil
}

func parseUUID(s string) (UUID, bool) {
	var u UUID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, false
	}
	digits := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return UUID{}, false
	}
	return u, true
}

// mustUUID is for the constants of the UEFI and discoverable-partitions
// specifications.
func mustUUID(s string) UUID {
	u, ok := parseUUID(strings.ToLower(s))
	if !ok {
		panic("disklayout: " + s + " is no UUID")
	}
	return u
}

// derive is a UUID of version 8 (RFC 9562 section 5.8) out of SHA-256 over the
// server, the disk's serial and a place on it, so that planning needs no
// randomness and no two disks get one UUID.
func derive(server UUID, serial string, place uint64) UUID {
	var e encoder
	e.text("ingot disklayout uuid 1")
	e.bytes(server[:])
	e.text(serial)
	e.number(place)
	sum := sha256.Sum256(e)
	u := UUID(sum[:16])
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return u
}
