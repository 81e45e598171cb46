package booter

import (
	"fmt"
	"strings"
)

// MaxImage is the length of the longest image reference (BOOT-2), in bytes.
const MaxImage = 64

// Gate is BOOT-2's check of an image reference, wherever it came from: 1 to
// [MaxImage] of letters, digits and . _ -, the first alphanumeric, without
// "..". What passes is one plain file name: no separator, no escape, nothing
// that a boot script or a URL would read as its own. The error is an
// *[Invalid].
func Gate(ref string) error {
	if passes(ref) {
		return nil
	}
	return &Invalid{"image", fmt.Sprintf("%.*q", MaxImage, ref), `1 to 64 letters, digits or . _ -, first alphanumeric, without ".."`, "BOOT-2"}
}

func passes(ref string) bool {
	if ref == "" || len(ref) > MaxImage || !alphanumeric(ref[0]) || strings.Contains(ref, "..") {
		return false
	}
	for i := range len(ref) {
		if c := ref[i]; !alphanumeric(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Invalid reports a value that a requirement does not allow.
type Invalid struct {
	What, Value, Want string
	Req               string // the requirement's name
}

// Error names the value, what was wanted and the requirement.
func (e *Invalid) Error() string {
	return fmt.Sprintf("booter: %s is %s, want %s (%s)", e.What, e.Value, e.Want, e.Req)
}

// Code is the error's wire name.
func (e *Invalid) Code() string { return "INVALID_INPUT" }

// IsDigest reports whether s is a SHA-256 as images and paths name it: 64 lower-case
// hexadecimal digits.
func IsDigest(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}
