package daemon_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/pin"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/simnet"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
)

// A world is a site in a bubble: the control plane, which is killed and started anew,
// its network, and the clients that live through it.
type world struct {
	t      *testing.T
	seed   uint64
	net    *simnet.Net
	disk   *storetest.Disk
	plant  plant
	master secrets.Master
	tls    *pin.Source // of the control plane; nil: plain HTTP alone
	source *drawn
	calm   time.Time // from then on nothing fails any more
	end    time.Time // when the world was stopped; stopping takes time too
	starts int
}

// drawn is entropy that a seed decides. Requests are handled one at a time, since
// the net delivers one at a time, so that their draws have an order.
type drawn struct {
	mu sync.Mutex
	n  uint64
}

func (d *drawn) Read(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range b {
		d.n = d.n*6364136223846793005 + 1442695040888963407
		b[i] = byte(d.n >> 56)
	}
	return len(b), nil
}

// chance is a hash of the seed and a place, so that no draw depends on another.
func (w *world) chance(place string, n int) uint64 {
	h := w.seed*0x9e3779b97f4a7c15 + uint64(n)*0xbf58476d1ce4e5b9
	for i := range len(place) {
		h = (h ^ uint64(place[i])) * 0x100000001b3
	}
	h ^= h >> 31
	h *= 0x94d049bb133111eb
	return h ^ h>>29
}

// faultTime is how long things fail, quietTime how long they then do not: more than
// the longest deadline of a setup.
const (
	faultTime = 20 * time.Minute
	quietTime = 50 * time.Minute
)

// A life is what became of a site by one seed.
type life struct {
	trace  [32]byte // of all that happened on the net
	faults map[simnet.Kind]int
	broken []string // what the oracles say
	log    string   // the last that happened
}

// bubble makes a world of a seed, in a bubble of its own, and lets fn live in it. The
// net remembers so many events, each in such detail.
func bubble(t *testing.T, seed uint64, p plant, o simnet.Options, fn func(*world)) {
	cryptotest.SetGlobalRandom(t, seed)
	o.Rule = simnet.Rule{Latency: simnet.Span{Min: 200 * time.Microsecond, Max: 5 * time.Millisecond}}
	synctest.Test(t, func(t *testing.T) {
		master, err := secrets.NewMaster([secrets.Size]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, seed: seed, plant: p, master: master, source: &drawn{n: seed}, disk: &storetest.Disk{Name: "lab"}, calm: time.Now().Add(faultTime)}
		w.net = simnet.New(seed, o)
		fn(w)
		w.net.Close()
	})
}

// run lives through a seed, and remembers so many events of it.
func run(t *testing.T, seed uint64, p plant, events int) (l life) {
	bubble(t, seed, p, simnet.Options{Log: events}, func(w *world) { w.live(&l) })
	return l
}

// live starts everything, lets it live, stops it, and asks the oracles.
func (w *world) live(l *life) {
	c := w.clients()
	w.through(l, slices.Concat([]func(context.Context){w.plane}, c.all(), []func(context.Context){w.misfortune})...)
	st := w.disk.Open()
	defer st.Close()
	l.broken = w.oracles(st, c)
}

// through lets parts live through the time of faults and the quiet after it, and stops
// them. How they stop is no part of the trace: an http.Server polls at random until its
// connections end.
func (w *world) through(l *life, parts ...func(context.Context)) {
	ctx, stop := context.WithCancel(w.t.Context())
	var all sync.WaitGroup
	for _, p := range parts {
		all.Go(func() { p(ctx) })
	}
	time.Sleep(faultTime + quietTime)
	w.net.Settle()
	l.trace, l.faults, l.log = w.net.Trace(), w.net.Counts(), w.net.Log()
	w.end = time.Now()
	stop()
	all.Wait()
}

// plane runs the control plane, and starts it anew whenever it ends.
func (w *world) plane(ctx context.Context) {
	for ctx.Err() == nil {
		w.once(ctx)
		w.starts++
		select {
		case <-ctx.Done():
		case <-time.After(time.Second + time.Duration(w.chance("restart", w.starts)%uint64(4*time.Second))):
		}
	}
}

