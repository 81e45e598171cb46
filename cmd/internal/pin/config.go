package pin

import (
	"crypto/tls"
	"crypto/x509"
	"time"
)

// maxChain is the most certificates that a server may present.
const maxChain = 8

// Certificates returns what a server shows to a client; Source has it.
type Certificates func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// Server is the configuration of our listeners: TLS 1.3 alone, no session tickets,
// so that every connection proves itself anew, and HTTP/2 before HTTP/1.1.
func Server(show Certificates, now func() time.Time) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true,
		NextProtos:             []string{"h2", "http/1.1"},
		GetCertificate:         show,
		Time:                   now,
	}
}

// A Trust says which servers a client accepts. With Pins it is whoever has one of
// these keys, whatever else the certificate says: names and dates in a self-signed
// certificate prove nothing, and a machine whose clock is lost must still be able
// to connect. Without, it is whom Roots (nil: the system's) vouch for under Name.
type Trust struct {
	Pins  []Pin
	Name  string         // of the server, for verification and for errors
	Roots *x509.CertPool // without Pins
}

// Client is the configuration of a client that trusts t. Its errors are *Mismatch
// and *NoCertificate with pins, and those of crypto/tls without.
func Client(t Trust, now func() time.Time) *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: []string{"h2", "http/1.1"},
		ServerName: t.Name,
		RootCAs:    t.Roots,
		Time:       now,
	}
	if len(t.Pins) > 0 {
		c.InsecureSkipVerify = true // VerifyConnection holds the key against the pins
		c.VerifyConnection = t.verify
	}
	return c
}

// verify runs on every connection, resumed ones too.
func (t Trust) verify(s tls.ConnectionState) error {
	if n := len(s.PeerCertificates); n == 0 || n > maxChain {
		return &NoCertificate{n}
	}
	if got := Of(s.PeerCertificates[0]); !got.among(t.Pins) {
		return &Mismatch{Host: t.Name, Presented: got, Wanted: t.Pins}
	}
	return nil
}
