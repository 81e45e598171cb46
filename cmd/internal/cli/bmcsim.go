package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
)

// simFlags are what `ingot bmcsim` is asked for.
type simFlags struct {
	trees, quirks       []string
	count               int
	listen              string
	user, password      string
	tls, cert, certsKey string
	list, fetch         bool
}

// maxSims is the most BMCs in one process.
const maxSims = 20_000

func (a *app) bmcsimCommand() *cobra.Command {
	var s simFlags
	c := a.leaf("bmcsim", "Simulated BMCs that speak Redfish, over recorded machines", "ingot bmcsim --tree dell-r750-idrac9-6.00 --count 3 --listen 127.0.0.1:8000 --quirk on-is-slow",
		func(c *cobra.Command, _ []string) error {
			if s.list {
				return a.simList(c.Context())
			}
			if a.Listen == nil {
				return usage("this program was built without simulated BMCs")
			}
			ctx, done := context.WithCancel(c.Context())
			defer done()
			if a.given.timeout > 0 {
				ctx, done = context.WithTimeout(ctx, a.given.timeout)
				defer done()
			}
			return a.simulate(ctx, s)
		})
	c.Args = exactly(0)
	f := c.Flags()
	f.StringArrayVar(&s.trees, "tree", []string{"dell-r750-idrac9-6.00"}, "the `TREE` that BMCs show: a name, or a file of this form; repeat for more")
	f.IntVar(&s.count, "count", 0, "how many BMCs, which take the trees in turn; default one of each")
	f.StringVar(&s.listen, "listen", "127.0.0.1:0", "the `ADDRESS` of the first BMC; the others have the ports after it, with port 0 free ones")
	f.StringArrayVar(&s.quirks, "quirk", nil, "a `QUIRK` that all have; repeat for more")
	f.StringVar(&s.user, "user", bmcsim.DefaultUser, "the `NAME` of the account")
	f.StringVar(&s.password, "password-file", "", "a `FILE` with the password; default $INGOT_BMCSIM_PASSWORD, else one is drawn into bmcsim.password")
	f.StringVar(&s.tls, "tls", "self-signed", "`KIND`: self-signed, off, or files, with --cert and --cert-key")
	f.StringVar(&s.cert, "cert", "", "the `FILE` with the certificate, PEM")
	f.StringVar(&s.certsKey, "cert-key", "", "the `FILE` with its key, PEM")
	f.BoolVar(&s.fetch, "fetch", true, "fetch images of virtual media from their URLs")
	f.BoolVar(&s.list, "list", false, "list the trees and quirks, and end")
	_ = c.RegisterFlagCompletionFunc("tls", cobra.FixedCompletions([]string{"self-signed", "off", "files"}, noFiles))
	_ = c.RegisterFlagCompletionFunc("quirk", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, q := range bmcsim.Quirks() {
			names = append(names, q.Name)
		}
		return names, noFiles
	})
	_ = c.RegisterFlagCompletionFunc("tree", cobra.FixedCompletions(trees.Names(), cobra.ShellCompDirectiveDefault))
	return c
}

// A simQuirk is a line of the list.
type simQuirk struct {
	Name   string `json:"name"`
	Does   string `json:"does"`
	Source string `json:"source"`
	Tree   string `json:"tree,omitempty"`
}

func (a *app) simList(ctx context.Context) error {
	var list struct {
		Trees  []string   `json:"trees"`
		Quirks []simQuirk `json:"quirks"`
	}
	list.Trees = trees.Names()
	for _, q := range bmcsim.Quirks() {
		list.Quirks = append(list.Quirks, simQuirk{q.Name, q.Does, q.Source, q.Tree})
	}
	if a.structured() {
		return a.value(ctx, "bmcsim.list", must(list))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Trees:\n")
	for _, t := range list.Trees {
		fmt.Fprintf(&b, "  %s\n", t)
	}
	fmt.Fprintf(&b, "\nQuirks:\n")
	for _, q := range list.Quirks {
		fmt.Fprintf(&b, "  %-27s %s\n  %-27s (%s)\n", q.Name, q.Does, "", q.Source)
	}
	return a.print(b.String())
}

// A sim is a BMC that runs, as it is told.
type sim struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Tree string `json:"tree"`
	Pin  string `json:"pin,omitempty"` // of its key, as SHA-256 of its SubjectPublicKeyInfo
}

