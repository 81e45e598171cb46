package pin

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

// How long a self-signed certificate is valid, and how long before its end it is
// renewed.
const (
	validity = 10 * 365 * 24 * time.Hour
	renewal  = 365 * 24 * time.Hour
	skew     = 24 * time.Hour // a client's clock may be behind
)

// A Maker keeps a key and a self-signed certificate in a folder, as tls.key and
// tls.crt.
type Maker struct {
	Dir     string
	Names   []string         // host names and addresses; default localhost
	Now     func() time.Time // required
	Entropy io.Reader        // required; the key is drawn from it
}

// KeyPath and CertificatePath are where the files are.
func (m Maker) KeyPath() string         { return filepath.Join(m.Dir, "tls.key") }
func (m Maker) CertificatePath() string { return filepath.Join(m.Dir, "tls.crt") }

// Ensure makes what is missing. A key that is there is never replaced, so the pin
// stays; the certificate is made anew when it is missing, belongs to another key,
// ends within a year, or does not have all of Names.
func (m Maker) Ensure() error {
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return &Unusable{m.Dir, "cannot be made", err}
	}
	if err := m.ensureKey(); err != nil {
		return err
	}
	pair, err := loadPair(m.CertificatePath(), m.KeyPath())
	if err == nil && m.serves(pair.Leaf) {
		return nil
	}
	return m.certify()
}

func (m Maker) ensureKey() error {
	path := m.KeyPath()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // whether it is usable is for its reader to say
	}
	key, err := draw(m.Entropy)
	if err != nil {
		return fmt.Errorf("pin: draw a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("pin: encode a key: %w", err)
	}
	err = whole.New(path, whole.Bytes(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	if err != nil && !errors.Is(err, fs.ErrExist) { // another process was first: its key holds
		return &Unusable{path, "cannot be written", err}
	}
	return nil
}

// draw takes a P-256 key from entropy by trying again until a number is in range
// (FIPS 186-5, A.2.2). Two tries in a row fail once in 2^64.
func draw(entropy io.Reader) (*ecdsa.PrivateKey, error) {
	var raw [32]byte
	var err error
	for range 8 {
		if _, err = io.ReadFull(entropy, raw[:]); err != nil {
			return nil, err
		}
		var key *ecdsa.PrivateKey
		if key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), raw[:]); err == nil {
			return key, nil
		}
	}
	return nil, err
}

// serves reports whether a certificate needs no renewal.
func (m Maker) serves(leaf *x509.Certificate) bool {
	now := m.Now()
	return now.After(leaf.NotBefore) && now.Before(leaf.NotAfter.Add(-renewal)) &&
		!slices.ContainsFunc(m.names(), func(n string) bool { return leaf.VerifyHostname(n) != nil })
}

func (m Maker) names() []string {
	if len(m.Names) == 0 {
		return []string{"localhost"}
	}
	return m.Names
}

// certify signs a new certificate with the key that is there.
func (m Maker) certify() error {
	raw, err := readKey(m.KeyPath())
	if err != nil {
		return err
	}
	key, err := parseKey(raw)
	if err != nil {
		return &Unusable{m.KeyPath(), "holds no private key", err}
	}
	var serial [16]byte
	if _, err := io.ReadFull(m.Entropy, serial[:]); err != nil {
		return fmt.Errorf("pin: draw a serial number: %w", err)
	}
	serial[0] = serial[0]&0x7f | 0x40 // positive, and of one length
	der, err := x509.CreateCertificate(m.Entropy, m.template(serial[:]), m.template(serial[:]), key.Public(), key)
	if err != nil {
		return fmt.Errorf("pin: sign a certificate: %w", err)
	}
	err = whole.Replace(m.CertificatePath(), whole.Bytes(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	if err != nil {
		return &Unusable{m.CertificatePath(), "cannot be written", err}
	}
	return nil
}

func (m Maker) template(serial []byte) *x509.Certificate {
	now := m.Now()
	t := &x509.Certificate{
		SerialNumber:          new(big.Int).SetBytes(serial),
		Subject:               pkix.Name{CommonName: "ingotd"},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(validity),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, n := range m.names() {
		if ip := net.ParseIP(n); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, n)
		}
	}
	return t
}

// parseKey reads the first PEM block of a key file. Its errors hold none of it.
func parseKey(raw []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, errors.New("no PEM block")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("no PKCS #8 key")
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("a key that cannot sign")
	}
	return signer, nil
}

// Load reads the pair that Ensure made.
func (m Maker) Load() (*tls.Certificate, error) { return loadPair(m.CertificatePath(), m.KeyPath()) }
