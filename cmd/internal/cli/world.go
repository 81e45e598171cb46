package cli

import (
	"cmp"
	"context"
	"crypto/x509"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// A World is all that the command line has of the outside. A main fills it.
type World struct {
	In       io.Reader
	Out, Err io.Writer

	// OutTerminal and ErrTerminal say whether a person reads them directly.
	OutTerminal, ErrTerminal bool
	// Prompt asks on the terminal and reads a line without echo. It is nil where
	// standard input is no terminal: then nothing is ever asked.
	Prompt func(question string) ([]byte, error)

	Dir     string                   // below which relative file names are; "" is the process's own
	Env     func(name string) string // "" where it is not set
	Now     func() time.Time
	Entropy io.Reader // for Idempotency-Keys
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	// Listen opens sockets for simulated BMCs; nil where the program has none.
	Listen  func(ctx context.Context, network, address string) (net.Listener, error)
	Roots   *x509.CertPool // nil: the system's
	Version string         // "" is "devel"
	// Demo lives through a demo; nil where the program has none.
	Demo func(context.Context, Demo) error
	// Lab runs real machines; nil where the program has none.
	Lab func(context.Context, Lab) error
	// Cuts cuts the power of real machines; nil where the program has none.
	Cuts func(context.Context, Cuts) error
	// LabUp starts a lab that outlives this process; nil where the program has none.
	LabUp func(context.Context, LabUp) (panel.Lab, error)
}

// Run carries out one command and returns its exit code.
func Run(ctx context.Context, w World, args []string) int {
	a := &app{World: w}
	root := a.root()
	root.SetArgs(args)
	return int(a.finish(root.ExecuteContext(ctx)))
}

// app is one run of the command line.
type app struct {
	World
	given   globals
	started bool // a verb began: errors are no longer of the command line's form
}

// globals are the flags of every command.
type globals struct {
	context, server, pin, keyFile string

	output, jq string
	json       bool
	timeout    time.Duration
}

// defaultTimeout bounds a command that does not watch.
const defaultTimeout = time.Minute

// path is where a file is that a person named.
func (a *app) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.Dir, name)
}

// configDir is where contexts are kept.
func (a *app) configDir() string {
	return filepath.Join(cmp.Or(a.Env("XDG_CONFIG_HOME"), filepath.Join(a.Env("HOME"), ".config")), "ingot")
}

// cacheDir is where completion remembers names.
func (a *app) cacheDir() string {
	return filepath.Join(cmp.Or(a.Env("XDG_CACHE_HOME"), filepath.Join(a.Env("HOME"), ".cache")), "ingot")
}