// simulate runs BMCs until ctx ends.
func (a *app) simulate(ctx context.Context, s simFlags) (err error) {
	spec, err := a.simSpec(s)
	if err != nil {
		return err
	}
	shown, err := a.simTrees(s.trees)
	if err != nil {
		return err
	}
	if s.count == 0 {
		s.count = len(shown)
	}
	if s.count < 1 || s.count > maxSims {
		return usage("--count %d", s.count).then("want 1 to %d", maxSims)
	}
	addresses, err := simAddresses(s.listen, s.count)
	if err != nil {
		return err
	}
	secret, file, err := a.simPassword(s.password)
	if err != nil {
		return err
	}
	spec.Options.Auth.User, spec.Options.Auth.Password = s.user, bmcsim.Password(secret)
	f := bmcsim.NewFleet(a.Entropy, nil)
	ended := make(chan error, s.count)
	started := 0
	defer func() {
		err = errors.Join(err, f.Close())
		for range started {
			if end := <-ended; !errors.Is(end, http.ErrServerClosed) {
				err = errors.Join(err, end)
			}
		}
	}()
	var list []sim
	for i, address := range addresses {
		spec.Name, spec.Tree = "bmc"+strconv.Itoa(i+1), shown[i%len(shown)]
		one, ln, err := a.simOne(ctx, f, spec, address)
		if err != nil {
			return err
		}
		started++
		go func() { ended <- f.ServeOne(ln, one.Name) }()
		list = append(list, one)
	}
	if err := a.simTell(ctx, list, s.user, file); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case end := <-ended:
		started--
		return &Refusal{"a BMC has ended: " + end.Error(), "", "UNAVAILABLE"}
	}
}

// simOne adds a BMC and opens its socket.
func (a *app) simOne(ctx context.Context, f *bmcsim.Fleet, spec bmcsim.Spec, address string) (sim, net.Listener, error) {
	if _, err := f.Add(spec); err != nil {
		return sim{}, nil, err
	}
	ln, err := a.Listen(ctx, "tcp", address)
	if err != nil {
		return sim{}, nil, &Refusal{"a BMC cannot listen: " + err.Error(), "give another --listen", "UNAVAILABLE"}
	}
	one := sim{Name: spec.Name, URL: "http://" + ln.Addr().String(), Tree: spec.Tree.Name()}
	if cert := f.Certificate(spec.Name); cert != nil {
		sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
		one.URL, one.Pin = "https://"+ln.Addr().String(), "sha256/"+base64.StdEncoding.EncodeToString(sum[:])
	}
	return one, ln, nil
}

// simTell says what runs.
func (a *app) simTell(ctx context.Context, list []sim, user, file string) error {
	if a.structured() {
		return a.value(ctx, "bmcsim", must(map[string]any{"bmcs": list, "user": user, "password_file": file}))
	}
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%-8s  %-32s  %s\n", s.Name, s.URL, clean(s.Tree))
	}
	from := "its password is what you gave"
	if file != "" {
		from = "its password is in " + quote(file)
	}
	fmt.Fprintf(&b, "the account is %s, %s; end with Ctrl-C\n", clean(user), from)
	return a.print(b.String())
}

