package vmlab

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/operate"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// A program is a daemon as a process of its own, with its log in a file.
type program struct {
	lab    *Lab
	name   string
	file   string // its configuration
	socket string
	cmd    *exec.Cmd
}

// program writes the configuration of a daemon.
func (l *Lab) program(name string, c any, socket string) (*program, error) {
	raw, err := config.Marshal(c)
	if err != nil {
		return nil, err
	}
	p := &program{lab: l, name: name, file: filepath.Join(l.Dir, name+".yaml"), socket: socket}
	return p, os.WriteFile(p.file, raw, 0o600)
}

// answerWait is how long a daemon may take to answer after its start.
const answerWait = 20 * time.Second

// start runs it, and waits until it answers.
func (p *program) start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(p.lab.Dir, p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(p.lab.Bin, p.name), "serve", "-c", p.file)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = dying()
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd = cmd
	c := p.lab.unix(p.socket)
	for end := p.lab.Now().Add(answerWait); p.lab.Now().Before(end); {
		if res, err := c.Get("http://daemon/healthz"); err == nil {
			_ = res.Body.Close()
			p.lab.say("site", "started", p.name)
			return nil
		}
		if !pause.For(ctx, 50*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
	return &Failed{Step: p.name + " starts", Err: errors.New("it does not answer"), Console: tailOf(log.Name(), 12)}
}

// stopWait is how long a daemon may take to stop in peace.
const stopWait = 15 * time.Second

// stop ends it as its operator does.
func (p *program) stop() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(ended) }()
	t := time.NewTimer(stopWait)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
		_ = p.cmd.Process.Kill()
		<-ended
	}
	p.cmd = nil
}

// kill ends it as a loss of power does.
func (p *program) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
	p.cmd = nil
}

// tailOf is the last lines of a file.
func tailOf(path string, n int) []string {
	raw, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	return lines[max(0, len(lines)-n):]
}

// unix asks a daemon by its socket.
func (l *Lab) unix(socket string) *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return l.Dial("unix", socket) }}}
}

func (l *Lab) startPlane(ctx context.Context) error {
	c := config.Config{Site: "lab", State: filepath.Join(l.Dir, "ingotd")}
	c.BMC.Through = []config.Through{{Network: bmcs(), Booter: booterName}}
	c.Listen.TCP, c.Listen.Unix = []string{booth + ":8443"}, filepath.Join(l.Dir, "ingotd.sock")
	p, err := l.program("ingotd", c, c.Listen.Unix)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, filepath.Join(l.Bin, "ingotd"), "pin", "-c", p.file).CombinedOutput()
	if err != nil {
		return &Failed{Step: "ingotd pin", Err: err, Console: strings.Split(strings.TrimSpace(string(out)), "\n")}
	}
	l.pin, l.plane = strings.TrimSpace(string(out)), p
	l.host = &api.Client{Base: "http://ingotd", HTTP: l.unix(c.Listen.Unix)}
	return p.start(ctx)
}

func (l *Lab) signIn(ctx context.Context) (err error) {
	l.operator, err = operate.SignIn(ctx, l.host, l.Entropy, "ada")
	return err
}

const booterName = "booter-1"

// bmcs is the network of BMCs, which ingotd reaches through the booter.
func bmcs() netip.Prefix { return netip.PrefixFrom(netip.MustParseAddr(booth), 32) }

func (l *Lab) policy(ctx context.Context) error { return l.setPolicy(ctx, "enroll") }

// setPolicy opens the site to machines, which enroll with an image.
func (l *Lab) setPolicy(ctx context.Context, enrollment string) error {
	in := api.SetPolicy{}
	in.Body = api.Policy{AutoEnroll: true, Network: l.at.network, Gateway: l.at.gateway, Server: booth, EnrollmentImage: enrollment, RescueImage: "rescue", AnswerOnlyPXE: true}
	_, err := api.PolicySet.Call(ctx, l.operator, &in)
	return err
}

// key mints an API key and keeps it in a file.
func (l *Lab) key(ctx context.Context, scope string) (string, error) {
	path := filepath.Join(l.Dir, scope+".key")
	return path, operate.KeyFile(ctx, l.operator, scope, path)
}

func (l *Lab) startBooter(ctx context.Context) (err error) {
	c := config.Booter{Name: booterName, Carry: []netip.Prefix{bmcs()}, State: filepath.Join(l.Dir, "booterd"), Address: netip.MustParseAddr(booth), Images: l.Images, Interfaces: []string{bridge}}
	c.Server = config.Server{Address: booth + ":8443", Pin: l.pin}
	c.Listen.Unix = filepath.Join(l.Dir, "booterd.sock")
	if c.Server.BooterKey, err = l.key(ctx, "booter"); err != nil {
		return err
	}
	if c.Server.EnrollKey, err = l.key(ctx, "ur_enroll"); err != nil {
		return err
	}
	l.booterConfig = c
	return l.restartBooter(ctx, func(*config.Booter) {})
}

// restartBooter has booterd run with its first configuration, and one change.
func (l *Lab) restartBooter(ctx context.Context, change func(*config.Booter)) (err error) {
	if l.booter != nil {
		l.booter.stop()
	}
	c := l.booterConfig
	change(&c)
	if l.booter, err = l.program("booterd", c, c.Listen.Unix); err != nil {
		return err
	}
	return l.booter.start(ctx)
}
