package vmlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// Options are what a lab needs from outside. Fields without a comment are required.
type Options struct {
	Dir      string // a folder that is not there yet, and is kept afterwards
	Bin      string // the folder with ingotd, booterd and noded
	Kernel   string // a Debian package with a kernel
	Images   string // the folder of staged images; empty ones are made
	Firmware Firmware
	Out      io.Writer
	JSON     bool
	Now      func() time.Time
	Entropy  io.Reader // cryptographic
	Dial     func(network, address string) (net.Conn, error)
}

// A Lab is a site with real machines. It is used by one goroutine, but for its
// machines.
type Lab struct {
	Options
	began    time.Time
	mu       sync.Mutex // of the timeline
	moments  []Moment
	all      sync.WaitGroup
	plane    *program
	booter   *program
	machines []*Machine
	host     *api.Client // who is on the control plane's host
	operator *api.Client
	pin      string
	usb      bool   // the kernel sees disks on USB
	root     string // digests of what is installed: the root, and what firmware starts
	boot     string
}

// A Moment is a line of the timeline.
type Moment struct {
	Seconds float64 `json:"t"`
	Who     string  `json:"who"`
	What    string  `json:"what"`
	Detail  string  `json:"detail,omitempty"`
}

func (l *Lab) say(who, what, detail string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := Moment{l.Now().Sub(l.began).Seconds(), who, what, detail}
	l.moments = append(l.moments, m)
	if l.JSON {
		_ = json.NewEncoder(l.Out).Encode(m) // whoever reads it is gone, or has it
		return
	}
	fmt.Fprintf(l.Out, "%8.2f s  %-8s %-12s %s\n", m.Seconds, who, what, detail)
}

// Open makes the network and starts the site. The caller closes the lab.
func Open(ctx context.Context, o Options) (*Lab, error) {
	l := &Lab{Options: o, began: o.Now()}
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(o.Dir, 0o700); errors.Is(err, fs.ErrExist) {
		return nil, &Invalid{"the folder " + o.Dir + " is there", "a new one, or remove it"}
	} else if err != nil {
		return nil, &Failed{Step: "making the lab's folder", Err: err}
	}
	for _, step := range []func(context.Context) error{l.prepare, l.network, l.startPlane, l.signIn, l.policy, l.startBooter} {
		if err := step(ctx); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// check looks for what the lab runs.
func (l *Lab) check() error {
	for name, debian := range map[string]string{"qemu-system-x86_64": "qemu-system-x86", "ip": "iproute2"} {
		if _, err := exec.LookPath(name); err != nil {
			return &Missing{name, "apt-get install " + debian}
		}
	}
	for _, name := range []string{"ingotd", "booterd", "noded"} {
		if _, err := os.Stat(filepath.Join(l.Bin, name)); err != nil {
			return &Missing{name + " in " + l.Bin, buildNext(l.Bin)}
		}
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		return &Missing{"/dev/net/tun", "modprobe tun"}
	}
	return nil
}

// Close ends all that the lab started, the machines first.
func (l *Lab) Close() {
	for _, m := range l.machines {
		m.Off()
	}
	for _, p := range []*program{l.booter, l.plane} {
		if p != nil {
			p.stop()
		}
	}
	l.all.Wait()
}

// Add makes a machine with a cable.
func (l *Lab) Add(ctx context.Context, s Spec) (*Machine, error) {
	s.Tap = fmt.Sprintf("tap%d", len(l.machines))
	if err := l.tap(ctx, s.Tap); err != nil {
		return nil, err
	}
	m, err := l.newMachine(s)
	if err != nil {
		return nil, err
	}
	l.machines = append(l.machines, m)
	return m, nil
}
