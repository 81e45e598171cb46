package demo

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/ingotmetal/ingot/disklayout/apply"
)

// errPower is what a write comes to without power.
var errPower = errors.New("the power is gone")

// A watched disk asks before each write whether it is one.
type watched struct {
	apply.File
	wrote func() error
}

// Claim opens the disk to write it.
func (w watched) Claim() (apply.Device, error) {
	d, err := w.File.Claim()
	if err != nil || w.wrote == nil {
		return d, err
	}
	return device{d, w.wrote}, nil
}

type device struct {
	apply.Device
	wrote func() error
}

func (d device) WriteAt(b []byte, at int64) (int, error) {
	if err := d.wrote(); err != nil {
		return 0, err
	}
	return d.Device.WriteAt(b, at)
}

// fillDisk has a machine's disk end amid its image.
func fillDisk(_ context.Context, l *lab) error {
	m, n := l.machines[0], 0
	l.say(m.name(), "fault", "its disk ends before the size that it tells")
	m.wrote = func() error {
		if n++; n >= cutAt && !l.replaced.Load() {
			return syscall.ENOSPC
		}
		return nil
	}
	return nil
}

// notStamped looks at what a setup that failed over the disk left, and replaces the
// disk.
func notStamped(ctx context.Context, l *lab, m *machine) error {
	if !m.gaveUp() || l.replaced.Load() {
		return nil
	}
	if err := l.gaveUpOver(ctx, m, syscall.ENOSPC.Error()); err != nil {
		return err
	}
	l.replaced.Store(true)
	l.say(m.name(), "mends", "its disk is whole again")
	return nil
}

// shrinkDisk has a machine's disk be a smaller one by the time it is written. The
// next plan is made for what is there.
func shrinkDisk(ctx context.Context, l *lab, m *machine) error {
	switch {
	case m != l.machines[0]:
		return nil
	case m.gaveUp():
		return l.gaveUpOver(ctx, m, "disk")
	}
	l.say(m.name(), "fault", "its disk is another by now, half as large")
	return os.Truncate(m.disk.Path, diskSize/2)
}

// gaveUpOver looks at a setup that failed: the site has the reason and no key, and the
// disk does not say that it was set up.
func (l *lab) gaveUpOver(ctx context.Context, m *machine, reason string) error {
	row, err := l.show(ctx, m)
	if err != nil {
		return err
	}
	if row.State != "awaiting_setup" || !strings.Contains(row.LastSetupError, reason) || row.KeyID != "" {
		return &Broken{m.name() + " is " + row.State + " because of " + row.LastSetupError + ", with the key " + row.KeyID}
	}
	found, err := m.look()
	if err != nil {
		return err
	}
	if found.Mark != nil && found.Mark.Done {
		return &Broken{m.name() + "'s disk says that it is set up, and its setup failed"}
	}
	l.say("site", "checked", m.name()+" waits again with its reason, and its disk is not stamped as set up")
	return nil
}
