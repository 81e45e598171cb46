package wire

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"sync"

	"github.com/ingotmetal/ingot/bmc"
)

// PinOf is the pin of a certificate's key (RFC 7469, section 2.4).
func PinOf(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return bmc.PinPrefix + base64.StdEncoding.EncodeToString(sum[:])
}

// A peer remembers who answered.
type peer struct {
	mu  sync.Mutex
	pin string
}

// Peer is the pin of the TLS peer that answered last; empty before the first
// handshake and without TLS.
func (c *Client) Peer() string {
	c.peer.mu.Lock()
	defer c.peer.mu.Unlock()
	return c.peer.pin
}

// A stranger is the error of a peer that is not the pinned one.
type stranger struct{ got string }

func (e *stranger) Error() string {
	return "the peer's key is " + e.got + ", which is not the one that is trusted"
}

// tlsConfig is what t asks for. Pins are compared in VerifyConnection, which also
// runs when a session is resumed.
func tlsConfig(t bmc.Trust, p *peer, legacy bool) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if legacy {
		c.MinVersion, c.CipherSuites = tls.VersionTLS10, oldSuites()
	}
	switch {
	case t.CA != "":
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(t.CA)) {
			return nil, &bmc.Error{Kind: bmc.InvalidOption, Op: "endpoint", Sent: bmc.SentNo, Why: "the CA holds no certificate that can be read", Do: "want PEM"}
		}
	case t.Pin != "" || t.FirstUse || t.Insecure:
		c.InsecureSkipVerify = true //nolint:gosec // the key is compared below, or the operator named it insecure
	}
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the peer has no certificate")
		}
		return p.meet(PinOf(s.PeerCertificates[0]), t)
	}
	return c, nil
}

// meet compares a peer's pin with the one that t names or, on first use, with
// the first that was met.
func (p *peer) meet(pin string, t bmc.Trust) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	want := t.Pin
	if t.FirstUse {
		want = p.pin
	}
	if want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(pin)) != 1 {
		return &stranger{pin}
	}
	p.pin = pin
	return nil
}

// oldSuites are all that Go can speak, for BMCs that know the RSA key exchange
// alone.
func oldSuites() []uint16 {
	var ids []uint16
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		ids = append(ids, s.ID)
	}
	return ids
}
