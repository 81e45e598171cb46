package keys

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
)

// A Kind says what a secret opens. It is part of the wire form, so that one kind
// is never taken for another.
type Kind string

// The kinds of secrets.
const (
	APIKey       Kind = "key"     // a Key's
	TicketKey    Kind = "ticket"  // a Ticket's, for HS256
	PollToken    Kind = "poll"    // a registering agent's, for its status (REG-6)
	SessionToken Kind = "session" // an operator's, from signing in (ID-8)
)

const (
	// SecretSize is the number of random bytes in a secret. 256 bits are past
	// guessing, so a plain hash at rest is enough.
	SecretSize = 32

	// Pattern is a regular expression for leak scanners: every secret's wire
	// form matches it, and its last 32 bits are a checksum to weed out chance.
	Pattern = `ingot_(key|ticket|poll|session)_[0-9a-hjkmnp-tv-z]{58}`

	prefix   = "ingot_"
	bodySize = SecretSize + crc32.Size
	bodyLen  = (bodySize*8 + 4) / 5
	maxWire  = len(prefix) + len(SessionToken) + 1 + bodyLen
)

// wire is Crockford's base32 in lower case.
var wire = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// A Secret is a key, ticket key or token in the clear. It prints as [redacted]
// everywhere but from Show. The zero Secret is none: it shows as "" and matches
// no hash.
type Secret struct {
	kind   Kind
	reveal func() [SecretSize]byte
}

// NewSecret makes a secret of kind from entropy, which must come from a
// cryptographic source. The error is [*Invalid] for an unknown kind, or for
// entropy of zeros, which is entropy nobody drew.
func NewSecret(kind Kind, entropy [SecretSize]byte) (Secret, error) {
	switch {
	case !slices.Contains([]Kind{APIKey, TicketKey, PollToken, SessionToken}, kind):
		return Secret{}, &Invalid{What: "kind", Why: fmt.Sprintf("%q is unknown", kind)}
	case entropy == [SecretSize]byte{}:
		return Secret{}, &Invalid{What: "entropy", Why: "all zeros; draw 32 random bytes"}
	}
	return Secret{kind, func() [SecretSize]byte { return entropy }}, nil
}

// ParseSecret reads a wire form, exactly as Show wrote it. The error is
// [*Unauthenticated] and never carries the input.
func ParseSecret(s string) (Secret, error) {
	bad := func(why string) (Secret, error) {
		return Secret{}, &Unauthenticated{What: "secret", Why: why}
	}
	if len(s) > maxWire {
		return bad("is too long")
	}
	rest, ok := strings.CutPrefix(s, prefix)
	kind, body, cut := strings.Cut(rest, "_")
	if !ok || !cut || len(body) != bodyLen {
		return bad("has not the form of one")
	}
	raw, err := wire.DecodeString(body)
	if err != nil || len(raw) != bodySize || wire.EncodeToString(raw) != body {
		return bad("has not the form of one")
	}
	secret, err := NewSecret(Kind(kind), [SecretSize]byte(raw[:SecretSize]))
	if err != nil || secret.Show() != s {
		return bad("has a wrong checksum or kind; was it cut or mistyped?")
	}
	return secret, nil
}

// IsZero reports whether s is no secret.
func (s Secret) IsZero() bool { return s.reveal == nil }

// Kind returns what s opens, "" for the zero Secret.
func (s Secret) Kind() Kind { return s.kind }

// Show returns s in the clear: ingot_, the kind, _, and 58 symbols of base32
// that hold 32 bytes and the CRC-32 of all before it. It is the only way to see
// a secret; deliver the result and keep it nowhere.
func (s Secret) Show() string {
	if s.IsZero() {
		return ""
	}
	head, raw := prefix+string(s.kind)+"_", s.reveal()
	sum := crc32.ChecksumIEEE(append([]byte(head), raw[:]...))
	return head + wire.EncodeToString(binary.BigEndian.AppendUint32(raw[:], sum))
}

// ID returns a name for s that may be shown and logged: the kind and 80 bits of
// a hash of their own. It finds a key's row and says nothing of its Hash.
func (s Secret) ID() string {
	if s.IsZero() {
		return ""
	}
	sum := s.digest("id")
	return string(s.kind) + "_" + wire.EncodeToString(sum[:10])
}

// Hash returns what is kept of s at rest, the zero Hash for the zero Secret.
func (s Secret) Hash() Hash {
	if s.IsZero() {
		return Hash{}
	}
	return s.digest("hash")
}

// digest hashes s for one use. The kind is in it: a poll token never matches a
// key's hash, though the bytes were the same.
func (s Secret) digest(use string) [sha256.Size]byte {
	raw := s.reveal()
	return sha256.Sum256(append([]byte("ingot secret 1 "+use+" "+string(s.kind)+"\x00"), raw[:]...))
}

// Format writes [redacted], whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// MarshalText returns [redacted]; JSON and slog's handlers use it.
func (Secret) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// A Hash is a secret at rest. The zero Hash stands for none.
type Hash [sha256.Size]byte

// IsZero reports whether h stands for no secret.
func (h Hash) IsZero() bool { return h == Hash{} }

// String returns h in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }
