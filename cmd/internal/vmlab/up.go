package vmlab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// A Stay is what a lab that stays up has, and for how long.
type Stay struct {
	Machines int // 1 to MaxMachines
	Way      Boot
	For      time.Duration // it goes down by itself then; 0: when it is told to
}

// MaxMachines bounds a lab that stays up; each takes half a GiB of memory.
const MaxMachines = 16

// Check refuses what cannot be meant.
func (s Stay) Check() error {
	if s.Machines < 1 || s.Machines > MaxMachines {
		return &Invalid{fmt.Sprintf("%d machines", s.Machines), fmt.Sprintf("1 to %d", MaxMachines)}
	}
	if s.For < 0 {
		return &Invalid{"up for " + s.For.String(), "a length of time, or 0 for no bound"}
	}
	return s.Way.check()
}

// Up is a lab that stays up until ctx ends, its time is over, or it is told over its
// socket to go down. It calls ready once, when the site answers and the machines have
// power; before that it returns why not. What it leaves is the folder with a report.
func Up(ctx context.Context, o Options, s Stay, ready func(panel.Lab)) error {
	if err := s.Check(); err != nil {
		return err
	}
	l, err := Open(ctx, o)
	if err != nil {
		return err
	}
	d := &desk{lab: l, told: make(chan struct{}), gone: make(chan struct{})}
	if s.For > 0 {
		var done func()
		ctx, done = context.WithTimeoutCause(ctx, s.For, errors.New("its time is over"))
		defer done()
		d.ends = l.Now().Add(s.For)
	}
	err = l.power(ctx, s)
	if err == nil {
		err = d.open()
	}
	if err != nil {
		return l.abandon("starting the machines", err)
	}
	ready(d.state(0))
	select {
	case <-d.told:
		l.say("site", "down", "it was told to")
	case <-ctx.Done():
		l.say("site", "down", context.Cause(ctx).Error())
	}
	return d.close()
}

// power adds the machines and turns them on.
func (l *Lab) power(ctx context.Context, s Stay) error {
	key, err := l.key(ctx, "full")
	if err != nil {
		return err
	}
	l.say("site", "key", "an operator's is in "+key)
	for range s.Machines {
		m, err := l.plain(ctx, s.Way)
		if err != nil {
			return err
		}
		if err := m.On(); err != nil {
			return err
		}
	}
	for _, m := range l.machines { // QEMU that does not like what it was given ends at once
		err := m.ask(ctx, func(*monitor) error { return nil })
		if _, off := errors.AsType[*NoPower](err); off {
			err = errors.New("QEMU ended at once")
		}
		if err != nil {
			return m.failed("power on", err)
		}
	}
	return nil
}

// state is the lab as it is now, with the last lines of consoles.
func (d *desk) state(lines int) panel.Lab {
	l := d.lab
	out := panel.Lab{Dir: absolute(l.Dir), Process: os.Getpid(), Began: l.began, Ends: d.ends,
		Server: "unix:" + absolute(l.plane.socket), KeyFile: absolute(filepath.Join(l.Dir, "full.key")), Booter: "unix:" + absolute(l.booter.socket), Machines: []panel.Machine{}}
	for _, m := range l.machines {
		out.Machines = append(out.Machines, m.state(lines))
	}
	return out
}

func (m *Machine) state(lines int) panel.Machine {
	out := panel.Machine{Name: m.Name, Way: string(m.Boot), MAC: m.MAC, UUID: m.UUID, On: m.Running(), Console: []string{}}
	m.mu.Lock()
	out.Cycles = m.boots
	m.mu.Unlock()
	if c := m.Console(); c != nil && lines > 0 {
		out.Console = append(out.Console, c.Tail(lines)...)
	}
	return out
}

// absolute is a path for whoever is in another folder.
func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}
