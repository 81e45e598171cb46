package claim

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"time"
)

// SiteKeySize is the size of a site key in bytes, that of its hash.
const SiteKeySize = sha256.Size

// label keeps these hashes apart from anything else made with the site key.
const label = "ingot claim code 1\x00"

// A SiteKey hashes a site's claim codes. It is a secret kept apart from the
// rows: whoever has both finds every live code in seconds, since a plain hash
// of 30 bits is tried whole. The zero SiteKey makes no usable hash.
type SiteKey struct {
	redacted
	reveal func() [SiteKeySize]byte
}

// ErrNoSiteKey reports a site key of zeros, which is one nobody drew.
var ErrNoSiteKey error = noSiteKey{}

type noSiteKey struct{}

func (noSiteKey) Error() string { return "claim: the site key is all zeros; draw 32 random bytes" }

// Code is the error's wire name (API-3).
func (noSiteKey) Code() string { return "INVALID_CONFIG" }

// NewSiteKey takes a key that was drawn from a cryptographic source. A key of
// zeros is ErrNoSiteKey. Changing the key voids every code issued before.
func NewSiteKey(key [SiteKeySize]byte) (SiteKey, error) {
	if key == ([SiteKeySize]byte{}) {
		return SiteKey{}, ErrNoSiteKey
	}
	return SiteKey{reveal: func() [SiteKeySize]byte { return key }}, nil
}

// Hash returns what is kept of c: HMAC-SHA-256 under k. Equal codes have equal
// hashes, so an index over hashes finds the row. The zero Code and the zero
// SiteKey give the zero Hash.
func (k SiteKey) Hash(c Code) Hash {
	if k.reveal == nil || c.IsZero() {
		return Hash{}
	}
	key, symbols := k.reveal(), c.reveal()
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(label))
	mac.Write(symbols[:])
	return Hash(mac.Sum(nil))
}

// Issue returns what a row keeps of a code given out at now: valid for TTL.
func (k SiteKey) Issue(c Code, now time.Time) Issued {
	return Issued{Hash: k.Hash(c), Expires: now.Add(TTL)}
}

// A Hash stands for a code at rest. The zero Hash stands for none.
type Hash [sha256.Size]byte

// IsZero reports whether h stands for no code.
func (h Hash) IsZero() bool { return h == Hash{} }

// Equal compares in constant time. The zero Hash equals nothing, itself
// included, so that a row without a code cannot be claimed.
func (h Hash) Equal(o Hash) bool {
	return subtle.ConstantTimeCompare(h[:], o[:]) == 1 && !h.IsZero()
}

// String returns h in hexadecimal. Without the site key it tells nothing.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }
