package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/booter/dhcp4"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/booting"
	"github.com/ingotmetal/ingot/cmd/internal/carry"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/identity/keys"
)

// BooterConfig is the configuration of a booter.
type BooterConfig = config.Booter

// A Boothouse is what a booter's configuration names, opened. Close it last.
type Boothouse struct {
	Booterd
	Pin    string // of the key that the agents' sessions show
	at     netip.AddrPort
	images *images.Store
	open   []func() error
}

// The files in a booter's state folder.
const (
	worldFile   = "site.json"
	bundlesFile = "bundles.json"
	tokenFile   = "token.key"
)

// OpenBooter opens what c names, with links for its interfaces, and makes at the first
// start what is missing: the state folder, the key and certificate of sessions, the
// key of tokens.
func OpenBooter(ctx context.Context, c BooterConfig, links []booter.Link, out Outside) (*Boothouse, error) {
	h := &Boothouse{Booterd: Booterd{World: filepath.Join(c.State, worldFile), Bundles: filepath.Join(c.State, bundlesFile), Now: out.Now, Entropy: out.Entropy, Log: out.Log}}
	if err := h.fill(ctx, c, links, out); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Boothouse) fill(ctx context.Context, c BooterConfig, links []booter.Link, out Outside) error {
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return err
	}
	cert, err := pin.SelfSigned(pin.Maker{Dir: c.State, Names: []string{c.Address.String()}, Now: out.Now, Entropy: out.Entropy}, out.Log)
	if err != nil {
		return err
	}
	h.Pin = cert.Pin().String()
	key, err := tokenKey(filepath.Join(c.State, tokenFile), out)
	if err != nil {
		return err
	}
	if h.images, err = images.Create(c.Images); err != nil {
		return err
	}
	h.open = append(h.open, h.images.Close)
	if err := h.sockets(ctx, c, links, cert, out); err != nil {
		return err
	}
	if h.Booter, err = client(c, c.Server.BooterKey, out); err != nil {
		return err
	}
	if h.Enroll, err = client(c, c.Server.EnrollKey, out); err != nil {
		return err
	}
	if len(c.Carry) > 0 {
		if h.Carrier, err = carrier(c, out); err != nil {
			return err
		}
	}
	h.Desk = booting.NewDesk(h.place(c, links), h.images, key, out.Now)
	return nil
}

// BooterPin is the pin of the key that the agents' sessions show. At the first start
// there is none yet, and the key is made.
func BooterPin(c BooterConfig, out Outside) (string, error) {
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return "", err
	}
	cert, err := pin.SelfSigned(pin.Maker{Dir: c.State, Names: []string{c.Address.String()}, Now: out.Now, Entropy: out.Entropy}, out.Log)
	if err != nil {
		return "", err
	}
	return cert.Pin().String(), nil
}

// Address is where DHCP is answered.
func (h *Boothouse) Address() netip.AddrPort { return h.at }

