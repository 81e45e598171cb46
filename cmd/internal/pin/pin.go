// Package pin is how the two ends of a TLS connection know each other without an
// authority: the server makes a key at its first start and shows a self-signed
// certificate, and a client accepts the key whose pin it was given.
//
// A pin names a key, not a certificate: the server may renew its certificate and
// the pin stays. Who has a certificate of an authority gives no pin, and the client
// verifies as usual.
package pin

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"strings"
)

// A Pin is the SHA-256 of a public key as certificates carry it
// (SubjectPublicKeyInfo, RFC 7469 section 2.4).
type Pin [sha256.Size]byte

const prefix = "sha256/"

// Of is the pin of the key in a certificate.
func Of(cert *x509.Certificate) Pin { return sha256.Sum256(cert.RawSubjectPublicKeyInfo) }

// String is sha256/ and 44 characters of base64.
func (p Pin) String() string { return prefix + base64.StdEncoding.EncodeToString(p[:]) }

// MarshalText writes what Parse reads.
func (p Pin) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what String prints.
func (p *Pin) UnmarshalText(text []byte) error {
	got, err := Parse(string(text))
	if err == nil {
		*p = got
	}
	return err
}

// Parse reads what String prints, and nothing else.
func Parse(s string) (Pin, error) {
	rest, ok := strings.CutPrefix(s, prefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(rest)
	if !ok || err != nil || len(raw) != sha256.Size || len(rest) != base64.StdEncoding.EncodedLen(sha256.Size) {
		return Pin{}, &Malformed{}
	}
	return Pin(raw), nil
}

// among reports whether p is one of the list, in a time that does not tell which.
func (p Pin) among(list []Pin) bool {
	found := 0
	for _, q := range list {
		found |= subtle.ConstantTimeCompare(p[:], q[:])
	}
	return found == 1
}
