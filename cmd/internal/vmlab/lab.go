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
	"sync"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/config"
)

// Options are what a lab needs from outside. Fields without a comment are required.
type Options struct {
	Dir      string // a folder that is not there yet, and is kept afterwards
	Made     bool   // the folder is there all the same, new: whoever started this made it
	Bin      string // the folder with ingotd, booterd and noded
	Kernel   string // a Debian package with a kernel
	Images   string // the folder of staged images; empty ones are made
	Firmware Firmware
	Out      io.Writer
	JSON     bool
	Now      func() time.Time
	Entropy  io.Reader // cryptographic
	Dial     func(network, address string) (net.Conn, error)
	Listen   func(network, address string) (net.Listener, error) // for a lab that stays up
}

// A Lab is a site with real machines. It is used by one goroutine, but for its
// machines.
type Lab struct {
	Options
	began        time.Time
	mu           sync.Mutex // of the timeline
	moments      []Moment
	all          sync.WaitGroup
	plane        *program
	booter       *program
	booterConfig config.Booter
	at           segment // of the next machine, and of the site's policy
	machines     []*Machine
	host         *api.Client // who is on the control plane's host
	operator     *api.Client
	pin          string
	usb          bool   // the kernel sees disks on USB
	root         string // digests of what is installed: the root, and what firmware starts
	boot         string
	local        []byte // what firmware starts from a disk, and from a medium
	medium       []byte
	failure      error // why it was abandoned
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

// Open makes the network and starts the site. The caller closes the lab. Where it
// cannot be opened nothing runs, and the folder is gone, or has a report that says why.
func Open(ctx context.Context, o Options) (*Lab, error) {
	o = o.rooted()
	l := &Lab{Options: o, began: o.Now(), at: local()}
	if err := l.check(thisHost()); err != nil {
		return nil, err
	}
	if !o.Made {
		if err := Folder(o.Dir); err != nil {
			return nil, err
		}
	}
	if err := l.making(ctx, l.prepare); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"making the network", l.network}, {"starting the control plane", l.startPlane}, {"signing in", l.signIn}, {"setting the site's policy", l.policy}, {"starting the booter", l.startBooter},
	} {
		if err := s.run(ctx); err != nil {
			return nil, l.abandon(s.name, err)
		}
	}
	return l, nil
}

// rooted has absolute paths, as the daemons want theirs.
func (o Options) rooted() Options {
	o.Dir, o.Images = absolute(o.Dir), absolute(o.Images)
	return o
}

// making builds what the machines boot. Where that fails, the folder goes: nothing in it
// says more than the error.
func (l *Lab) making(ctx context.Context, prepare func(context.Context) error) error {
	if err := prepare(ctx); err != nil {
		return errors.Join(opening("building what the machines boot", err), os.RemoveAll(l.Dir))
	}
	return nil
}

// Folder makes the folder of a lab, which is not there yet.
func Folder(dir string) error {
	switch err := os.Mkdir(dir, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return &Exists{dir}
	case errors.Is(err, fs.ErrNotExist):
		return &Invalid{"the folder " + dir, "one whose parent is there"}
	case err != nil:
		return &Failed{Step: "making the lab's folder", Err: err}
	}
	return nil
}

// abandon ends a lab that is half made, and has its report say why.
func (l *Lab) abandon(step string, err error) error {
	l.failure = opening(step, err)
	l.say("site", "failed", l.failure.Error())
	l.Close()
	if err := l.report(nil); err != nil {
		l.say("site", "no report", err.Error()) // what led to it is told
	}
	return l.failure
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
