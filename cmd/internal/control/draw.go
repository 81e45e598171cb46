package control

import (
	"encoding/base32"
	"fmt"
	"io"

	"github.com/ingotmetal/ingot/identity/claim"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// A Draw draws names and secrets before a step, since a step may run twice.
type Draw struct{ Entropy io.Reader }

// crockford is Crockford's base32 in lower case, without padding.
func crockford() *base32.Encoding {
	return base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)
}

// ID is 128 random bits in 26 symbols behind a prefix, such as node_.
func (d Draw) ID(prefix string) (string, error) {
	var b [16]byte
	if err := d.Read(b[:]); err != nil {
		return "", err
	}
	return prefix + crockford().EncodeToString(b[:]), nil
}

// NodeID is a new node's name (API-5).
func (d Draw) NodeID() (lifecycle.NodeID, error) {
	id, err := d.ID("node_")
	return lifecycle.NodeID(id), err
}

// Secret is a new secret of kind.
func (d Draw) Secret(kind keys.Kind) (keys.Secret, error) {
	var b [keys.SecretSize]byte
	if err := d.Read(b[:]); err != nil {
		return keys.Secret{}, err
	}
	return keys.NewSecret(kind, b)
}

// Code is a new claim code.
func (d Draw) Code() (claim.Code, error) {
	var b [claim.EntropySize]byte
	if err := d.Read(b[:]); err != nil {
		return claim.Code{}, err
	}
	return claim.New(b), nil
}

// Read fills b.
func (d Draw) Read(b []byte) error {
	if _, err := io.ReadFull(d.Entropy, b); err != nil {
		return fmt.Errorf("no random bytes: %w", err)
	}
	return nil
}

// Fact is a secret as the record of a machine keeps it.
func Fact(s keys.Secret, scope string) registration.Key {
	return registration.Key{ID: s.ID(), Hash: registration.Hash(s.Hash()), Scope: scope}
}