// Close closes what Run did not.
func (h *Boothouse) Close() error {
	var errs []error
	for _, c := range h.open {
		if err := c(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	h.open = nil
	return errors.Join(errs...)
}

// place is what machines are told.
func (h *Boothouse) place(c BooterConfig, links []booter.Link) booting.Place {
	p := booting.Place{Name: c.Name, Links: links, Proxy: c.DHCP.Proxy, UBoot: c.DHCP.UBoot, ChainClass: c.DHCP.ChainClass, Ask: c.DHCP.AskPXE, DNS: c.DHCP.DNS,
		Limits: booter.Limits{MAC: booter.Limit{Max: c.DHCP.PerMAC, Per: 10 * time.Second}, Site: booter.Limit{Max: c.DHCP.PerSecond, Per: time.Second}},
		Loader: c.Loader, Server: c.Server.Address, ServerPin: c.Server.Pin, SessionPin: h.Pin}
	p.TFTP = c.Address
	p.HTTP = netip.AddrPortFrom(c.Address, port(h.HTTP.Addr()))
	p.Session = netip.AddrPortFrom(c.Address, port(h.Session.Addr())).String()
	return p
}

func port(a net.Addr) uint16 {
	at, _ := netip.ParseAddrPort(a.String())
	return at.Port()
}

// sockets opens all of them.
func (h *Boothouse) sockets(ctx context.Context, c BooterConfig, links []booter.Link, cert *pin.Source, out Outside) (err error) {
	if h.DHCP, err = h.dhcp(ctx, c.Listen.DHCP, links, out); err != nil {
		return err
	}
	if c.Listen.PXE != config.None {
		if h.PXE, err = h.dhcp(ctx, c.Listen.PXE, links, out); err != nil {
			return err
		}
	}
	if h.TFTP, err = out.Packet(ctx, "udp4", c.Listen.TFTP); err != nil {
		return err
	}
	h.open = append(h.open, h.TFTP.Close)
	if h.HTTP, err = out.Listen("tcp", c.Listen.HTTP); err != nil {
		return err
	}
	h.open = append(h.open, h.HTTP.Close)
	l, err := out.Listen("tcp", c.Listen.Session)
	if err != nil {
		return err
	}
	h.open = append(h.open, l.Close)
	h.Session = &Listener{Listener: l, TLS: pin.Server(cert.Certificate, out.Now)}
	if c.Listen.Unix == config.None {
		return nil
	}
	u, err := serve.UnixSocket{Path: c.Listen.Unix, Mode: 0o660, Listen: out.Listen, Dial: out.Dial}.Open()
	if err != nil {
		return err
	}
	h.open = append(h.open, u.Close)
	h.Local = &Listener{Listener: u}
	return nil
}

// dhcp opens a socket for DHCP. One that is no kernel's UDP socket stands on the first
// link.
func (h *Boothouse) dhcp(ctx context.Context, address string, links []booter.Link, out Outside) (dhcp4.Conn, error) {
	c, err := out.Packet(ctx, "udp4", address)
	if err != nil {
		return nil, err
	}
	h.open = append(h.open, c.Close)
	if !h.at.IsValid() {
		h.at, _ = netip.ParseAddrPort(c.LocalAddr().String())
	}
	if u, ok := c.(*net.UDPConn); ok {
		return dhcp4.Listen(u)
	}
	name := ""
	if len(links) > 0 {
		name = links[0].Name
	}
	return dhcp4.Plain(c, name), nil
}

// tokenKey is the key of tokens, made where there is none.
func tokenKey(path string, out Outside) (bootscript.Key, error) {
	m, err := secrets.Load(path)
	if bad, ok := errors.AsType[*secrets.BadFile](err); ok && bad.Code() == "NOT_FOUND" {
		m, err = secrets.Create(path, out.Entropy)
	}
	if err != nil {
		return bootscript.Key{}, err
	}
	return bootscript.NewKey(m.TokenKey()), nil
}

// client asks the control plane with the key in a file.
func client(c BooterConfig, file string, out Outside) (*api.Client, error) {
	tr, secret, err := toServer(c, file, out)
	if err != nil {
		return nil, err
	}
	tr.ForceAttemptHTTP2 = true
	return &api.Client{Base: "https://" + c.Server.Address, HTTP: &http.Client{Transport: tr}, Credential: api.Bearer(secret.Show), UserAgent: "booterd"}, nil
}

// carrier takes connections to BMCs for the control plane. Its line is a WebSocket, and
// so HTTP/1.1.
func carrier(c BooterConfig, out Outside) (*carry.Porter, error) {
	tr, secret, err := toServer(c, c.Server.BooterKey, out)
	if err != nil {
		return nil, err
	}
	tr.TLSClientConfig.NextProtos = []string{"http/1.1"}
	return &carry.Porter{Booter: c.Name, Server: "https://" + c.Server.Address, HTTP: &http.Client{Transport: tr}, Bearer: secret.Show,
		Networks: c.Carry, Lookup: out.Lookup, Dial: out.DialBMC, Log: out.Log}, nil
}

// toServer is a way to the control plane, by its pin, and the key in a file.
func toServer(c BooterConfig, file string, out Outside) (*http.Transport, keys.Secret, error) {
	p, err := pin.Parse(c.Server.Pin)
	if err != nil {
		return nil, keys.Secret{}, err
	}
	secret, err := keyFile(file)
	if err != nil {
		return nil, keys.Secret{}, err
	}
	host, _, _ := net.SplitHostPort(c.Server.Address)
	dial := func(_ context.Context, network, address string) (net.Conn, error) { return out.Dial(network, address) }
	return &http.Transport{DialContext: dial, TLSClientConfig: pin.Client(pin.Trust{Pins: []pin.Pin{p}, Name: host}, out.Now)}, secret, nil
}

// keyFile reads an API key from a file that is its owner's alone.
func keyFile(path string) (keys.Secret, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return keys.Secret{}, err
	}
	if fi.Mode().Perm()&0o077 != 0 {
		return keys.Secret{}, &Refused{"INVALID_CONFIG", path + " may be read by others", "chmod 600 " + path}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return keys.Secret{}, err
	}
	s, err := keys.ParseSecret(strings.TrimSpace(string(raw)))
	if err != nil {
		return keys.Secret{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Links are interfaces of this host by their names, each with its IPv4 networks and
// first address.
func Links(names []string) ([]booter.Link, error) {
	out := make([]booter.Link, 0, len(names))
	for _, name := range names {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return nil, fmt.Errorf("interface %s: %w", name, err)
		}
		addrs, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("interface %s: %w", name, err)
		}
		l := booter.Link{Name: name}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err != nil || !p.Addr().Is4() {
				continue
			}
			if !l.ServerID.IsValid() {
				l.ServerID = p.Addr()
			}
			l.Networks = append(l.Networks, p.Masked())
		}
		if !l.ServerID.IsValid() {
			return nil, fmt.Errorf("interface %s: has no IPv4 address: %w", name, fs.ErrNotExist)
		}
		out = append(out, l)
	}
	return out, nil
}
