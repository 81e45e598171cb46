// Package daemon assembles ingot's daemons from their parts, which all come from
// outside: listeners, store, clock and entropy. So the whole runs in one process of
// a test, and a vendor builds a daemon with a driver of its own by copying one main.
package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/carry"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/metal"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/serve"
	"github.com/ingotmetal/ingot/cmd/internal/server"
	"github.com/ingotmetal/ingot/cmd/internal/server/metrics"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// The parts, by names that a main outside of this module can use.
type (
	Config   = config.Config
	Store    = store.Store
	Listener = serve.Listener
	Doer     = control.Doer
	Need     = lifecycle.Need
	Master   = secrets.Master
	System   = serve.System
	Driver   = bmc.Driver
	Dialer   = func(ctx context.Context, network, address string) (net.Conn, error)
)

// Ingotd is the control plane of a site. Fields without a comment are required.
type Ingotd struct {
	Version string
	Config  Config
	Store   Store // closed by who opened it, after Run
	Master  Master
	Now     func() time.Time
	Entropy io.Reader // a cryptographic source
	Log     *slog.Logger
	// Listeners are closed by Run.
	Listeners []Listener
	// Metrics is where Prometheus reads without proving who it is; may be nil.
	Metrics net.Listener
	// Doers carry out what states want from the world, by verb (lifecycle.Needs).
	// Of the verbs that nothing carries out, the count is shown.
	Doers map[string]Doer
	// Drivers are those that speak to BMCs, each by its own name, all by the dialer
	// that they are given. Nil: the site has no agent, and its BMCs are known and not
	// reached (MACH-6).
	Drivers func(Dialer) []Driver
	// DialBMC connects to the BMCs that no booter carries for; required with Drivers.
	DialBMC Dialer
	// Resolvers and Broker are those of Secrets; without them BMCs have no
	// credentials.
	Resolvers Resolvers
	Broker    Broker
	// Credentials tells who is at the other end of a Unix socket, and Host whether
	// that is the control plane's own host. Both may be nil: nobody is.
	Credentials func(net.Conn) (uid uint32, pid int32, ok bool)
	Host        func(uid uint32) bool
	// Backup copies the store; nil where it makes no copies of itself.
	Backup func(context.Context, io.Writer) error
	// Stats is the store's account of itself; may be nil.
	Stats func() metrics.Store
	// Certificate is when the certificate of the TCP listeners ends; may be nil.
	Certificate func() time.Time
	System      System // zero: none
	// Hashing is what passwords cost; zero takes the defaults.
	Hashing operators.Hashing
}

// run is an Ingotd that runs.
type run struct {
	*Ingotd
	door       *control.Door
	reconciler *control.Reconciler
	web        *serve.Server
	metrics    *metrics.Metrics
	live       *server.Live
	agent      *metal.Site // nil: none
	carriers   carry.Desk  // booters through which BMCs are reached
}

