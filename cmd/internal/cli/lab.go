package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// Lab is what a new lab is made of, and what `ingot lab run` is asked for.
type Lab struct {
	Scenarios []string
	Dir       string // a new folder for all of it
	Bin       string
	Kernel    string
	JSON      bool
}

// labCommand has real machines under QEMU.
func (a *app) labCommand() *cobra.Command {
	c := &cobra.Command{Use: "lab", Short: "Real machines under QEMU, on a network of their own", RunE: a.bare, Args: a.noVerb}
	c.AddCommand(a.labRun(), a.labCuts(), a.labUp(), a.labList(), a.labPower(), a.labScreen(), a.labDown())
	return c
}

func (a *app) labRun() *cobra.Command {
	var l Lab
	c := a.leaf("run [SCENARIO...]", "Live scenarios with real machines, and write a report", "ingot lab run uefi-pxe bios-ipxe --kernel linux-image-6.1.0-57-cloud-amd64.deb --bin bin --out lab",
		func(c *cobra.Command, words []string) error {
			if a.Lab == nil {
				return usage("this program was built without the lab")
			}
			if err := a.labFiles(&l); err != nil {
				return err
			}
			l.Scenarios = words
			if len(words) == 0 {
				l.Scenarios = []string{"uefi-pxe"}
			}
			ctx, done := context.WithCancel(c.Context())
			defer done()
			return a.Lab(ctx, l)
		})
	c.Args = between(0, 16)
	labFlags(c, &l)
	return c
}

// labFiles checks and completes what every new lab is given.
func (a *app) labFiles(l *Lab) error {
	if l.Kernel == "" || l.Dir == "" {
		return usage("a lab has a kernel and a folder").then("give --kernel FILE and --out DIR")
	}
	l.Dir, l.Bin, l.Kernel, l.JSON = a.path(l.Dir), a.path(l.Bin), a.path(l.Kernel), a.structured()
	return nil
}

func labFlags(c *cobra.Command, l *Lab) {
	f := c.Flags()
	f.StringVar(&l.Kernel, "kernel", "", "the kernel, a Debian package as a `FILE`")
	f.StringVar(&l.Bin, "bin", "bin", "the `DIR` with ingotd, booterd and noded")
	f.StringVar(&l.Dir, "out", "", "the new folder `DIR` for all of it: report, consoles, packets, disks, logs")
}
