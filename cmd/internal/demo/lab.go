package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/operate"
)

// A lab is a site: a control plane, a booter, an operator and the machines.
type lab struct {
	world    World
	opts     Options
	dir      string
	log      *slog.Logger
	timeline *timeline
	all      sync.WaitGroup // machines that have power, and the daemons

	plane    daemon.Config
	address  string // of the control plane
	pin      string
	host     *api.Client // who is on the control plane's host
	operator *api.Client
	image    string            // digest of the disk image
	files    map[string]string // digests of all that is staged, by file
	stops    []func() error

	booters   []*house
	stopPlane func() error

	// What a fault leaves behind.
	trouble  trouble
	struck   bool                    // after was done
	mended   bool                    // an operator did what was to be done
	replaced atomic.Bool             // a disk was
	cut      atomic.Pointer[machine] // lost its power
	ahead    atomic.Int64            // of the site's clocks, in nanoseconds
	second   *api.Client             // another operator
	free     int                     // addresses that there are for machines

	machines []*machine
	done     map[*machine]bool // that were approved
	news     chan *machine     // whose state changed
}

// A house is one booter.
type house struct {
	config     config.Booter
	dhcp, tftp netip.AddrPort
	run        func(context.Context) error
	stop       func() error
}

// now is the time of the site.
func (l *lab) now() time.Time { return l.world.Now().Add(time.Duration(l.ahead.Load())) }

func (l *lab) say(who, what, detail string) { l.timeline.say(who, what, detail) }

// heard takes what an agent heard of its row.
func (l *lab) heard(m *machine, state string) {
	m.mu.Lock()
	was := m.state
	m.state = state
	m.mu.Unlock()
	if was == state {
		return
	}
	if state == "approved" {
		l.say(m.name(), "approved", "its key is bound, and it is enrolled for its own image")
	} else {
		l.say(m.name(), "announced", state)
	}
	l.news <- m
}

func (m *machine) row() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// open starts the site.
func open(ctx context.Context, w World, o Options, dir string) (*lab, error) {
	l := &lab{world: w, opts: o, dir: dir, news: make(chan *machine, 4*o.Machines+16), done: map[*machine]bool{}, files: map[string]string{}, free: o.Machines,
		timeline: &timeline{out: w.Out, json: o.JSON, colour: w.Terminal && !o.JSON, quiet: o.Machines > crowd, now: w.Now, began: w.Now()}}
	logs, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	l.stops = append(l.stops, logs.Close)
	l.log = slog.New(slog.NewTextHandler(logs, nil))
	for _, step := range []func(context.Context) error{l.startPlane, l.signInAda, l.stage, l.policy, l.startBooter} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	return l, nil
}

// close stops everything, the last that was started first.
func (l *lab) close() error {
	for _, m := range l.machines {
		m.mu.Lock()
		off := m.off
		m.mu.Unlock()
		if off != nil {
			m.cut()
		}
	}
	var errs []error
	for i := len(l.stops) - 1; i >= 0; i-- {
		errs = append(errs, l.stops[i]())
	}
	l.stops = nil
	l.all.Wait()
	return errors.Join(errs...)
}

func (l *lab) outside() daemon.Outside {
	return daemon.Outside{Now: l.now, Entropy: l.world.Entropy, Log: l.log, Listen: l.world.Listen, Dial: l.world.Dial, Packet: l.world.Packet}
}

// startPlane starts the control plane.
func (l *lab) startPlane(ctx context.Context) error {
	c := config.Default()
	c.Site, c.State, c.Listen.TCP, c.Listen.Unix = "demo", filepath.Join(l.dir, "ingotd"), []string{"127.0.0.1:0"}, filepath.Join(l.dir, "i.sock")
	c.Store.Path, c.Store.Mark, c.Retention.Segments = filepath.Join(c.State, "site.db"), filepath.Join(c.State, "site.mark"), filepath.Join(c.State, "segments")
	c.Limits.PerSource = 8 * MaxMachines
	l.plane = c
	return l.runPlane(ctx)
}

// runPlane runs the control plane, at the address that it had, if any.
func (l *lab) runPlane(ctx context.Context) error {
	if l.address != "" {
		l.plane.Listen.TCP = []string{l.address}
	}
	out := l.outside()
	site, err := daemon.OpenSite(ctx, l.plane, out)
	if err != nil {
		return err
	}
	listeners, err := daemon.Listen(l.plane, site, out)
	if err != nil {
		return errors.Join(err, site.Close())
	}
	l.address, l.pin = listeners[0].Addr().String(), site.Pin
	d := daemon.Ingotd{Version: "demo", Config: l.plane, Store: site.Store, Master: site.Master, Now: out.Now, Entropy: out.Entropy, Log: l.log,
		Listeners: listeners, Credentials: daemon.Credentials, Host: daemon.OnHost, Backup: site.Backup(), Stats: site.Stats(), Certificate: site.CertificateEnd}
	l.stopPlane = l.background(d.Run, site.Close)
	l.host = &api.Client{Base: "http://ingotd", HTTP: &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return l.world.Dial("unix", l.plane.Listen.Unix)
	}}}}
	l.say("site", "started", "control plane at https://"+l.address)
	return nil
}

// background runs a daemon until it is stopped, and then closes what it had.
func (l *lab) background(run func(context.Context) error, then func() error) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	l.all.Go(func() { ended <- run(ctx) })
	stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-ended, then())
	})
	l.stops = append(l.stops, stop)
	return stop
}

func (l *lab) signInAda(ctx context.Context) (err error) {
	l.operator, err = l.signIn(ctx, "ada")
	return err
}

