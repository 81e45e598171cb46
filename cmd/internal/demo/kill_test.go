package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// A program is a daemon that runs as a process of its own.
type program struct {
	t      *testing.T
	path   string
	file   string // its configuration
	socket string
	mu     sync.Mutex
	cmd    *exec.Cmd
}

// start runs it, and waits until it answers.
func (p *program) start() {
	p.t.Helper()
	logs, err := os.OpenFile(p.file+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer logs.Close()
	cmd := exec.Command(p.path, "serve", "-c", p.file)
	cmd.Stdout, cmd.Stderr = logs, logs
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.cmd = cmd
	p.mu.Unlock()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: unix(p.socket)}, Timeout: time.Second}
	for range 600 {
		if res, err := c.Get("http://daemon/healthz"); err == nil {
			_ = res.Body.Close()
			return
		}
		time.Sleep(20 * time.Millisecond) // a real process has a real clock
	}
	raw, _ := os.ReadFile(p.file + ".log")
	p.t.Errorf("%s does not answer:\n%s", p.path, raw)
}

// kill ends it as kill -9 does.
func (p *program) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// Control plane and two booters are killed at moments that a seed decides, while machines
// are set up. Every machine ends approved, its disk as it was planned, or waits in
// setting_up for its deadline because the answer that had its bundle was lost
// (EDGE-6).
func TestDaemonsAreKilled(t *testing.T) {
	seed := killSeed(t)
	k := &killed{t: t, dir: folder(t), bin: daemons(t), chance: rand.New(rand.NewPCG(seed, 0))}
	k.live(t.Context())
}

// daemons builds both, and returns the folder that they are in.
func daemons(t *testing.T) string {
	bin := t.TempDir()
	for _, name := range []string{"ingotd", "booterd"} {
		build := exec.Command("go", "build", "-o", filepath.Join(bin, name), "github.com/ingotmetal/ingot/cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return bin
}

// killSeed decides what is killed and when: INGOT_KILL_SEED, or the time.
func killSeed(t *testing.T) uint64 {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("INGOT_KILL_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("INGOT_KILL_SEED=%d", seed)
	return seed
}

type killed struct {
	t        *testing.T
	dir, bin string
	chance   *rand.Rand
	l        *lab
	plane    *program
	booters  []*program
	kills    int
}

const killedMachines = 6

func (k *killed) live(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := k.open(ctx); err != nil {
		k.t.Fatal(err)
	}
	defer k.kill()
	for n := range killedMachines {
		m, err := newMachine(k.l, n+1)
		if err != nil {
			k.t.Fatal(err)
		}
		m.at = k.l.booters[n%len(k.l.booters)]
		k.l.machines = append(k.l.machines, m)
	}
	for _, m := range k.l.machines {
		m.on(ctx)
	}
	defer func() { _ = k.l.close() }()
	killing, calm := context.WithTimeout(ctx, 12*time.Second)
	defer calm()
	var killer sync.WaitGroup
	killer.Go(func() { k.strike(killing) })
	lost := k.settle(ctx)
	calm()
	killer.Wait()
	k.t.Logf("%d kills; %d machines approved, %d lost their bundle with an answer and wait for the deadline", k.kills, killedMachines-lost, lost)
	if lost > killedMachines/2 {
		k.t.Errorf("%d of %d machines lost their bundle", lost, killedMachines)
	}
}

// open starts both daemons as processes, and makes the site as a demo does.
func (k *killed) open(ctx context.Context) error {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	w := process(os.Stderr)
	l := &lab{world: w, opts: Options{Machines: killedMachines}, dir: k.dir, news: make(chan *machine, 1024), done: map[*machine]bool{}, files: map[string]string{}, log: discard(), timeline: &timeline{out: discarded{}, now: w.Now, began: w.Now()}}
	k.l = l
	l.address = "127.0.0.1:" + freePort(k.t, w, "tcp", "127.0.0.1:0")
	c := config.Config{Site: "killed", State: filepath.Join(k.dir, "ingotd")}
	c.Listen.TCP, c.Listen.Unix = []string{l.address}, filepath.Join(k.dir, "i.sock")
	k.plane = k.program("ingotd", "ingotd", c, c.Listen.Unix)
	out, err := exec.Command(k.plane.path, "pin", "-c", k.plane.file).Output()
	if err != nil {
		return err
	}
	l.pin = strings.TrimSpace(string(out))
	k.plane.start()
	l.host = &api.Client{Base: "http://ingotd", HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: unix(c.Listen.Unix)}, Timeout: 10 * time.Second}}
	for _, step := range []func(context.Context) error{l.signInAda, l.stage, l.policy} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	for _, name := range []string{"b1", "b2"} {
		if err := k.openBooter(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// kill ends all daemons.
func (k *killed) kill() {
	k.plane.kill()
	for _, b := range k.booters {
		b.kill()
	}
}

func (k *killed) openBooter(ctx context.Context, name string) (err error) {
	l, at := k.l, booth.String()
	b := config.Booter{Name: name, State: filepath.Join(k.dir, name), Address: booth, Images: filepath.Join(k.dir, "images"), Interfaces: []string{"lo"}}
	b.Server = config.Server{Address: l.address, Pin: l.pin}
	if b.Server.BooterKey, err = l.key(ctx, name, "booter"); err != nil {
		return err
	}
	if b.Server.EnrollKey, err = l.key(ctx, name, "ur_enroll"); err != nil {
		return err
	}
	b.Listen = config.BooterListen{PXE: config.None, Unix: filepath.Join(k.dir, name+".sock")}
	for _, p := range []struct {
		network string
		into    *string
	}{{"udp4", &b.Listen.DHCP}, {"udp4", &b.Listen.TFTP}, {"tcp", &b.Listen.HTTP}, {"tcp", &b.Listen.Session}} {
		*p.into = at + ":" + freePort(k.t, l.world, p.network, at+":0")
	}
	l.booters = append(l.booters, &house{config: b, dhcp: addrPort(b.Listen.DHCP), tftp: addrPort(b.Listen.TFTP)})
	p := k.program("booterd", name, b, b.Listen.Unix)
	k.booters = append(k.booters, p)
	p.start()
	return nil
}

// program writes a configuration for one of the daemons.
func (k *killed) program(path, name string, c any, socket string) *program {
	raw, err := config.Marshal(c)
	if err != nil {
		k.t.Fatal(err)
	}
	file := filepath.Join(k.dir, name+".yaml")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		k.t.Fatal(err)
	}
	return &program{t: k.t, path: filepath.Join(k.bin, path), file: file, socket: socket}
}

// strike kills until ctx ends.
func (k *killed) strike(ctx context.Context) {
	for pause.For(ctx, time.Duration(100+k.chance.IntN(500))*time.Millisecond) {
		p := k.plane
		if k.chance.IntN(2) == 0 {
			p = k.booters[k.chance.IntN(len(k.booters))]
		}
		p.kill()
		k.kills++
		p.start()
	}
}

// settle approves machines until each is approved or has lost its bundle for good. An
// operator whose call is cut asks again.
func (k *killed) settle(ctx context.Context) (lost int) {
	approved := map[*machine]bool{}
	for end := time.Now().Add(50 * time.Second); len(approved) < killedMachines && time.Now().Before(end); {
		for _, m := range k.l.machines {
			got, err := api.RegistrationShow.Call(ctx, k.l.operator, &api.RegistrationRef{Server: m.uuid})
			switch {
			case err != nil:
			case got.State == "awaiting_setup":
				_ = k.l.approve(ctx, m) // refused or cut: the next round looks again
			case got.State == "approved" && !approved[m]:
				if err := m.asPlanned(); err != nil {
					k.t.Errorf("%s is approved, and its disk is not as planned: %v", m.name(), err)
				}
				approved[m] = true
			}
		}
		pause.For(ctx, 200*time.Millisecond)
	}
	for _, m := range k.l.machines {
		if approved[m] {
			continue
		}
		lost++
		if got, err := api.RegistrationShow.Call(ctx, k.l.operator, &api.RegistrationRef{Server: m.uuid}); err != nil || got.State != "setting_up" {
			k.t.Errorf("%s rests in %s, %v", m.name(), got.State, err)
		}
	}
	return lost
}

// freePort is a port that nobody has at the moment.
func freePort(t *testing.T, w World, network, address string) string {
	t.Helper()
	var at fmt.Stringer
	if strings.HasPrefix(network, "udp") {
		c, err := w.Packet(t.Context(), network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		at = c.LocalAddr()
	} else {
		l, err := w.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		at = l.Addr()
	}
	return at.String()[strings.LastIndexByte(at.String(), ':')+1:]
}
