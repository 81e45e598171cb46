package sessions

import (
	"crypto/hpke"
	"fmt"
	"io"

	"github.com/ingotmetal/ingot/identity/bundle"
)

// NonceSize is the size of the nonce in a challenge, in bytes.
const NonceSize = 32

// A Key is an agent's: it opens the bundle that was sealed to it, and challenges. It
// prints as [redacted].
type Key struct {
	bundle.PrivateKey
	reveal func() hpke.PrivateKey
}

// NewKey draws a key from entropy, a cryptographic source.
func NewKey(entropy io.Reader) (Key, error) {
	var seed [bundle.KeySize]byte
	if _, err := io.ReadFull(entropy, seed[:]); err != nil {
		return Key{}, fmt.Errorf("sessions: draw a key: %w", err)
	}
	own, err := bundle.NewPrivateKey(seed)
	if err != nil {
		return Key{}, err
	}
	kem, _, _ := bundle.Suite()
	opens, err := kem.NewPrivateKey(seed[:])
	if err != nil {
		return Key{}, &Unproven{"the key opens nothing"}
	}
	return Key{own, func() hpke.PrivateKey { return opens }}, nil
}

// challengeInfo is HPKE's info for a challenge of one machine: what was sealed as
// something else does not open as a challenge.
func challengeInfo(uuid string) []byte { return []byte("ingot session challenge\x00" + uuid) }

// SealNonce seals a nonce to an agent's key: encapsulated key and ciphertext, by the
// suite of bundles. crypto/hpke draws by itself. The error is that of a key to which
// nothing can be sealed.
func SealNonce(to bundle.PublicKey, uuid string, nonce []byte) ([]byte, error) {
	recipient, err := to.Recipient()
	if err != nil {
		return nil, err
	}
	_, kdf, aead := bundle.Suite()
	return hpke.Seal(recipient, kdf, aead, challengeInfo(uuid), nonce)
}

// OpenNonce opens a challenge. The error is *Unproven.
func (k Key) OpenNonce(uuid string, sealed []byte) ([]byte, error) {
	if k.reveal == nil {
		return nil, &Unproven{"this agent has no key"}
	}
	_, kdf, aead := bundle.Suite()
	nonce, err := hpke.Open(k.reveal(), kdf, aead, challengeInfo(uuid), sealed)
	if err != nil {
		return nil, &Unproven{"it was sealed to another key or machine, or was altered"}
	}
	return nonce, nil
}

// An Unproven reports a challenge that this agent cannot open.
type Unproven struct{ Why string }

// Error says why.
func (e *Unproven) Error() string { return "sessions: the challenge does not open: " + e.Why }

// Code is the error's wire name (API-3).
func (*Unproven) Code() string { return "INVALID_INPUT" }