// Run serves the site until ctx ends, and then stops without a request cut short,
// or until the store stops, whose error it then returns: the process must end and
// start anew. All that it began has ended when it returns.
func (d *Ingotd) Run(ctx context.Context) error {
	r, handler, err := d.assemble(ctx)
	if err != nil {
		for _, l := range d.Listeners {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	begin := func(run func(context.Context)) { parts.Go(func() { run(ctx) }) }
	if !d.reads() {
		begin((&control.Sweeper{Door: r.door, Log: d.Log}).Run)
		begin(r.reconciler.Run)
		if r.agent != nil {
			begin(r.serveBMCs)
		}
		begin(r.seal)
	}
	begin(func(ctx context.Context) { // a store that has stopped stops the daemon
		select {
		case <-d.Store.Failed():
			stop()
		case <-ctx.Done():
		}
	})
	if d.Metrics != nil {
		begin(r.serveMetrics)
	}
	r.web.Handler = handler
	err = r.web.Serve(ctx, d.Listeners...)
	stop()
	return errors.Join(err, storeEnd(d.Store))
}

// reads reports whether another process writes the store, and does what deadlines and
// needs ask for.
func (d *Ingotd) reads() bool { return d.Config.Store.Postgres.Reader }

// storeEnd is why a store stopped by itself.
func storeEnd(s Store) error {
	err := s.Err()
	if errors.Is(err, store.ErrClosed) {
		return nil
	}
	return err
}

// assemble makes the parts, and the site's first row where it is new.
func (d *Ingotd) assemble(ctx context.Context) (*run, http.Handler, error) {
	r := &run{Ingotd: d}
	r.door = control.New(control.Config{Store: d.Store, Now: d.Now, World: r.world})
	r.begetAgent()
	if !d.reads() {
		if err := r.door.Found(ctx, control.Draw{Entropy: d.Entropy}); err != nil {
			return nil, nil, err
		}
	}
	doers := map[string]Doer{lifecycle.NeedAcceptance: r.door.Acceptance}
	if r.agent != nil {
		maps.Copy(doers, r.agent.Doers())
	}
	maps.Copy(doers, d.Doers)
	r.reconciler = &control.Reconciler{Door: r.door, Log: d.Log, Doers: doers}
	if r.agent != nil {
		r.reconciler.Seen = r.agent.Seen
	}
	r.web = r.shell()
	r.metrics = metrics.New(r.measures())
	hasher, err := operators.NewHasher(d.Hashing, d.Entropy)
	if err != nil {
		return nil, nil, err
	}
	srv, err := server.New(server.Config{Door: r.door, Master: d.Master, Entropy: d.Entropy, Log: d.Log, Owner: d.Config.Owner, Site: d.Config.Site,
		Hasher: hasher, Agent: r.asAgent(), Broker: d.Broker, Backup: d.Backup, OnHost: d.onHost, Source: source, Denied: r.metrics.Denied})
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	if err := srv.Mount(mux, d.Version); err != nil {
		return nil, nil, err
	}
	r.live = srv.Live()
	return r, r.routes(mux, srv), nil
}

// source is where a request came from, for limits; what comes by the local socket
// is from this host.
func source(ctx context.Context) netip.Addr {
	a := serve.SourceFrom(ctx)
	if !a.IsValid() {
		return netip.IPv6Loopback()
	}
	return a
}

// onHost reports whether a request came by the local socket from who may administer
// the host.
func (d *Ingotd) onHost(ctx context.Context) bool {
	p, ok := serve.PeerFrom(ctx)
	return ok && d.Host != nil && d.Host(p.UID)
}

// shell is what stands around the handlers.
func (r *run) shell() *serve.Server {
	l := r.Config.Limits
	return &serve.Server{Log: r.Log, TrustedProxies: r.Config.TrustedProxies, Credentials: r.Credentials, System: r.system(), Done: r.done,
		Limits: serve.Limits{Connections: l.Connections, PerSource: l.PerSource, Streams: l.Streams, Body: int64(l.Body)}}
}

// system tells the service manager that the process lives for as long as the store
// answers.
func (r *run) system() System {
	s := r.System
	if s.Alive == nil {
		s.Alive = r.ready
	}
	return s
}

// ready reports whether the site can be served.
func (r *run) ready(ctx context.Context) error {
	return r.Store.View(ctx, func(store.Reader) error { return nil })
}

// done counts a request that has ended.
func (r *run) done(d serve.Done) {
	if name := operation(d.Request); name != "" {
		r.metrics.Request(name, d.Status, d.Took)
	}
}

// seal moves old rows of the log into segments, once a day.
func (r *run) seal(ctx context.Context) {
	keep := r.Config.Retention
	s := &control.Sealer{Door: r.door, Dir: keep.Segments, Age: time.Duration(keep.Age), Keep: uint64(max(0, keep.Rows))}
	if s.Dir == "" || s.Age <= 0 {
		return
	}
	tick := time.NewTicker(24 * time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		made, err := s.Pass(ctx)
		for _, m := range made {
			r.Log.Info("rows of the log were sealed into a segment", "file", m.File, "to", m.To)
		}
		if err != nil && ctx.Err() == nil {
			r.Log.Error("rows of the log could not be sealed", "error", err, "next", "free space in "+s.Dir+"; the next try is in a day")
		}
	}
}

// serveMetrics serves Prometheus on its own listener.
func (r *run) serveMetrics(ctx context.Context) {
	web := &serve.Server{Handler: r.metrics.Handler(), Log: r.Log, Limits: serve.Limits{Connections: 16}}
	if err := web.Serve(ctx, Listener{Listener: r.Metrics}); err != nil {
		r.Log.Error("metrics are served no more", "error", err)
	}
}

// late is how far the sweeper is behind; a store that does not answer has other
// figures to tell of it.
func (r *run) late() time.Duration {
	late, _ := r.door.Overdue(context.Background())
	return late
}

// sessions is how many agents hold one.
func (r *run) sessions() int {
	if r.live == nil {
		return 0 // not yet
	}
	return r.live.Open()
}

// measures say where the figures are read.
func (r *run) measures() metrics.Config {
	c := metrics.Config{Version: r.Version, Store: r.Stats, Server: r.web.Stats, Needs: r.reconciler.Unserved, Late: r.late, Sessions: r.sessions, Certificate: r.Certificate,
		Verbs: []string{lifecycle.NeedWorkflow, lifecycle.NeedOff, lifecycle.NeedAcceptance, lifecycle.NeedRun, lifecycle.NeedPower, lifecycle.NeedDrain,
			lifecycle.NeedEvict, lifecycle.NeedOffline, lifecycle.NeedClean}}
	for rule := range keys.Rules() {
		c.Actions = append(c.Actions, string(rule.Action))
	}
	for _, op := range api.All() {
		c.Operations = append(c.Operations, op.Info().Name)
	}
	return c
}