// local makes a listener look like a socket in the file system, whose callers are on
// the control plane's own host.
type local struct{ net.Listener }

type localConn struct{ net.Conn }

func (l local) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return localConn{c}, err
}

func (localConn) LocalAddr() net.Addr { return &net.UnixAddr{Name: "ingotd.sock", Net: "unix"} }

// once is one life of the control plane's process.
func (w *world) once(ctx context.Context) {
	host := w.net.Host("ingotd")
	open, err1 := host.Listen("tcp", "ingotd:80")
	admin, err2 := host.Listen("tcp", "ingotd:81")
	if err := errors.Join(err1, err2); err != nil {
		return // killed as it began
	}
	listeners := []daemon.Listener{{Listener: open}, {Listener: local{admin}}}
	if w.tls != nil {
		l, err := host.Listen("tcp", "ingotd:443")
		if err != nil {
			return
		}
		listeners = append(listeners, daemon.Listener{Listener: l, TLS: oldHTTP(pin.Server(w.tls.Certificate, time.Now))})
	}
	st := w.plant.store(w.disk.Open())
	ctx, dead := context.WithCancel(ctx)
	defer dead()
	d := daemon.Ingotd{Version: "test", Config: w.config(), Store: st, Master: w.master, Now: time.Now, Entropy: w.source, Log: slog.New(slog.DiscardHandler),
		Listeners:   listeners,
		Credentials: func(net.Conn) (uint32, int32, bool) { return 0, 1, true }, Host: func(uint32) bool { return true },
		Hashing: operators.Hashing{Cost: operators.Cost{Time: 1, Memory: 64, Threads: 1}}}
	// A commit whose outcome is unknown ends the process at once: stopping in peace
	// polls at random intervals, which no seed decides.
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-st.Failed():
			w.net.Kill("ingotd")
			dead()
		case <-ctx.Done():
		}
	})
	_ = d.Run(ctx) // it fails when it is killed, and that is what is meant
	dead()
	watch.Wait()
	_ = st.Close()
}

// oldHTTP offers HTTP/1.1 alone: HTTP/2 cuts its flushes by chance.
func oldHTTP(c *tls.Config) *tls.Config {
	c.NextProtos = []string{"http/1.1"}
	return c
}

func (w *world) config() daemon.Config {
	c := config.Default()
	c.Site, c.Retention.Segments = "lab", ""
	return c
}

// misfortune is what a seed holds in store for the control plane: kills, commits that
// are lost or not answered, connections that break, ways that are cut.
func (w *world) misfortune(ctx context.Context) {
	for n := 0; ; n++ {
		pause := 5*time.Second + time.Duration(w.chance("pause", n)%uint64(40*time.Second))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if !time.Now().Before(w.calm) {
			for _, c := range clientHosts {
				w.net.Heal(c, "ingotd")
				w.net.Heal("ingotd", c)
			}
			return
		}
		w.mishap(n)
	}
}

func (w *world) mishap(n int) {
	who := clientHosts[w.chance("who", n)%uint64(len(clientHosts))]
	switch w.chance("what", n) % 7 {
	case 0:
		w.net.Kill("ingotd")
	case 1:
		w.disk.Arm(1+int(w.chance("commit", n)%5), storetest.Lost)
	case 2:
		w.disk.Arm(1+int(w.chance("commit", n)%5), storetest.Replyless)
	case 3:
		w.net.ResetBetween(who, "ingotd")
	case 4:
		if who == "auditor" {
			// How net/http cuts a long stream into flights, once nobody takes them any
			// more, is decided by chance in 2 of 100 seeds; resets and kills it meets.
			who = "booter"
		}
		w.net.Cut("ingotd", who)
	case 5:
		w.net.Heal("ingotd", who)
	case 6:
		w.disk.Arm(1+int(w.chance("commit", n)%5), storetest.Refused)
	}
}

// A plant is a fault in the control plane itself, which the oracles have to find; the
// zero plant is none.
type plant struct {
	name string
	wrap func(store.Store) store.Store
}

func (p plant) store(s store.Store) store.Store {
	if p.wrap == nil {
		return s
	}
	return p.wrap(s)
}

var _ io.Reader = (*drawn)(nil)
