package demo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// A Fault is what goes wrong in a demo on purpose, once.
type Fault string

// The faults.
const (
	NoFault     Fault = ""
	WrongDigest Fault = "wrong-digest" // the disk image is not what its digest says, until it is staged anew
	StopIngotd  Fault = "stop-ingotd"  // the control plane stops while machines are set up, and starts again
	StopBooterd Fault = "stop-booterd" // and so does the booter
)

// Faults are all of them.
func Faults() []Fault { return []Fault{NoFault, WrongDigest, StopIngotd, StopBooterd} }

// before does what is done before the machines have power.
func (l *lab) before(context.Context) error {
	if l.opts.Fault != WrongDigest {
		return nil
	}
	path := filepath.Join(l.dir, "images", "blobs", "sha256", strings.TrimPrefix(l.image, "sha256:"))
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	l.say("site", "fault", "a byte of the disk image changes on the booter's disk")
	_, err = f.WriteAt([]byte("x"), 1<<20)
	return err
}

// after does what is done once the first setup is approved.
func (l *lab) after(ctx context.Context) error {
	if l.struck {
		return nil
	}
	l.struck = true
	switch l.opts.Fault {
	case StopIngotd:
		return l.again(ctx, &l.stopPlane, l.runPlane, "the control plane")
	case StopBooterd:
		return l.again(ctx, &l.stopBooter, l.runBooter, "the booter")
	}
	return nil
}

// again stops a daemon and starts it anew.
func (l *lab) again(ctx context.Context, stop *func() error, start func(context.Context) error, what string) error {
	l.say("site", "fault", what+" stops")
	if err := (*stop)(); err != nil {
		return err
	}
	return start(ctx)
}

// mend stages the disk image anew, after a setup of m failed over it.
func (l *lab) mend(ctx context.Context, m *machine) error {
	m.mu.Lock()
	failed := m.failed
	m.mu.Unlock()
	if l.opts.Fault != WrongDigest || l.mended || !failed {
		return nil
	}
	l.mended = true
	l.say("ada", "mends", "the disk image is staged anew")
	return l.stage(ctx)
}
