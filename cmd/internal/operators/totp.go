package operators

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// SeedSize is the size of a seed in bytes, as RFC 4226 section 4 recommends.
const SeedSize = 20

const (
	period    = 30 // seconds of a code
	maxIssuer = 64
)

// A Seed makes the codes of a second factor: TOTP (RFC 6238) with SHA-1, 30
// seconds and 6 digits, which every authenticator has. It prints as [redacted].
type Seed struct {
	redacted
	reveal func() [SeedSize]byte
}

// NewSeed makes a seed from entropy, which must come from a cryptographic source.
// The error is [*Invalid] for zeros, which is entropy nobody drew.
func NewSeed(entropy [SeedSize]byte) (Seed, error) {
	if entropy == [SeedSize]byte{} {
		return Seed{}, &Invalid{"seed", "is all zeros; draw 20 random bytes"}
	}
	return Seed{reveal: func() [SeedSize]byte { return entropy }}, nil
}

// ShowURI returns the seed in the clear, as the otpauth URI that authenticators
// read from a QR code. Show it once, at the enrolment, and keep it nowhere.
// issuer is the site's name for people: 1 to 64 bytes of printable UTF-8 without
// a colon. The error is [*Invalid].
func (s Seed) ShowURI(issuer, name string) (string, error) {
	if s.reveal == nil {
		return "", &Invalid{"seed", "is missing"}
	}
	odd := func(r rune) bool { return r == ':' || !unicode.IsPrint(r) }
	if issuer == "" || len(issuer) > maxIssuer || !utf8.ValidString(issuer) || strings.ContainsFunc(issuer, odd) {
		return "", &Invalid{"issuer", fmt.Sprintf("is not 1 to %d bytes of printable UTF-8 without a colon", maxIssuer)}
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	raw := s.reveal()
	secret := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw[:])
	return fmt.Sprintf("otpauth://totp/%s:%s?secret=%s&issuer=%s&algorithm=SHA1&digits=6&period=%d",
		url.PathEscape(issuer), url.PathEscape(name), secret, strings.ReplaceAll(url.QueryEscape(issuer), "+", "%20"), period), nil
}

// code returns the six digits of a step (RFC 4226 section 5.3).
func (s Seed) code(step uint64) string {
	raw := s.reveal()
	mac := hmac.New(sha1.New, raw[:])
	_ = binary.Write(mac, binary.BigEndian, step)
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:])&0x7fffffff%1_000_000)
}

// match returns the step that code is of: the one of now, the one before or the
// one after, and later than last, since each is used at most once. All three are
// compared, whichever it is.
func (s Seed) match(code string, now time.Time, last uint64) (uint64, bool) {
	sec := now.Unix()
	if s.reveal == nil || sec < period {
		return 0, false
	}
	var found uint64
	middle := uint64(sec) / period
	for step := middle - 1; step <= middle+1; step++ {
		if subtle.ConstantTimeCompare([]byte(s.code(step)), []byte(code)) == 1 && step > last {
			found = step
		}
	}
	return found, found != 0
}

// parseCode reads a code as people type it: six digits, spaces and dashes
// ignored. It returns "" for anything else.
func parseCode(typed string) string {
	const longest = 32
	if len(typed) > longest {
		return ""
	}
	code := strings.NewReplacer(" ", "", "-", "").Replace(typed)
	if len(code) != 6 || strings.Trim(code, "0123456789") != "" {
		return ""
	}
	return code
}
