package sessions

import (
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/liveness/session"
)

// A NoHash reports a root password hash that is none. It does not have the text, which
// may be the password itself.
type NoHash struct{ Why string }

// Error says what one looks like.
func (e *NoHash) Error() string {
	return "sessions: the root password hash " + e.Why + "; make one with: openssl passwd -6"
}

// Code is the error's wire name (API-3).
func (*NoHash) Code() string { return "INVALID_INPUT" }

// CheckRoot refuses what is no hash of a root password as crypt(5) has it: a method
// between dollar signs, then its parameters, salt and digest. Passwords in clear, locked
// accounts ("!", "*") and the hashes of DES, which have no dollar signs, are none; nor is
// a text that would end a field of shadow(5) or a line of it. The error is *NoHash.
func CheckRoot(hash api.Secret) error {
	text := hash.Show()
	if len(text) > session.MaxHash {
		return &NoHash{"is longer than one can be"}
	}
	if strings.ContainsFunc(text, notOfHash) {
		return &NoHash{"has a character that none has"}
	}
	parts := strings.Split(text, "$")
	if len(parts) < 4 || parts[0] != "" || parts[len(parts)-1] == "" {
		return &NoHash{"has not the form $METHOD$SALT$DIGEST"}
	}
	if parts[1] == "" || len(parts[1]) > 16 || strings.ContainsFunc(parts[1], notOfMethod) {
		return &NoHash{"names no method"}
	}
	return nil
}

// notOfHash are the characters that crypt(5) allows nowhere.
func notOfHash(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(":;*!\\", r) }

func notOfMethod(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
}
