package probe

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ingotmetal/ingot/disklayout"
)

// plain makes text that a plan carries: valid, without control characters, not
// too long, and without padding.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > disklayout.MaxText {
		s = s[:disklayout.MaxText]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return strings.TrimSpace(s)
}

// text is bytes up to the first zero.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return plain(string(b))
}

// uuid is sixteen bytes in order, or "" for none.
func uuid(b []byte) string {
	if len(b) < 16 || disklayout.UUID(b[:16]) == (disklayout.UUID{}) {
		return ""
	}
	return disklayout.UUID(b[:16]).String()
}

// volume is the serial of a FAT.
func volume(b []byte) string {
	return fmt.Sprintf("%02X%02X-%02X%02X", b[3], b[2], b[1], b[0])
}
