package secrets

import (
	"crypto/hpke"

	"github.com/ingotmetal/ingot/identity/bundle"
)

// SealBundle returns b in the wire form that only the agent of key `to` opens,
// with [bundle.PrivateKey.Open] (SET-17). Have checked before that to's Hash is
// the one that the operator approved. The error is [*bundle.Invalid].
//
// It draws an ephemeral key from the process's source of randomness, since
// crypto/hpke takes no other.
func SealBundle(to bundle.PublicKey, b bundle.Bundle) (string, error) {
	recipient, err := to.Recipient()
	if err != nil {
		return "", err
	}
	plain, err := b.Encode()
	if err != nil {
		return "", err
	}
	_, kdf, aead := bundle.Suite()
	sealed, err := hpke.Seal(recipient, kdf, aead, bundle.Info(b.Server, b.Epoch), plain)
	if err != nil {
		return "", &bundle.Invalid{What: "agent key", Why: "is a point that nothing can be sealed to"}
	}
	return bundle.Text(sealed), nil
}
