package netboot

import "strings"

// MaxImage is the length of an image reference in bytes (BOOT-2). A reference is a
// folder's name on every booter, and part of URLs and scripts.
const MaxImage = 64

// CheckImage is the gate that every image reference passes: 1 to 64 letters,
// digits and . _ -, the first a letter or digit, and no ".." (BOOT-2). Its error
// is a *BadName. That an image is staged is another question, asked at the booter.
func CheckImage(ref string) error {
	bad := func(why string) error { return &BadName{"image", ref[:min(len(ref), MaxImage)], why} }
	switch {
	case ref == "" || len(ref) > MaxImage:
		return bad("want 1 to 64 characters")
	case !alphanumeric(rune(ref[0])):
		return bad("want a letter or digit first")
	case strings.Contains(ref, ".."):
		return bad(`".." would leave the image folder`)
	case strings.ContainsFunc(ref, func(r rune) bool { return !alphanumeric(r) && r != '.' && r != '_' && r != '-' }):
		return bad("want only letters, digits and . _ -")
	}
	return nil
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
