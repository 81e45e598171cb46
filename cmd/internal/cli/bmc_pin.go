package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/wire"
)

type bmcPinned struct {
	Pin        string    `json:"pin"`
	Subject    string    `json:"subject"`
	Issuer     string    `json:"issuer"`
	Names      []string  `json:"names,omitempty"`
	NotBefore  time.Time `json:"not_before"`
	NotAfter   time.Time `json:"not_after"`
	SelfSigned bool      `json:"self_signed"`
	Protocol   string    `json:"protocol"`
}

func (a *app) bmcPin() *cobra.Command {
	var b bmcFlags
	c := a.leaf("pin", "Show the key and certificate of a BMC; no credentials are sent", "ingot bmc pin --url https://127.0.0.1:8000", func(c *cobra.Command, _ []string) error {
		ctx, done := context.WithTimeout(c.Context(), a.bmcTime(30*time.Second))
		defer done()
		e, err := a.endpoint(&b)
		if err != nil {
			return err
		}
		got, err := a.peer(ctx, e.URL)
		if err != nil {
			return err
		}
		if want := a.given.pin; want != "" && want != got.Pin {
			return &BMCFailure{Err: &bmc.Error{Kind: bmc.PeerIdentity, Op: "pin", Sent: bmc.SentNo, Why: fmt.Sprintf("the peer's key is %s, which is not the one that is trusted", got.Pin), Do: "compare the BMC's certificate on its console"}}
		}
		return a.show(ctx, "bmc.pin", got)
	})
	c.Args = exactly(0)
	a.endpointFlags(c, &b)
	return c
}

// bmcTime is a limit, unless --timeout gives another.
func (a *app) bmcTime(limit time.Duration) time.Duration {
	if a.given.timeout > 0 {
		return a.given.timeout
	}
	return limit
}

// peer shakes hands with a BMC and leaves: it takes any certificate, and old TLS,
// since it sends nothing.
func (a *app) peer(ctx context.Context, at string) (bmcPinned, error) {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" {
		return bmcPinned{}, usage("--url %s has no TLS", quote(at)).then("give https://HOST")
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	away := func(err error) error {
		return &BMCFailure{Err: &bmc.Error{Kind: bmc.Unreachable, Op: "pin", Sent: bmc.SentNo, Why: err.Error(), Do: "look at the BMC's network and power"}}
	}
	raw, err := a.Dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return bmcPinned{}, away(err)
	}
	defer raw.Close()
	config := &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS10, InsecureSkipVerify: true} //nolint:gosec // it is shown, and not trusted
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		config.CipherSuites = append(config.CipherSuites, s.ID)
	}
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return bmcPinned{}, away(err)
	}
	s := conn.ConnectionState()
	cert := s.PeerCertificates[0]
	return bmcPinned{
		Pin: wire.PinOf(cert), Subject: cert.Subject.String(), Issuer: cert.Issuer.String(), Names: cert.DNSNames, NotBefore: cert.NotBefore.UTC(), NotAfter: cert.NotAfter.UTC(),
		SelfSigned: cert.CheckSignatureFrom(cert) == nil || cert.Subject.String() == cert.Issuer.String(), Protocol: tls.VersionName(s.Version),
	}, nil
}
