package httpboot

import "strings"

// oneRange reports whether a Range header asks for one range of bytes in the form of
// RFC 9110 section 14.1.2.
func oneRange(v string) bool {
	spec, ok := strings.CutPrefix(v, "bytes=")
	if !ok {
		return false
	}
	first, last, ok := strings.Cut(strings.TrimSpace(spec), "-")
	return ok && first+last != "" && number(first) && number(last) && (first == "" || last == "" || !less(last, first))
}

// number reports whether s is empty or digits that fit an int64.
func number(s string) bool { return len(s) <= 18 && strings.Trim(s, "0123456789") == "" }

// less compares two numbers.
func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return len(a) < len(b) || len(a) == len(b) && a < b
}
