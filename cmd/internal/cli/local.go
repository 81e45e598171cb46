package cli

import (
	"cmp"
	"runtime"

	"github.com/spf13/cobra"
)

// local are the commands that are no operation.
func (a *app) local() []*cobra.Command {
	return []*cobra.Command{
		a.bmcCommand(), a.bmcsimCommand(), a.contextCommand(), a.demoCommand(), a.imageCommand(), a.labCommand(), a.lifecycleCommand(), a.explainCommand(), a.whyNotCommand(), a.whySilentCommand(), a.completionCommand(), a.versionCommand(),
	}
}

// leaf is a command of the command line's own. It has its global flags checked and
// may not be given more words than names.
func (a *app) leaf(use, short, example string, run func(c *cobra.Command, words []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, words []string) error {
			a.started = true
			if err := a.begin(c); err != nil {
				return err
			}
			return run(c, words)
		},
	}
}

// exactly refuses another number of arguments.
func exactly(n int) cobra.PositionalArgs { return between(n, n) }

func between(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		if len(words) < least || most >= 0 && len(words) > most {
			return usage("%d arguments for %s", len(words), c.CommandPath()).then("usage: %s", c.UseLine())
		}
		return nil
	}
}

func (a *app) versionCommand() *cobra.Command {
	c := a.leaf("version", "Show the version of this program", "ingot version", func(c *cobra.Command, _ []string) error {
		v := cmp.Or(a.Version, "devel")
		if a.structured() {
			return a.value(c.Context(), "version", must(map[string]string{"version": v, "go": runtime.Version()}))
		}
		return a.printf("ingot %s (%s)\n", clean(v), runtime.Version())
	})
	c.Args = exactly(0)
	return c
}
