// Package booteradmin is the command line of booterd: it runs the boot service, checks
// its file and shows the pin of its sessions.
package booteradmin

import (
	"io"
	"net"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/admin"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/program"
)

// World is what the command line takes from its process.
type World struct {
	daemon.Outside // its Log is made from the configuration
	Out, Err       io.Writer
	// Links are interfaces of this host by their names, Addresses all of its
	// addresses.
	Links     func(names []string) ([]booter.Link, error)
	Addresses func() ([]net.Addr, error)
	System    func() daemon.System
}

// tool is the command line in progress.
type tool struct {
	World
	file string // of the configuration
	json bool
}

// Command is booterd's command line.
func Command(w World) *cobra.Command {
	t := &tool{World: w}
	root := &cobra.Command{Use: "booterd", Short: "A boot service of a site", Version: admin.Version, SilenceUsage: true, SilenceErrors: true,
		Long: "booterd answers the machines of an admin network by DHCP, TFTP and HTTP, as the\ncontrol plane says, and stands between their agents and it. Without a command it\nshows this page; booterd serve serves."}
	root.SetOut(w.Out)
	root.SetErr(w.Err)
	root.PersistentFlags().StringVarP(&t.file, "config", "c", "/etc/ingot/booterd.yaml", "configuration file")
	root.PersistentFlags().BoolVar(&t.json, "json", false, "answer in JSON")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &program.Usage{Err: err} })
	root.AddCommand(t.serveCommand(), t.pinCommand(), t.configCommand())
	return root
}

// load reads the configuration, which must be there: it names the control plane.
func (t *tool) load() (daemon.BooterConfig, error) { return config.LoadBooter(t.file) }

// say answers: text for people, or v in JSON.
func (t *tool) say(v any, format string, args ...any) error {
	return program.Say(t.Out, t.json, v, format, args...)
}

func (t *tool) configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check and show the configuration"}
	cmd.AddCommand(
		&cobra.Command{Use: "check [FILE]", Short: "Check a configuration file; every fault is told at once", Args: cobra.MaximumNArgs(1), RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				t.file = args[0]
			}
			if _, err := t.load(); err != nil {
				return err
			}
			return t.say(map[string]string{"file": t.file, "status": "good"}, "%s is good", t.file)
		}},
		&cobra.Command{Use: "show", Short: "Show the configuration with every default filled in", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			c, err := t.load()
			if err != nil {
				return err
			}
			raw, err := config.Marshal(c)
			if err != nil {
				return err
			}
			return t.say(c, "%s", raw)
		}},
	)
	return cmd
}
