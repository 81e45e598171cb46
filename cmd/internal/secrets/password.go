package secrets

import (
	"crypto/subtle"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The longest username and password that are taken, in bytes. The longest
// password that a known BMC takes has 127.
const (
	MaxUsername = 256
	MaxPassword = 512
)

// A Password is one that a BMC is signed in to with. It prints as [redacted].
// The zero Password is none.
type Password struct {
	redacted
	reveal func() string
}

// NewPassword takes 1 to 512 bytes of UTF-8 without control characters; most
// BMCs take fewer. The error is [*Invalid].
func NewPassword(text string) (Password, error) {
	if why := unfitText(text, MaxPassword); why != "" {
		return Password{}, &Invalid{"password", why}
	}
	return Password{reveal: func() string { return text }}, nil
}

// Show returns the text, "" for the zero Password. Give it to what sends it and
// to nothing else.
func (p Password) Show() string {
	if p.reveal == nil {
		return ""
	}
	return p.reveal()
}

// IsZero reports whether p is no password.
func (p Password) IsZero() bool { return p.reveal == nil }

// Equal reports whether p and q are the same. Its time tells of their lengths
// alone.
func (p Password) Equal(q Password) bool {
	return p.IsZero() == q.IsZero() && subtle.ConstantTimeCompare([]byte(p.Show()), []byte(q.Show())) == 1
}

// Credentials are what a BMC is signed in to with.
type Credentials struct {
	Username string
	Password Password
	// Version changes exactly when username or password do, and tells nothing
	// of them: after a refused sign-in, wait for another one. Compare it with
	// that of the same reference alone, and of a file or the environment only
	// within one life of the process.
	Version string
}

// newCredentials checks both parts. The error is [*Invalid].
func newCredentials(username, password string) (Credentials, error) {
	if err := checkUsername(username); err != nil {
		return Credentials{}, err
	}
	p, err := NewPassword(password)
	return Credentials{Username: username, Password: p}, err
}

func checkUsername(name string) error {
	if why := unfitText(name, MaxUsername); why != "" {
		return &Invalid{"username", why}
	}
	return nil
}

// same reports whether c and d sign in alike, whatever their versions.
func (c Credentials) same(d Credentials) bool {
	return c.Username == d.Username && c.Password.Equal(d.Password)
}

// unfitText says why text is not sent to a BMC, "" if it may be. U+FFFD stands
// where a reader found no character: the true text is lost.
func unfitText(text string, most int) string {
	switch {
	case text == "":
		return "is empty"
	case len(text) > most:
		return fmt.Sprintf("has %d bytes, at most %d", len(text), most)
	case !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError):
		return "is no UTF-8"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "has a control character, such as the end of a line"
	}
	return ""
}
