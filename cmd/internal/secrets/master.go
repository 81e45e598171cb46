// Package secrets keeps what a site must keep secret: the master secret in its
// file, the keys derived from it, values sealed into rows of the store, bundles
// sealed to agents (SET-17), encrypted backups, and the credentials of BMCs, which
// are named by reference and resolved late (PROV-9).
//
// Who steals the store has no key; who steals the master secret alone has
// nothing to open. Keep them apart in backups.
//
// Two parts draw randomness by themselves and cannot be handed any: crypto/hpke
// in [SealBundle] and age in [EncryptTo] and [Store]. The rest takes an io.Reader.
package secrets

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"

	"github.com/ingotmetal/ingot/identity/claim"
)

// Size is the size of the master secret, of derived keys and of MACs, in bytes.
const Size = 32

// hidden is what a secret prints as.
const hidden = "[redacted]"

// redacted keeps the struct that embeds it out of fmt, JSON and slog. The secret
// itself sits behind a closure, since fmt calls no method on an unexported field
// of someone else's struct; there it prints an address.
type redacted struct{}

// Format writes [redacted], whatever the verb.
func (redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText returns [redacted]; JSON and slog's handlers use it.
func (redacted) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// A Master is a site's one secret. All others that a site keeps are derived from
// it, so that one file is what there is to keep. It prints as [redacted]. The
// zero Master derives nothing usable: get one by Load or Create.
type Master struct {
	redacted
	reveal func() [Size]byte
}

// NewMaster takes a secret that was drawn from a cryptographic source. The error
// is [*Invalid] for zeros, which is a secret nobody drew.
func NewMaster(secret [Size]byte) (Master, error) {
	if secret == [Size]byte{} {
		return Master{}, &Invalid{"master secret", "is all zeros; draw 32 random bytes"}
	}
	return Master{reveal: func() [Size]byte { return secret }}, nil
}

// IsZero reports whether m is no secret.
func (m Master) IsZero() bool { return m.reveal == nil }

// derive returns the key of a label: HKDF-SHA256 (RFC 5869) without salt. The
// zero Master and labels without a use give zeros, which every taker refuses.
func (m Master) derive(label string) [Size]byte {
	if m.IsZero() {
		return [Size]byte{}
	}
	secret := m.reveal()
	key, err := hkdf.Key(sha256.New, secret[:], nil, "ingot site 1 "+label, Size)
	if err != nil {
		return [Size]byte{}
	}
	return [Size]byte(key)
}

// TokenKey is the key by which a booter makes the tokens in its paths.
func (m Master) TokenKey() [Size]byte { return m.derive("boot token") }

// SiteKey returns the key that the site's claim codes are hashed with (REG-5).
// The error is that of [claim.NewSiteKey], for the zero Master.
func (m Master) SiteKey() (claim.SiteKey, error) { return claim.NewSiteKey(m.derive("claim")) }

// A Use says what a Key is for; keys of different uses have nothing in common.
type Use string

// The uses of keys.
const (
	Cursors  Use = "cursor"  // cursors given to API callers
	Sessions Use = "session" // hashes of session tokens
)

// A Key makes and checks MACs for one use. It prints as [redacted]. The zero Key
// verifies nothing.
type Key struct {
	redacted
	reveal func() [Size]byte
}

// Key returns the key of a use, the zero Key for the zero Master.
func (m Master) Key(use Use) Key {
	if m.IsZero() || use == "" {
		return Key{}
	}
	key := m.derive("mac " + string(use))
	return Key{reveal: func() [Size]byte { return key }}
}

// MAC returns HMAC-SHA-256 of message, zeros for the zero Key.
func (k Key) MAC(message []byte) [Size]byte {
	if k.reveal == nil {
		return [Size]byte{}
	}
	key := k.reveal()
	mac := hmac.New(sha256.New, key[:])
	mac.Write(message)
	return [Size]byte(mac.Sum(nil))
}

// Verify reports, in constant time, whether mac is k's for message.
func (k Key) Verify(message, mac []byte) bool {
	want := k.MAC(message)
	return k.reveal != nil && subtle.ConstantTimeCompare(want[:], mac) == 1
}
