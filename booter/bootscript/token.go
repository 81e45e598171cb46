package bootscript

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/ingotmetal/ingot/booter"
)

// A Key makes tokens. It is secret, and drawn anew whenever the tokens of before are
// to be void. The zero Key makes and opens none.
type Key struct{ secret func() [32]byte }

// NewKey makes a key of 32 bytes of entropy.
func NewKey(secret [32]byte) Key { return Key{func() [32]byte { return secret }} }

// macDigits and proofDigits are the hexadecimal digits of a token: the MAC, and 128
// bits of HMAC-SHA-256 over it.
const (
	macDigits   = 12
	proofDigits = 32
)

// Token is the name of a machine in paths. Who sees it can ask for what the machine
// boots, as can anybody on its segment who takes its address.
func (k Key) Token(mac booter.MAC) string {
	if k.secret == nil {
		return ""
	}
	return hex.EncodeToString(mac[:]) + k.proof(mac)
}

// Open is the machine that a token names, false for one that k did not make.
func (k Key) Open(token string) (booter.MAC, bool) {
	var mac booter.MAC
	if k.secret == nil || len(token) != macDigits+proofDigits {
		return mac, false
	}
	if _, err := hex.Decode(mac[:], []byte(token[:macDigits])); err != nil {
		return booter.MAC{}, false
	}
	if !hmac.Equal([]byte(token), []byte(k.Token(mac))) {
		return booter.MAC{}, false
	}
	return mac, true
}

func (k Key) proof(mac booter.MAC) string {
	secret := k.secret()
	h := hmac.New(sha256.New, secret[:])
	h.Write([]byte("ingot boot token\x00"))
	h.Write(mac[:])
	return hex.EncodeToString(h.Sum(nil)[:proofDigits/2])
}
