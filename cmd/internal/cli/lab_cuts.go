package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// Cuts is what `ingot lab cuts` is asked for, beside what Lab says.
type Cuts struct {
	Lab
	Way   string
	First uint64
	Seeds int
}

func (a *app) labCuts() *cobra.Command {
	var l Cuts
	c := a.leaf("cuts", "Cut the power of setups at moments that seeds draw, and see that all end right", "ingot lab cuts --seeds 30 --kernel linux-image-6.1.0-57-cloud-amd64.deb --bin bin --out cuts",
		func(c *cobra.Command, _ []string) error {
			if a.Cuts == nil {
				return usage("this program was built without the lab")
			}
			if err := a.labFiles(&l.Lab); err != nil {
				return err
			}
			ctx, done := context.WithCancel(c.Context())
			defer done()
			return a.Cuts(ctx, l)
		})
	c.Args = exactly(0)
	labFlags(c, &l.Lab)
	f := c.Flags()
	f.Lookup("out").Usage = "the folder `DIR` of all seeds, which the next run goes on in"
	f.Uint64Var(&l.First, "first", 1, "the first seed `N`")
	f.IntVar(&l.Seeds, "seeds", 30, "how many seeds `N`; those of the folder that ended right are not lived again")
	f.StringVar(&l.Way, "way", "bios-ipxe", "how machines boot, `WAY`")
	return c
}
