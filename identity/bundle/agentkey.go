package bundle

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// KeySize is the size of an agent's keys in bytes, private and public
// (RFC 7748, X25519).
const KeySize = 32

// A PrivateKey is an agent's own, made anew at each boot (SET-17). It prints as
// [redacted]. The zero PrivateKey opens nothing.
type PrivateKey struct {
	reveal func() *ecdh.PrivateKey
}

// NewPrivateKey makes a key from entropy, which must come from a cryptographic
// source. The error is [*Invalid] for zeros, which is entropy nobody drew.
func NewPrivateKey(entropy [KeySize]byte) (PrivateKey, error) {
	if entropy == [KeySize]byte{} {
		return PrivateKey{}, &Invalid{"entropy", "is all zeros; draw 32 random bytes"}
	}
	key, err := ecdh.X25519().NewPrivateKey(entropy[:])
	if err != nil {
		return PrivateKey{}, &Invalid{"entropy", "makes no key"}
	}
	return PrivateKey{func() *ecdh.PrivateKey { return key }}, nil
}

// Public returns the key that bundles are sealed to, zeros for the zero
// PrivateKey.
func (k PrivateKey) Public() PublicKey {
	if k.reveal == nil {
		return PublicKey{}
	}
	return PublicKey(k.reveal().PublicKey().Bytes())
}

// Format writes [redacted], whatever the verb.
func (PrivateKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// MarshalText returns [redacted]; JSON and slog's handlers use it.
func (PrivateKey) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// A PublicKey is the agent's half that everybody may see. Its text form is 64
// lower-case hexadecimal digits.
type PublicKey [KeySize]byte

// Hash is what the announce carries and the approval page shows: SHA-256 of the
// key's bytes (SET-17).
func (p PublicKey) Hash() [sha256.Size]byte { return sha256.Sum256(p[:]) }

// Recipient returns p for package crypto/hpke. Whether anything can be sealed to
// it shows only there: some points of the curve are refused. The error is
// [*Invalid].
func (p PublicKey) Recipient() (hpke.PublicKey, error) {
	kem, _, _ := Suite()
	key, err := kem.NewPublicKey(p[:])
	if err != nil || p == (PublicKey{}) {
		return nil, &Invalid{"agent key", "is no X25519 public key"}
	}
	return key, nil
}

// String returns p's text form.
func (p PublicKey) String() string { return hex.EncodeToString(p[:]) }

// MarshalText returns p's text form.
func (p PublicKey) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads p's text form. The error is [*Invalid].
func (p *PublicKey) UnmarshalText(text []byte) error {
	key, err := ParsePublicKey(string(text))
	if err == nil {
		*p = key
	}
	return err
}

// ParsePublicKey reads the text form, exactly as String writes it. The error is
// [*Invalid].
func ParsePublicKey(s string) (PublicKey, error) {
	var p PublicKey
	if len(s) != 2*KeySize {
		return p, &Invalid{"agent key", fmt.Sprintf("has %d characters, want %d", len(s), 2*KeySize)}
	}
	if _, err := hex.Decode(p[:], []byte(s)); err != nil || p.String() != s {
		return PublicKey{}, &Invalid{"agent key", "is not lower-case hexadecimal"}
	}
	return p, nil
}
