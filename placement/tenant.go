package placement

// Tenant names who the work belongs to: 1 to [MaxTenant] of the letters,
// digits and . _ : - (API-5). The empty Tenant stands for no tenant in
// particular: it is let through only where every tenant is.
type Tenant string

const (
	// MaxTenant is the length of the longest tenant (API-5), in bytes.
	MaxTenant = 128
	// MaxDedicated is the length of the longest tenant that a node can be
	// dedicated to: what "dedicated=" leaves of a taint key (TAINT-1).
	MaxDedicated = MaxTaint - len(dedicated)
)

// ParseTenant checks s against the grammar of API-5.
func ParseTenant(s string) (Tenant, error) {
	if len(s) < 1 || len(s) > MaxTenant || !within(s, "._:-") {
		return "", &Invalid{"tenant", s, "1 to 128 letters, digits or . _ : -", "API-5"}
	}
	return Tenant(s), nil
}

// Dedicable reports whether a node can be dedicated to t: a tenant of at most
// [MaxDedicated] bytes that ends in a letter or digit (TAINT-1).
func (t Tenant) Dedicable() bool {
	_, err := ParseTenant(string(t))
	return err == nil && len(t) <= MaxDedicated && alphanumeric(t[len(t)-1])
}

// alphanumeric reports whether c is an ASCII letter or digit.
func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// within reports whether s has only letters, digits and bytes of marks.
func within(s, marks string) bool {
	for i := range len(s) {
		if !alphanumeric(s[i]) && !contains(marks, s[i]) {
			return false
		}
	}
	return true
}

// contains reports whether marks has c. It works on bytes, so that a part of
// a multi-byte character never passes as a mark.
func contains(marks string, c byte) bool {
	for i := range len(marks) {
		if marks[i] == c {
			return true
		}
	}
	return false
}

// key reports whether s is 1 to limit bytes of letters, digits and marks, and
// begins and ends with a letter or digit (TAINT-1, LABEL-1).
func key(s, marks string, limit int) bool {
	return len(s) >= 1 && len(s) <= limit && within(s, marks) &&
		alphanumeric(s[0]) && alphanumeric(s[len(s)-1])
}
