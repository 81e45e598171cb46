// Package admin is the command line of ingotd: it runs the control plane, checks its
// file, copies and restores its store, keeps the credentials of BMCs, and makes the
// operators of a site, which is done on its host alone (ID-8).
package admin

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/daemon"
	"github.com/ingotmetal/ingot/cmd/internal/config"
	"github.com/ingotmetal/ingot/cmd/internal/program"
)

// World is what the command line takes from its process.
type World struct {
	daemon.Outside // its Log is made from the configuration
	In             io.Reader
	Out, Err       io.Writer
}

// Version is the program's.
const Version = "0.3.0"

// tool is the command line in progress.
type tool struct {
	World
	file string // of the configuration
	json bool
}

// Command is ingotd's command line.
func Command(w World) *cobra.Command {
	t := &tool{World: w}
	root := &cobra.Command{Use: "ingotd", Short: "The control plane of a site", Version: Version, SilenceUsage: true, SilenceErrors: true,
		Long: "ingotd keeps what is known of every machine of a site, and decides what becomes\nof it. Without a command it shows this page; ingotd serve serves."}
	root.SetIn(w.In)
	root.SetOut(w.Out)
	root.SetErr(w.Err)
	root.PersistentFlags().StringVarP(&t.file, "config", "c", "/etc/ingot/ingotd.yaml", "configuration file; defaults hold where it is missing only if it was not named")
	root.PersistentFlags().BoolVar(&t.json, "json", false, "answer in JSON")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &program.Usage{Err: err} })
	root.AddCommand(t.runCommand(), t.pinCommand(), t.configCommand(), t.backupCommand(), t.restoreCommand(), t.operatorCommand(), t.secretCommand())
	return root
}

// load reads the configuration. A file that was named must be there; the default one
// may be missing.
func (t *tool) load(cmd *cobra.Command) (daemon.Config, error) {
	if _, err := os.Stat(t.file); errors.Is(err, os.ErrNotExist) && !cmd.Flags().Changed("config") {
		return config.Default(), nil
	}
	return config.Load(t.file)
}

// say answers: text for people, or v in JSON.
func (t *tool) say(v any, format string, args ...any) error {
	return program.Say(t.Out, t.json, v, format, args...)
}

func (t *tool) configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check and show the configuration"}
	cmd.AddCommand(
		&cobra.Command{Use: "check [FILE]", Short: "Check a configuration file; every fault is told at once", Args: cobra.MaximumNArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				t.file = args[0]
			}
			if _, err := config.Load(t.file); err != nil {
				return err
			}
			return t.say(map[string]string{"file": t.file, "status": "good"}, "%s is good", t.file)
		}},
		&cobra.Command{Use: "show", Short: "Show the configuration with every default filled in", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := t.load(cmd)
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
