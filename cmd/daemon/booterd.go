package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/booter/dhcp4"
	"github.com/ingotmetal/ingot/booter/httpboot"
	"github.com/ingotmetal/ingot/booter/tftp"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/booting"
	"github.com/ingotmetal/ingot/cmd/internal/carry"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
)

// Booterd is a boot service of a site. Fields without a comment are required.
type Booterd struct {
	Desk *booting.Desk
	// World is the file that keeps what is known of the site.
	World string
	// Bundles, less .json, begins the names of the files that keep sealed bundles until
	// their machines have them.
	Bundles string
	// Booter and Enroll are clients of the control plane with keys of the scopes
	// booter and ur_enroll (SET-16).
	Booter, Enroll *api.Client
	// Carrier takes ingotd's connections to BMCs; nil: it takes none.
	Carrier *carry.Porter
	Now     func() time.Time
	Entropy io.Reader // a cryptographic source
	Log     *slog.Logger
	// The sockets, which Run closes. Each but DHCP may be nil.
	DHCP, PXE dhcp4.Conn
	TFTP      net.PacketConn
	HTTP      net.Listener
	Session   *Listener
	Local     *Listener // for callers on this host
	Metrics   net.Listener
	// Transfer opens the socket of one TFTP transfer; nil takes a UDP socket.
	Transfer func(local netip.AddrPort) (net.PacketConn, error)
	System   System
}

// Run serves machines until ctx ends, or until a socket fails, whose error it then
// returns. All that it began has ended when it returns.
func (b *Booterd) Run(ctx context.Context) error {
	follower := &booting.Follower{Client: b.Booter, Desk: b.Desk, File: b.World, Log: b.Log}
	if err := follower.Load(); err != nil { // it is fetched anew
		b.Log.Warn("what was known of the site cannot be read", "error", err)
	}
	setups := &booting.Setups{Client: b.Enroll, Follower: follower, Desk: b.Desk, Log: b.Log, File: b.Bundles}
	if err := setups.Load(); err != nil {
		b.Log.Warn("bundles that were kept cannot be read; their setups end at their deadlines", "error", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g := &parts{stop: stop}
	g.run(ctx, follower.Run)
	g.run(ctx, (&booting.Reporter{Client: b.Booter, Desk: b.Desk, Log: b.Log}).Run)
	g.run(ctx, (&booting.Checker{Desk: b.Desk, Log: b.Log}).Run)
	g.run(ctx, setups.Run)
	if b.Carrier != nil {
		g.run(ctx, b.Carrier.Run)
	}
	b.packets(ctx, g)
	b.files(ctx, g)
	b.sessions(ctx, g, setups)
	return g.wait()
}

// parts are goroutines that end together: the first that fails stops the others.
type parts struct {
	stop func()
	all  sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func (p *parts) run(ctx context.Context, fn func(context.Context)) { p.all.Go(func() { fn(ctx) }) }

// serve runs what may fail.
func (p *parts) serve(fn func() error) {
	p.all.Go(func() {
		err := fn()
		if err != nil {
			p.mu.Lock()
			p.errs = append(p.errs, err)
			p.mu.Unlock()
		}
		p.stop()
	})
}

func (p *parts) wait() error {
	p.all.Wait()
	return errors.Join(p.errs...)
}

// packets serves DHCP.
func (b *Booterd) packets(ctx context.Context, g *parts) {
	for _, s := range []dhcp4.Server{{Conn: b.DHCP}, {Conn: b.PXE, BootPort: true}} {
		if s.Conn == nil {
			continue
		}
		s.Answer, s.Log = b.Desk.Answer, b.Log
		s.Failed = func(p *dhcp4.Packet, err error) {
			b.Log.Warn("a reply could not be sent", "mac", p.MAC.String(), "error", err)
		}
		g.serve(func() error { return s.Serve(ctx) })
	}
}

// files serves TFTP and HTTP.
func (b *Booterd) files(ctx context.Context, g *parts) {
	if b.TFTP != nil {
		t := &tftp.Server{Open: b.Desk.Open, Admit: b.Desk.Admit, Listen: b.Transfer, Now: b.Now}
		g.serve(func() error { return errors.Join(t.Serve(ctx, b.TFTP), b.TFTP.Close()) })
	}
	if b.HTTP != nil {
		web := httpboot.NewServer(&httpboot.Handler{Resolve: b.Desk.Resolve, Log: b.Log}, b.Log)
		g.serve(func() error { return until(ctx, web, b.HTTP) })
	}
}

// drain is how long transfers may go on when booterd stops.
const drain = 5 * time.Second

// until serves until ctx ends, and then lets transfers go on for a moment.
func until(ctx context.Context, web *http.Server, l net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err := web.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = web.Close()
	}
	<-ended
	return err
}

// sessions serves agents, and who is on this host.
func (b *Booterd) sessions(ctx context.Context, g *parts, setups *booting.Setups) {
	if b.Session != nil {
		host := &booting.Host{Setups: setups, Entropy: b.Entropy}
		mux := http.NewServeMux()
		mux.Handle(sessions.Path, &sessions.Handler{Now: b.Now, Log: b.Log, Serve: host.Serve})
		web := &serve.Server{Handler: mux, Log: b.Log, System: b.System}
		g.serve(func() error { return web.Serve(ctx, *b.Session) })
	}
	if b.Local != nil {
		web := &serve.Server{Handler: b.Desk.Local(), Log: b.Log}
		g.serve(func() error { return web.Serve(ctx, *b.Local) })
	}
	if b.Metrics != nil {
		web := &serve.Server{Handler: b.Desk.Metrics(), Log: b.Log}
		g.serve(func() error { return web.Serve(ctx, Listener{Listener: b.Metrics}) })
	}
}
