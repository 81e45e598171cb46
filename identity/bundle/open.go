package bundle

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/base64"
	"strconv"
)

// sealedForm is the first byte of a sealed bundle: HPKE with the parts of Suite.
const sealedForm = 1

// overhead is what sealing adds: the form, the encapsulated key and the tag.
const overhead = 1 + KeySize + 16

// text is the one spelling of a sealed bundle.
var text = base64.RawURLEncoding.Strict()

// Suite returns the parts of HPKE (RFC 9180) that seal a bundle, base mode:
// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305.
func Suite() (hpke.KEM, hpke.KDF, hpke.AEAD) {
	return hpke.DHKEM(ecdh.X25519()), hpke.HKDFSHA256(), hpke.ChaCha20Poly1305()
}

// Info returns HPKE's info for a bundle of one server and setup_epoch. What was
// sealed for another server or an earlier approval does not open with it.
func Info(server string, epoch uint64) []byte {
	return []byte("ingot bundle 1\x00" + server + "\x00" + strconv.FormatUint(epoch, 10))
}

// Text returns the wire form of what HPKE's single-shot Seal returned.
func Text(ciphertext []byte) string {
	return text.EncodeToString(append([]byte{sealedForm}, ciphertext...))
}

// Open opens a sealed bundle that came for this server and setup_epoch. The
// error is [*Unopened], or [*Invalid] for what opens and is no bundle of theirs.
func (k PrivateKey) Open(server string, epoch uint64, sealed string) (Bundle, error) {
	if k.reveal == nil {
		return Bundle{}, &Unopened{"this agent has no key"}
	}
	if text.DecodedLen(len(sealed)) > MaxSize+overhead {
		return Bundle{}, &Unopened{"is too long for one"}
	}
	raw, err := text.DecodeString(sealed)
	if err != nil || len(raw) < overhead || raw[0] != sealedForm || Text(raw[1:]) != sealed {
		return Bundle{}, &Unopened{"has not the form of one; is the agent older than the site?"}
	}
	key, err := hpke.NewDHKEMPrivateKey(k.reveal())
	if err != nil {
		return Bundle{}, &Unopened{"this agent's key is no X25519 key"}
	}
	_, kdf, aead := Suite()
	plain, err := hpke.Open(key, kdf, aead, Info(server, epoch), raw[1:])
	if err != nil {
		return Bundle{}, &Unopened{"was sealed to another key, server or setup_epoch, or was altered"}
	}
	b, err := Decode(plain)
	if err != nil {
		return Bundle{}, err
	}
	if b.Server != server || b.Epoch != epoch {
		return Bundle{}, &Invalid{"bundle", "names another server or setup_epoch than it was sealed for"}
	}
	return b, nil
}

// An Unopened reports a sealed bundle that this agent cannot read. The setup
// cannot go on: announce again, and have it approved again.
type Unopened struct {
	Why string
}

// Error says why, and what is next.
func (e *Unopened) Error() string {
	return "bundle: the sealed bundle " + e.Why + "; end this setup and announce again (SET-17)"
}

// Code is the error's wire name (API-3).
func (e *Unopened) Code() string { return "INVALID_INPUT" }
