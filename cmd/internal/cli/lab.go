package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// Lab is what `ingot lab run` is asked for.
type Lab struct {
	Scenarios []string
	Dir       string // a new folder for all of it
	Bin       string
	Kernel    string
	JSON      bool
}

// Cuts is what `ingot lab cuts` is asked for, beside what Lab says.
type Cuts struct {
	Lab
	Way   string
	First uint64
	Seeds int
}

// labCommand has real machines under QEMU.
func (a *app) labCommand() *cobra.Command {
	c := &cobra.Command{Use: "lab", Short: "Real machines under QEMU, on a network of their own", RunE: a.bare, Args: a.noVerb}
	c.AddCommand(a.labRun(), a.labCuts())
	return c
}

func (a *app) labRun() *cobra.Command {
	var l Lab
	c := a.leaf("run [SCENARIO...]", "Live scenarios with real machines, and write a report", "ingot lab run uefi-pxe bios-ipxe --kernel linux-image-6.1.0-57-cloud-amd64.deb --bin bin --out lab",
		func(c *cobra.Command, words []string) error {
			if a.Lab == nil {
				return usage("this program was built without the lab")
			}
			l.Scenarios = words
			if len(words) == 0 {
				l.Scenarios = []string{"uefi-pxe"}
			}
			if err := a.settle(&l); err != nil {
				return err
			}
			ctx, done := context.WithCancel(c.Context())
			defer done()
			return a.Lab(ctx, l)
		})
	c.Args = between(0, 16)
	a.labFlags(c, &l)
	return c
}

func (a *app) labCuts() *cobra.Command {
	var l Cuts
	c := a.leaf("cuts", "Cut the power of setups at moments that seeds draw, and see that all end right", "ingot lab cuts --seeds 30 --kernel linux-image-6.1.0-57-cloud-amd64.deb --bin bin --out cuts",
		func(c *cobra.Command, _ []string) error {
			if a.Cuts == nil {
				return usage("this program was built without the lab")
			}
			if err := a.settle(&l.Lab); err != nil {
				return err
			}
			ctx, done := context.WithCancel(c.Context())
			defer done()
			return a.Cuts(ctx, l)
		})
	c.Args = between(0, 0)
	a.labFlags(c, &l.Lab)
	f := c.Flags()
	f.Uint64Var(&l.First, "first", 1, "the first seed `N`")
	f.IntVar(&l.Seeds, "seeds", 30, "how many seeds `N`; those of the folder that ended right are not lived again")
	f.StringVar(&l.Way, "way", "bios-ipxe", "how machines boot, `WAY`")
	return c
}

// settle checks and completes what every lab is asked for.
func (a *app) settle(l *Lab) error {
	if l.Kernel == "" || l.Dir == "" {
		return usage("a lab has a kernel and a folder").then("give --kernel FILE and --out DIR")
	}
	l.JSON = a.structured()
	l.Dir, l.Bin, l.Kernel = a.path(l.Dir), a.path(l.Bin), a.path(l.Kernel)
	return nil
}

func (a *app) labFlags(c *cobra.Command, l *Lab) {
	f := c.Flags()
	f.StringVar(&l.Kernel, "kernel", "", "the kernel, a Debian package as a `FILE`")
	f.StringVar(&l.Bin, "bin", "bin", "the `DIR` with ingotd, booterd and noded")
	f.StringVar(&l.Dir, "out", "", "the folder `DIR` for all of it: report, consoles, packets, disks, logs")
}
