package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

const (
	// MaxPlain bounds what is sealed, in bytes.
	MaxPlain = 64 << 10

	// sealForm is the first byte of a sealed value: AES-256-GCM, the nonce
	// after it.
	sealForm  = 1
	nonceSize = 12
	tagSize   = 16
)

// spelling is the one text form of a sealed value.
var spelling = base64.RawURLEncoding.Strict()

// A Purpose says what a sealed value is. Each has a key of its own.
type Purpose string

// The purposes.
const (
	AgentKey  Purpose = "agent-key"  // plaintext that waits for an agent's poll (REG-6)
	SetupKeys Purpose = "setup-keys" // a bundle that nobody has drained (SET-5)
	TicketKey Purpose = "ticket-key" // kept while tickets are checked
	RootHash  Purpose = "root-hash"  // a machine's root password hash (REG-16)
	TOTPSeed  Purpose = "totp-seed"  // an operator's second factor
)

// A Place is where a sealed value stands. It opens there and nowhere else: not
// in another row, for another purpose or in a later epoch of the same row.
type Place struct {
	Purpose Purpose
	Row     string // what owns it, by its kind and name or UUID; never ""
	Epoch   uint64 // of the owner, where it has one
}

// String names the place. It says nothing of the value.
func (p Place) String() string { return fmt.Sprintf("%s of %q, epoch %d", p.Purpose, p.Row, p.Epoch) }

// bound returns p as associated data; no two places have the same.
func (p Place) bound() []byte {
	b := binary.BigEndian.AppendUint64([]byte{sealForm}, p.Epoch)
	b = binary.BigEndian.AppendUint32(b, uint32(len(p.Purpose)))
	return append(append(b, p.Purpose...), p.Row...)
}

// A Sealer seals and opens values kept in rows. It prints as [redacted] and is
// safe for concurrent use.
type Sealer struct {
	redacted
	master  Master
	mu      sync.Mutex // entropy is read by one at a time
	entropy io.Reader
}

// NewSealer returns a sealer that draws its nonces from entropy, which must be a
// cryptographic source that never repeats itself.
func NewSealer(m Master, entropy io.Reader) *Sealer { return &Sealer{master: m, entropy: entropy} }

// Seal returns plain sealed for place, in printable ASCII. A purpose can take
// some 2^32 values before random nonces of 96 bits may meet (NIST SP 800-38D);
// a site seals thousands. The error is [*Invalid], or entropy's.
func (s *Sealer) Seal(place Place, plain []byte) (string, error) {
	switch {
	case len(plain) > MaxPlain:
		return "", &Invalid{"value", fmt.Sprintf("has %d bytes, at most %d", len(plain), MaxPlain)}
	case place.Purpose == "" || place.Row == "":
		return "", &Invalid{"place", "names no purpose or no row"}
	}
	aead, err := s.aead(place)
	if err != nil {
		return "", err
	}
	out := make([]byte, 1+nonceSize, 1+nonceSize+len(plain)+tagSize)
	out[0] = sealForm
	if err := s.draw(out[1:]); err != nil {
		return "", err
	}
	return spelling.EncodeToString(aead.Seal(out, out[1:], plain, place.bound())), nil
}

func (s *Sealer) draw(nonce []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.ReadFull(s.entropy, nonce); err != nil {
		return fmt.Errorf("secrets: no entropy for a nonce: %w", err)
	}
	return nil
}

// Open returns what was sealed for place. The error is [*Unsealable] and carries
// nothing of the value.
func (s *Sealer) Open(place Place, sealed string) ([]byte, error) {
	if spelling.DecodedLen(len(sealed)) > 1+nonceSize+MaxPlain+tagSize {
		return nil, &Unsealable{place, "is too long for one"}
	}
	raw, err := spelling.DecodeString(sealed)
	if err != nil || len(raw) < 1+nonceSize+tagSize || raw[0] != sealForm || spelling.EncodeToString(raw) != sealed {
		return nil, &Unsealable{place, "has not the form of one"}
	}
	aead, err := s.aead(place)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, raw[1:1+nonceSize], raw[1+nonceSize:], place.bound())
	if err != nil {
		return nil, &Unsealable{place, "was sealed elsewhere or by another master secret, or was altered"}
	}
	return plain, nil
}

func (s *Sealer) aead(place Place) (cipher.AEAD, error) {
	if s.master.IsZero() {
		return nil, &Invalid{"master secret", "is not there; Load or Create it"}
	}
	key := s.master.derive("seal " + string(place.Purpose))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