// signIn makes an operator, on the host, and opens a session as that operator.
func (l *lab) signIn(ctx context.Context, name string) (*api.Client, error) {
	c, err := operate.SignIn(ctx, l.host, l.world.Entropy, name)
	if err == nil {
		l.say(name, "signed in", "an operator; keys alone approve no setup")
	}
	return c, err
}

// rules are the policy of a demo.
func (l *lab) rules() api.Policy {
	return api.Policy{AutoEnroll: true, Network: admin.String(), Gateway: router.String(), Server: booth.String(), EnrollmentImage: "enroll", AnswerOnlyPXE: true}
}

// policy opens the site to machines.
func (l *lab) policy(ctx context.Context) error {
	_, err := api.PolicySet.Call(ctx, l.operator, &api.SetPolicy{Body: l.rules()})
	l.say("ada", "policy", "machines on "+admin.String()+" enroll with image enroll")
	return err
}

// startBooter starts one more booter, with keys of its own.
func (l *lab) startBooter(ctx context.Context) error {
	name := fmt.Sprintf("booter-%d", len(l.booters)+1)
	c := config.Booter{Name: name, State: filepath.Join(l.dir, name), Address: booth, Images: filepath.Join(l.dir, "images"),
		Listen: config.BooterListen{DHCP: booth.String() + ":0", PXE: config.None, TFTP: booth.String() + ":0", HTTP: booth.String() + ":0", Session: booth.String() + ":0", Unix: filepath.Join(l.dir, name+".sock")}}
	c.Server = config.Server{Address: l.address, Pin: l.pin}
	var err error
	if c.Server.BooterKey, err = l.key(ctx, name, "booter"); err != nil {
		return err
	}
	if c.Server.EnrollKey, err = l.key(ctx, name, "ur_enroll"); err != nil {
		return err
	}
	h := &house{config: c.Filled()}
	h.run = func(ctx context.Context) error { return l.runBooter(ctx, h) }
	l.booters = append(l.booters, h)
	return h.run(ctx)
}

// runBooter runs a booter, at the addresses that it had, if any.
func (l *lab) runBooter(ctx context.Context, h *house) error {
	links := []booter.Link{{Name: "lo", ServerID: booth, Networks: []netip.Prefix{admin}}}
	b, err := daemon.OpenBooter(ctx, h.config, links, l.outside())
	if err != nil {
		return err
	}
	h.dhcp = b.Address()
	h.tftp, _ = netip.ParseAddrPort(b.TFTP.LocalAddr().String())
	at := &h.config.Listen
	at.DHCP, at.TFTP, at.HTTP, at.Session = h.dhcp.String(), h.tftp.String(), b.HTTP.Addr().String(), b.Session.Addr().String()
	h.stop = l.background(b.Run, b.Close)
	l.say("site", "started", h.config.Name+" at "+booth.String()+": DHCP, TFTP, HTTP and the agents' sessions")
	return nil
}

// key mints an API key and keeps it in a file.
func (l *lab) key(ctx context.Context, who, scope string) (string, error) {
	path := filepath.Join(l.dir, who+"-"+scope+".key")
	return path, operate.KeyFile(ctx, l.operator, scope, path)
}

// stage makes the images: first boot programs, what enrolls, and what is installed.
// Nobody executes them here; their bytes take the way that real ones take.
func (l *lab) stage(ctx context.Context) error {
	s, err := images.Create(filepath.Join(l.dir, "images"))
	if err != nil {
		return err
	}
	defer s.Close()
	for _, i := range l.imagesToStage() {
		sources := map[string]images.Source{}
		for _, f := range i.manifest.Files {
			sources[f.Name] = images.Source{Reader: io.LimitReader(&pattern{seed: f.Name}, i.sizes[f.Name])}
		}
		made, err := s.Stage(ctx, i.manifest, sources, nil)
		if err != nil {
			return err
		}
		for _, f := range made.Files {
			l.files[f.Name] = f.SHA256
		}
		if f, ok := made.File(made.Disk); ok {
			l.image = "sha256:" + f.SHA256
		}
	}
	l.say("site", "staged", "images ipxe, enroll and server, each file by its digest")
	return nil
}

type toStage struct {
	manifest images.Manifest
	sizes    map[string]int64
}

func (l *lab) imagesToStage() []toStage {
	return []toStage{
		{images.Manifest{Name: "ipxe", Files: []images.File{{Name: "snponly.efi"}}, Boots: map[booter.Platform]images.Boots{booter.X64: {Loader: "snponly.efi"}}}, map[string]int64{"snponly.efi": 200 << 10}},
		{images.Manifest{Name: "enroll", Files: []images.File{{Name: "initrd"}, {Name: "vmlinuz"}}, Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz", Initrds: []string{"initrd"}, Args: "console=ttyS0"}}}, map[string]int64{"initrd": 2 << 20, "vmlinuz": 1 << 20}},
		{images.Manifest{Name: "server", Files: []images.File{{Name: "root.img"}}, Disk: "root.img"}, map[string]int64{"root.img": 4 << 20}},
	}
}

// A pattern is endless bytes that a name decides.
type pattern struct {
	seed string
	n    uint64
}

func (p *pattern) Read(b []byte) (int, error) {
	if p.n == 0 {
		for _, c := range p.seed {
			p.n = p.n*31 + uint64(c)
		}
	}
	for i := range b {
		p.n = p.n*6364136223846793005 + 1442695040888963407
		b[i] = byte(p.n >> 56)
	}
	return len(b), nil
}
