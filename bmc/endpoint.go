package bmc

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// An Endpoint says where a machine's BMC is and whom to trust there.
type Endpoint struct {
	// URL is scheme, host and, where it is not the scheme's own, port:
	// https://10.0.0.7. A path, query, fragment or user is refused.
	URL string
	// System selects the machine, as the driver names it: for Redfish a member's
	// Id or path, a UUID in either order, or a serial number. Empty where the BMC
	// has one.
	System  string
	Trust   Trust
	Options json.RawMessage // the driver's own; see [CheckOptions]
}

// Trust says which TLS peer a BMC may be. Exactly one field is set; the zero
// Trust takes the system's roots. A name is not enough: most BMCs sign
// themselves.
type Trust struct {
	CA  string // PEM certificates that sign it; the name in the URL must match
	Pin string // its key: "sha256/" and base64 of SHA-256 of the SubjectPublicKeyInfo (RFC 7469); no name is looked at
	// FirstUse takes whoever answers first. The pin is in [Probed.Peer]: record it,
	// and open with Pin from then on.
	FirstUse bool
	// Insecure takes whoever answers, each time, and is also what lets credentials
	// travel over http.
	Insecure bool
}

// PinPrefix begins a pin.
const PinPrefix = "sha256/"

// maxPEM bounds the certificates of a Trust, in bytes.
const maxPEM = 64 << 10

// Validate checks what can be checked without the network. The error is an
// [*Error] of kind [InvalidOption].
func (e Endpoint) Validate() error {
	bad := func(why, do string) error {
		return &Error{Kind: InvalidOption, Op: "endpoint", Sent: SentNo, Why: why, Do: do}
	}
	u, err := url.Parse(e.URL)
	switch {
	case err != nil || u.Scheme == "" || u.Hostname() == "" || len(e.URL) > 512 || !isPort(u):
		return bad("the URL is none", "want https://host or https://host:port")
	case u.User != nil:
		return bad("the URL holds a user", "name the credentials by a secret:// reference")
	case u.Path != "" && u.Path != "/" || strings.ContainsAny(e.URL, "?#"):
		return bad("the URL holds more than scheme, host and port", "want https://host or https://host:port")
	case len(e.System) > 256:
		return bad("the system selector is over 256 bytes", "name a member's Id, a UUID or a serial number")
	}
	return e.Trust.validate(bad)
}

func (t Trust) validate(bad func(why, do string) error) error {
	set := 0
	for _, is := range []bool{t.CA != "", t.Pin != "", t.FirstUse, t.Insecure} {
		if is {
			set++
		}
	}
	switch {
	case set > 1:
		return bad("more than one way to trust the peer is set", "want one of CA, pin, first use or insecure")
	case len(t.CA) > maxPEM:
		return bad("the CA's certificates are over 64 KiB", "name those that sign BMCs")
	case t.CA != "" && !strings.Contains(t.CA, "-----BEGIN CERTIFICATE-----"):
		return bad("the CA is no PEM certificate", "want -----BEGIN CERTIFICATE-----")
	case t.Pin != "" && !isPin(t.Pin):
		return bad("the pin is none", "want sha256/ and the base64 of SHA-256 of the peer's SubjectPublicKeyInfo")
	}
	return nil
}

func isPin(s string) bool {
	digest, ok := strings.CutPrefix(s, PinPrefix)
	raw, err := base64.StdEncoding.DecodeString(digest)
	return ok && err == nil && len(raw) == 32 && base64.StdEncoding.EncodeToString(raw) == digest
}

// isPort reports whether u names no port, or one that there is.
func isPort(u *url.URL) bool {
	port := u.Port()
	if port == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}
