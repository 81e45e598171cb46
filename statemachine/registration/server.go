package registration

import (
	"encoding/hex"
	"fmt"

	sm "github.com/ingotmetal/ingot/statemachine"
)

// ServerID is an SMBIOS product UUID in the byte order of its text form
// (RFC 9562). Rows are keyed by it whatever order it came in (EDGE-13).
type ServerID [16]byte

// uuidLen is the length of a UUID's text form (RFC 9562 section 4).
const uuidLen = 36

// BadServerID reports a UUID that no machine can be known by. Text is cut to the
// length of a UUID, since it comes from the segment.
type BadServerID struct{ Text, Why string }

// Error quotes the UUID and says what is wrong.
func (e *BadServerID) Error() string { return fmt.Sprintf("server UUID %q: %s", e.Text, e.Why) }

// Code is INVALID_INPUT.
func (*BadServerID) Code() string { return string(sm.InvalidInput) }

// ParseServerID reads the text form of a UUID, in any case. Placeholders that
// firmware ships (nil, all ones, 03000200-0400-0500-0006-000700080009) are
// refused in both byte orders (REG-9, EDGE-13).
func ParseServerID(s string) (ServerID, error) {
	var id ServerID
	if len(s) != uuidLen {
		return id, &BadServerID{Text: clip(s), Why: "want 36 characters, 8-4-4-4-12"}
	}
	if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, &BadServerID{Text: s, Why: "want dashes after 8, 12, 16 and 20 digits"}
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
		return ServerID{}, &BadServerID{Text: s, Why: "want hexadecimal digits"}
	}
	if id.Placeholder() {
		return ServerID{}, &BadServerID{Text: s, Why: "a firmware placeholder names no machine"}
	}
	return id, nil
}

// clip keeps an error short whatever came in.
func clip(s string) string { return s[:min(len(s), uuidLen)] }

// Placeholder reports whether id, in either byte order, is one that firmware
// ships in many machines.
func (id ServerID) Placeholder() bool {
	var ones ServerID
	for i := range ones {
		ones[i] = 0xff
	}
	shipped := ServerID{3, 0, 2, 0, 4, 0, 5, 0, 0, 6, 0, 7, 0, 8, 0, 9}
	return id == ServerID{} || id == ones || id == shipped || id.Swapped() == shipped
}

// Swapped is id in the other byte order that firmware uses: the first three
// groups little-endian (SMBIOS 2.6 section 7.2.1).
func (id ServerID) Swapped() ServerID {
	id[0], id[1], id[2], id[3] = id[3], id[2], id[1], id[0]
	id[4], id[5], id[6], id[7] = id[5], id[4], id[7], id[6]
	return id
}

// Key is the one form of id that both byte orders share: the lower of the two.
func (id ServerID) Key() ServerID {
	if s := id.Swapped(); string(s[:]) < string(id[:]) {
		return s
	}
	return id
}

// String is the text form, lower case, in the byte order that id has: Key first
// where two names must be compared.
func (id ServerID) String() string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