// simSpec is what all BMCs have.
func (a *app) simSpec(s simFlags) (bmcsim.Spec, error) {
	var spec bmcsim.Spec
	switch s.tls {
	case "self-signed":
		spec.TLS.Kind = bmcsim.TLSSelfSigned
	case "off":
	case "files":
		cert, err := tls.LoadX509KeyPair(a.path(s.cert), a.path(s.certsKey))
		if err != nil {
			return spec, usage("--cert and --cert-key: %v", err)
		}
		spec.TLS = bmcsim.TLS{Kind: bmcsim.TLSGiven, Certificate: &cert}
	default:
		return spec, usage("--tls %s", quote(s.tls)).then("want self-signed, off or files")
	}
	if s.tls != "files" && (s.cert != "" || s.certsKey != "") {
		return spec, usage("--cert and --cert-key need --tls files")
	}
	for _, name := range s.quirks {
		q, err := bmcsim.FindQuirk(name)
		if err != nil {
			return spec, usage("--quirk %s", quote(name)).then("see `ingot bmcsim --list`")
		}
		spec = q.On(spec)
	}
	if s.fetch {
		spec.Options.Media.Client = &http.Client{Transport: &http.Transport{DialContext: a.Dial, ResponseHeaderTimeout: 30 * time.Second, TLSHandshakeTimeout: 30 * time.Second}}
	}
	return spec, nil
}

// simTrees reads trees, by name or from files.
func (a *app) simTrees(names []string) ([]*bmcsim.Tree, error) {
	var out []*bmcsim.Tree
	for _, name := range names {
		raw, err := []byte(nil), error(nil)
		if slices.Contains(trees.Names(), name) {
			raw, err = trees.Read(name)
		} else if raw, err = a.slurp(name, bmcsim.MaxTree); err != nil {
			return nil, usage("--tree %s is no name of a tree, and no file: %v", quote(name), err).then("see `ingot bmcsim --list`")
		}
		if err != nil {
			return nil, err
		}
		t, err := bmcsim.ParseTree(name, bytes.NewReader(raw))
		if err != nil {
			return nil, usage("--tree: %v", err)
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, usage("no --tree is given").then("see `ingot bmcsim --list`")
	}
	return out, nil
}

// simAddresses are where BMCs listen, from the first on.
func simAddresses(first string, n int) ([]string, error) {
	host, port, err := net.SplitHostPort(first)
	if err != nil {
		return nil, usage("--listen %s", quote(first)).then("want HOST:PORT, such as 127.0.0.1:8000")
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil || p > 0 && int(p)+n-1 > 65535 {
		return nil, usage("--listen %s: there are no ports for %d BMCs", quote(first), n).then("want a lower port, or 0 for free ones")
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && host != "localhost" {
		return nil, usage("--listen %s", quote(first)).then("want an address of this host")
	}
	out := make([]string, n)
	for i := range out {
		at := p
		if p > 0 {
			at += uint64(i)
		}
		out[i] = net.JoinHostPort(cmp.Or(host, "0.0.0.0"), strconv.FormatUint(at, 10))
	}
	return out, nil
}

// simPasswordFile is where a drawn password is written.
const simPasswordFile = "bmcsim.password"

// simPassword is the account's, and the file that it is in, where it is in one.
func (a *app) simPassword(file string) (secret, from string, err error) {
	if file == "" {
		if secret := a.Env("INGOT_BMCSIM_PASSWORD"); secret != "" {
			return secret, "", nil
		}
		return a.drawPassword(a.path(simPasswordFile))
	}
	raw, err := a.slurp(file, maxSecret)
	if err != nil {
		return "", "", err
	}
	if secret = strings.TrimRight(string(raw), "\r\n"); secret == "" {
		return "", "", usage("--password-file %s is empty", quote(file))
	}
	return secret, file, nil
}

// drawPassword draws one, unless that was done before.
func (a *app) drawPassword(file string) (string, string, error) {
	if raw, err := os.ReadFile(file); err == nil && len(bytes.TrimSpace(raw)) > 0 {
		return string(bytes.TrimSpace(raw)), file, nil
	}
	var drawn [10]byte
	if _, err := io.ReadFull(a.Entropy, drawn[:]); err != nil {
		return "", "", &Refusal{"a password cannot be drawn: " + err.Error(), "give --password-file FILE", "UNAVAILABLE"}
	}
	secret := hex.EncodeToString(drawn[:])
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		return "", "", &Refusal{"the password cannot be written: " + err.Error(), "give --password-file FILE", "UNAVAILABLE"}
	}
	return secret, file, nil
}
