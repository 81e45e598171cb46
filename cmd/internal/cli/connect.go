package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
)

// target is the server of a command and who asks there. A server that is named by
// itself gets the credential of no context, so that no secret goes to another.
func (a *app) target() (Context, error) {
	name, server := a.given.context, a.given.server
	switch {
	case name != "" && server != "":
		return Context{}, usage("--context and --server are both given").then("a context has its server: leave one out")
	case name == "" && server == "":
		name, server = a.Env("INGOT_CONTEXT"), a.Env("INGOT_SERVER")
		if name != "" && server != "" {
			return Context{}, usage("INGOT_CONTEXT and INGOT_SERVER are both set").then("unset one of them")
		}
	}
	t, err := a.chosen(name, server)
	if err != nil {
		return t, err
	}
	t.Pin = cmp.Or(a.given.pin, a.Env("INGOT_PIN"), t.Pin)
	t.KeyFile = cmp.Or(a.given.keyFile, a.Env("INGOT_KEY_FILE"), t.KeyFile)
	if t.Server == "" {
		return t, usage("no server is named").then("ingot context set NAME --server https://HOST:PORT --pin sha256/...; or --server, or INGOT_SERVER")
	}
	return t, nil
}

func (a *app) chosen(name, server string) (Context, error) {
	if server != "" {
		return Context{Server: server}, nil
	}
	all, err := a.contexts()
	if err != nil {
		return Context{}, err
	}
	if name = cmp.Or(name, all.Current); name == "" {
		return Context{}, nil
	}
	return all.get(name)
}

// A connection is a server ready to be called.
type connection struct {
	*api.Client
	where Context
}

// connect makes the client of a command. It sends nothing.
func (a *app) connect(d api.Def) (*connection, error) {
	t, err := a.target()
	if err != nil {
		return nil, err
	}
	base, dial, err := a.address(t.Server)
	if err != nil {
		return nil, err
	}
	trust, err := a.trust(t.Pin, base)
	if err != nil {
		return nil, err
	}
	tr := &http.Transport{DialContext: dial, TLSClientConfig: pin.Client(trust, a.Now), ForceAttemptHTTP2: true}
	c := &api.Client{Base: base.String(), HTTP: &http.Client{Transport: tr}, UserAgent: "ingot/" + cmp.Or(a.Version, "devel")}
	if d.Auth != api.Anonymous {
		c.Credential, err = a.credential(t)
	}
	return &connection{c, t}, err
}

// socketHost stands in the URLs of a server at a Unix socket, which is known by its
// path and whose permissions are the host's.
const socketHost = "ingotd.socket"

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// address reads where a server is: a URL, or unix:/path of its socket. What is not
// encrypted may only stay on this machine, since every call carries a secret.
func (a *app) address(server string) (*url.URL, dialer, error) {
	if path, ok := strings.CutPrefix(server, "unix:"); ok {
		path = strings.TrimPrefix(path, "//")
		return &url.URL{Scheme: "http", Host: socketHost}, func(ctx context.Context, _, _ string) (net.Conn, error) {
			return a.Dial(ctx, "unix", path)
		}, nil
	}
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, nil, usage("the server must be https://HOST:PORT or unix:/PATH")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, nil, usage("http to another machine would show your key to the network").then("use https; no certificate of an authority is needed, see `ingot help contexts`")
	}
	return u, a.Dial, nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// trust is which servers are believed: those with a pin, or those that the roots
// vouch for.
func (a *app) trust(pins string, base *url.URL) (pin.Trust, error) {
	t := pin.Trust{Name: base.Hostname(), Roots: a.Roots}
	switch {
	case pins == "" || base.Hostname() == socketHost:
		return t, nil
	case base.Scheme != "https":
		return t, usage("a pin is given, and %s has no key that it could be held against", base).then("use https")
	}
	for text := range strings.SplitSeq(pins, ",") {
		p, err := pin.Parse(strings.TrimSpace(text))
		if err != nil {
			return t, usage("%v", err)
		}
		t.Pins = append(t.Pins, p)
	}
	return t, nil
}

// credential is the secret that is shown: the key of a file before a kept token.
func (a *app) credential(t Context) (api.Credential, error) {
	secret := t.Token
	if t.KeyFile != "" {
		raw, err := a.slurp(t.KeyFile, maxSecret)
		if err != nil {
			return api.Credential{}, err
		}
		if secret = api.Secret(strings.TrimSpace(string(raw))); secret == "" || strings.ContainsAny(secret.Show(), " \t\r\n") {
			return api.Credential{}, usage("%s holds no key alone on one line", t.KeyFile)
		}
	}
	if secret == "" {
		return api.Credential{}, nil
	}
	return api.Bearer(secret.Show), nil
}

// explained turns what TLS met at a first contact into what a person can do. Nothing
// was sent: the handshake did not end.
func explained(err error, t Context) error {
	if wrong, ok := errors.AsType[*pin.Mismatch](err); ok {
		return &Refusal{
			t.Server + " presented the key " + wrong.Presented.String() + ", which is not the one that is trusted; nothing was sent",
			"compare it with what `ingotd pin` prints on the server: if they are equal, ingot context set " + cmp.Or(t.name, "NAME") + pinFlags(t, wrong.Presented) + "; if not, this is another server",
			"UNAUTHENTICATED",
		}
	}
	if none, ok := errors.AsType[*pin.NoCertificate](err); ok {
		return &Refusal{none.Error(), "", "UNAUTHENTICATED"}
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return &Refusal{t.Server + " cannot be reached: " + dial.Err.Error() + "; nothing was sent", "is ingotd running there, and is the address right? (ingot context list)", "UNAVAILABLE"}
	}
	bad, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok || len(bad.UnverifiedCertificates) == 0 {
		return err
	}
	got := pin.Of(bad.UnverifiedCertificates[0])
	return &Refusal{
		"first contact: " + t.Server + " presented the key " + got.String() + ", which nobody vouches for (" + bad.Err.Error() + "); nothing was sent",
		"compare it with what ingotd printed when it started, or `ingotd pin` prints on the server; only if they are equal: ingot context set " + cmp.Or(t.name, "NAME") + pinFlags(t, got),
		"UNAUTHENTICATED",
	}
}

func pinFlags(t Context, got pin.Pin) string {
	if t.name == "" {
		return " --server " + quote(t.Server) + " --pin " + got.String()
	}
	return " --pin " + got.String()
}
