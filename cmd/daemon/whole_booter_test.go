package daemon_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// A booterHost runs the booter's process, and starts it anew whenever it ends.
type booterHost struct {
	*whole
	mu     sync.Mutex
	copies int
	state  string // the state folder of the process that runs, or runs next
	starts int
}

func (b *booterHost) live(ctx context.Context) {
	select {
	case <-b.ready:
	case <-ctx.Done():
		return
	}
	for ctx.Err() == nil {
		_ = b.once(ctx) // it fails when it is killed, and that is what is meant
		b.starts++
		pause.For(ctx, time.Second+time.Duration(b.chance("booter restart", b.starts)%uint64(4*time.Second)))
	}
}

// kill ends the process. What it does to its files from now on, nobody sees: what runs
// next has a copy of them as they were.
func (b *booterHost) kill() {
	b.net.Settle()
	b.leave()
	b.net.Kill("booter")
}

// leave gives the process that runs next a copy of the state folder, and returns the
// folder of the one that runs.
func (b *booterHost) leave() (old string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.copies++
	old, b.state = b.state, filepath.Join(b.dir, fmt.Sprint("booter-", b.copies))
	if _, err := os.Stat(old); err != nil {
		return old // it has not begun
	}
	if err := errors.Join(os.CopyFS(b.state, os.DirFS(old)), asBefore(b.state)); err != nil {
		b.t.Error(err)
	}
	return old
}

// asBefore takes a folder's copy from the eyes of others again, as it was.
func asBefore(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return os.Chmod(path, mode)
	})
}

// doom lets nothing reach the disk any more, and kills the process a moment later: so
// ends one that is killed between what it heard and what it wrote.
func (b *booterHost) doom(moment time.Duration) {
	b.net.Settle()
	if old := b.leave(); old != b.state {
		_ = os.Rename(old, old+".gone")
	}
	time.Sleep(moment)
	b.net.Kill("booter")
}

func (b *booterHost) folder() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// once is one life of the booter's process.
func (b *booterHost) once(ctx context.Context) error {
	host := b.net.Host("booter")
	c, err := b.config(host.Addr())
	if err != nil {
		return err
	}
	packet := func(_ context.Context, _, address string) (net.PacketConn, error) {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return nil, err
		}
		return host.ListenPacket("lan", at)
	}
	out := daemon.Outside{Now: time.Now, Entropy: &drawn{n: b.seed + uint64(b.starts)}, Log: slog.New(slog.DiscardHandler), Listen: host.Listen, Packet: packet,
		Dial: func(network, address string) (net.Conn, error) { return host.DialContext(ctx, network, address) }}
	h, err := daemon.OpenBooter(ctx, c, []booter.Link{{Name: "lan", ServerID: host.Addr(), Networks: []netip.Prefix{wholeNet}}}, out)
	if err != nil {
		return err
	}
	h.Transfer = func(local netip.AddrPort) (net.PacketConn, error) { return packet(ctx, "udp4", local.String()) }
	for _, c := range []*api.Client{h.Booter, h.Enroll} {
		c.HTTP.Transport = &byPath{made: map[string]*http.Transport{}, dial: host.Dialer, tls: oldHTTP(c.HTTP.Transport.(*http.Transport).TLSClientConfig)}
	}
	err = h.Run(ctx)
	_ = h.Close()
	return err
}

// byPath has connections of their own for each path, by its name, since a booter's
// loops ask at the same instant.
type byPath struct {
	mu   sync.Mutex
	made map[string]*http.Transport
	dial func(label string) func(context.Context, string, string) (net.Conn, error)
	tls  *tls.Config
}

func (b *byPath) RoundTrip(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	t := b.made[r.URL.Path]
	if t == nil {
		t = &http.Transport{DialContext: b.dial(path.Base(r.URL.Path)), TLSClientConfig: b.tls.Clone()}
		b.made[r.URL.Path] = t
	}
	b.mu.Unlock()
	return t.RoundTrip(r)
}

func (b *booterHost) config(at netip.Addr) (daemon.BooterConfig, error) {
	c := config.Booter{Name: "b1", State: b.folder(), Address: at, Images: filepath.Join(b.dir, "images"), Server: config.Server{Address: "ingotd:443", Pin: b.tls.Pin().String()},
		Listen: config.BooterListen{DHCP: at.String() + ":67", PXE: config.None, TFTP: at.String() + ":69", HTTP: at.String() + ":8080", Session: at.String() + ":8443", Unix: config.None}}
	for path, secret := range map[*string]api.Secret{&c.Server.BooterKey: b.clients.booter, &c.Server.EnrollKey: b.enroll} {
		*path = filepath.Join(b.dir, fmt.Sprintf("%x.key", len(secret.Show()))+secret.Show()[:12])
		if err := os.WriteFile(*path, []byte(secret.Show()), 0o600); err != nil {
			return c, err
		}
	}
	return c.Filled(), nil
}
