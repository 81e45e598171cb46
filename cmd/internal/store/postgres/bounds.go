package postgres

// bound makes a bound of a range something that the server takes for text and that
// parts printable keys just as s does. Keys that are stored are printable; bounds
// may be anything, such as a key with a NUL behind it, which is the next one.
func bound(s string) string {
	for i := range len(s) {
		switch {
		case s[i] < ' ':
			return s[:i] + "\x01"
		case s[i] > '~':
			return s[:i] + "\x7f"
		}
	}
	return s
}
