// Package command is the command line of noded, the node agent: as a machine's first
// process in an image in memory, or as a service of an installed system.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/program"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
)

// World is what the command line takes from its process.
type World struct {
	Out, Err io.Writer
	Now      func() time.Time
	Entropy  io.Reader
	Dial     sessions.Dialer
	Proc     fs.FS // procfs
	Machine  func(*slog.Logger) agent.Machine
	// Network sets up the machine's network before anything is dialed; nil on an
	// installed system, which has its own.
	Network func(context.Context, agent.Config, *slog.Logger) error
	// SetRoot sets the root password, with the state folder for what it must remember;
	// nil: it is left alone.
	SetRoot func(ctx context.Context, state string, hash api.Secret, log *slog.Logger) error
}

// Version is the program's.
const Version = "0.3.0"

// tool is the command line in progress.
type tool struct {
	World
	json     bool
	level    string
	file     string
	settings Settings
	cmdline  bool
}

const long = `noded is the agent of a machine. In a boot image it announces the machine to its
booter, writes the disks once an operator approved that, and restarts. On an installed
system it shows the machine's key to the control plane.

It reads its settings from the kernel's command line (ingot.booter, ingot.booter_pin,
ingot.server, ingot.pin), then from the file that --config names, then from flags; what
comes later holds. As a machine's first process it also sets up the network that the
command line names (ingot.mac, ingot.address, ingot.gateway). Run it as root.

  noded show                                       what this machine is, and whether it has a key
  noded register --server HOST:PORT --pin sha256/...   let a hand-installed machine in
  noded run                                        be the agent`

// Command is noded's command line.
func Command(w World) *cobra.Command {
	t := &tool{World: w}
	root := &cobra.Command{Use: "noded", Short: "The agent of a machine", Version: Version, SilenceUsage: true, SilenceErrors: true, Long: long}
	root.SetOut(w.Out)
	root.SetErr(w.Err)
	f := root.PersistentFlags()
	f.BoolVar(&t.json, "json", false, "answer in JSON, one object a line")
	f.StringVar(&t.level, "log-level", "info", "debug, info, warn or error; the log goes to standard error")
	f.StringVarP(&t.file, "config", "c", DefaultFile, "settings; defaults hold where the file is missing only if it was not named")
	f.StringVar(&t.settings.State, "state", "", "folder of the key, the claim code and the poll token; default "+DefaultState)
	f.StringVar(&t.settings.Server, "server", "", "the control plane, HOST:PORT or https://HOST:PORT")
	f.StringVar(&t.settings.Pin, "pin", "", "its pin (ingotd pin shows it)")
	f.StringVar(&t.settings.Booter, "booter", "", "the booter's sessions, HOST:PORT")
	f.StringVar(&t.settings.BooterPin, "booter-pin", "", "its pin")
	f.StringVar(&t.settings.Keep, "keep", "", "where the key is kept: disk, beside the partition table that setup wrote, or folder; default disk where a booter is named")
	f.BoolVar(&t.cmdline, "cmdline", true, "read the kernel's command line")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &program.Usage{Err: err} })
	root.AddCommand(t.runCommand(), t.registerCommand(), t.showCommand())
	return root
}

// logger writes to standard error.
func (t *tool) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(t.level)); err != nil {
		return nil, &program.Usage{Err: errors.New("--log-level is none of debug, info, warn and error")}
	}
	opts := &slog.HandlerOptions{Level: level}
	if t.json {
		return slog.New(slog.NewJSONHandler(t.Err, opts)), nil
	}
	return slog.New(slog.NewTextHandler(t.Err, opts)), nil
}

// say answers: text for people, or v in JSON.
func (t *tool) say(v any, format string, args ...any) error {
	if !t.json {
		_, err := fmt.Fprintf(t.Out, format+"\n", args...)
		return err
	}
	return json.NewEncoder(t.Out).Encode(v)
}
