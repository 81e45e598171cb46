package bmcsim

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// A TLSKind is how a BMC shows who it is.
type TLSKind string

// The kinds. The zero value is plain HTTP.
const (
	TLSOff        TLSKind = ""
	TLSSelfSigned TLSKind = "self-signed" // by its own key
	TLSAuthority  TLSKind = "authority"   // by the fleet's authority
	TLSExpired    TLSKind = "expired"     // by the authority, until yesterday
	TLSWrongName  TLSKind = "wrong-name"  // by the authority, for another host
	TLSGiven      TLSKind = "given"       // TLS.Certificate
)

// TLS is a BMC's.
type TLS struct {
	Kind TLSKind
	// Names and addresses in the certificate; none: localhost, 127.0.0.1 and ::1, and
	// the name of the BMC.
	Names []string
	// NewKey has another key after each restart of the BMC. It needs TLSSelfSigned or
	// TLSAuthority.
	NewKey bool
	TLS12  bool // no newer version
	// RSAExchange has nothing but RSA key exchange, as old BMCs do. It implies TLS12.
	RSAExchange bool
	Certificate *tls.Certificate // of TLSGiven
}

func (s TLS) validate() error {
	switch s.Kind {
	case TLSOff, TLSSelfSigned, TLSAuthority, TLSExpired, TLSWrongName:
	case TLSGiven:
		if s.Certificate == nil {
			return &OptionError{"TLS.Certificate", "there is none"}
		}
	default:
		return &OptionError{"TLS.Kind", fmt.Sprintf("%q is unknown", s.Kind)}
	}
	if s.NewKey && s.Kind != TLSSelfSigned && s.Kind != TLSAuthority {
		return &OptionError{"TLS.NewKey", fmt.Sprintf("there is none with %q", s.Kind)}
	}
	return nil
}

// An Authority signs certificates of BMCs.
type Authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// NewAuthority makes one that is good for ten years.
func NewAuthority(entropy io.Reader) (*Authority, error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), entropy)
	if err != nil {
		return nil, fmt.Errorf("bmcsim: authority: %w", err)
	}
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "simulated BMCs"}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(entropy, t, t, k.Public(), k)
	if err != nil {
		return nil, fmt.Errorf("bmcsim: authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{k, cert}, err
}

// Certificate is what clients trust.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// certificate makes what a BMC shows.
func (s TLS) certificate(entropy io.Reader, name string, by *Authority, now time.Time) (*tls.Certificate, error) {
	if s.Kind == TLSGiven {
		return s.Certificate, nil
	}
	k, err := s.newKey(entropy)
	if err != nil {
		return nil, fmt.Errorf("bmcsim: key: %w", err)
	}
	serial := new(big.Int).SetInt64(now.UnixNano())
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(5, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	names := s.Names
	if len(names) == 0 {
		names = []string{name, "localhost", "127.0.0.1", "::1"}
	}
	if s.Kind == TLSWrongName {
		names = []string{"another.invalid"}
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else if n != "" {
			t.DNSNames = append(t.DNSNames, n)
		}
	}
	if s.Kind == TLSExpired {
		t.NotBefore, t.NotAfter = now.AddDate(-1, 0, 0), now.AddDate(0, 0, -1)
	}
	issuer, signer := t, crypto.Signer(k)
	if s.Kind != TLSSelfSigned {
		issuer, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(entropy, t, issuer, k.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("bmcsim: certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: k}, nil
}

func (s TLS) newKey(entropy io.Reader) (crypto.Signer, error) {
	if s.RSAExchange {
		return rsa.GenerateKey(entropy, 2048)
	}
	return ecdsa.GenerateKey(elliptic.P256(), entropy)
}

// config is the server's, with the certificate that get returns.
func (s TLS) config(get func() *tls.Certificate) *tls.Config {
	c := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return get(), nil },
	}
	if s.TLS12 || s.RSAExchange {
		c.MaxVersion = tls.VersionTLS12
	}
	if s.RSAExchange {
		c.CipherSuites = []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384}
	}
	return c
}
