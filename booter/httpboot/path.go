package httpboot

import (
	"io/fs"
	"strings"
)

// MaxPath is the length of the longest path that is looked up, in bytes.
const MaxPath = 1024

// CleanPath makes the path of a URL, already unescaped once, a local one with
// slashes between its parts. Firmware writes backslashes, and slashes where one is
// enough: these are mended (BOOT-25). ok is false for what is then no local path: a
// part that is . or .., an end in a slash, anything but printable ASCII, a percent
// sign, which would be an escape within an escape, or more than [MaxPath].
func CleanPath(p string) (clean string, ok bool) {
	if len(p) > MaxPath || strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r > '~' || r == '%' }) {
		return "", false
	}
	p = strings.TrimLeft(strings.ReplaceAll(p, `\`, "/"), "/")
	for strings.Contains(p, "//") {
		p = strings.ReplaceAll(p, "//", "/")
	}
	return p, p != "." && fs.ValidPath(p)
}
