package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// Demo is what `ingot demo` is asked for.
type Demo struct {
	Machines int
	JSON     bool
	Keep     string // folder; "" is a temporary one
	Fault    string
}

// demoCommand lives through the life of machines in this process.
func (a *app) demoCommand() *cobra.Command {
	var d Demo
	c := a.leaf("demo", "The life of machines in this one process, on loopback: from DISCOVER to approved, and back", "ingot demo --machines 5", func(c *cobra.Command, _ []string) error {
		if a.Demo == nil {
			return usage("this program was built without the demo")
		}
		d.JSON = a.structured()
		if d.Keep != "" {
			d.Keep = a.path(d.Keep)
		}
		ctx, done := context.WithCancel(c.Context())
		defer done()
		return a.Demo(ctx, d)
	})
	c.Flags().IntVar(&d.Machines, "machines", 3, "how many machines, 1-1000")
	c.Flags().StringVar(&d.Keep, "keep", "", "keep all of it in the new folder `DIR`: store, logs and disks")
	c.Flags().StringVar(&d.Fault, "fault", "", "let something go `WRONG` once, such as power-cut; an unknown word lists them")
	return c
}
