package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// LabUp is what `ingot lab up` is asked for.
type LabUp struct {
	Lab
	Machines int
	Way      string
	For      time.Duration // 0: until it is told to go down
	Begins   func()        // called when its process has been started
}

func (a *app) labUp() *cobra.Command {
	var l LabUp
	c := a.leaf("up", "Start a site with machines, and let it run in the background", "ingot lab up --kernel linux-image-6.1.0-57-cloud-amd64.deb --bin bin --out lab --machines 2",
		func(c *cobra.Command, _ []string) error {
			if a.LabUp == nil {
				return usage("this program was built without the lab")
			}
			if err := a.labFiles(&l.Lab); err != nil {
				return err
			}
			l.Begins = func() {
				if !a.structured() {
					a.note("the lab starts; it tells how in %s", filepath.Join(l.Dir, panel.Log))
				}
			}
			up, err := a.LabUp(c.Context(), l)
			if err != nil {
				return err
			}
			if a.structured() {
				return a.value(c.Context(), "lab.up", must(up))
			}
			return a.print(a.useOf(up, l.Dir))
		})
	c.Args = exactly(0)
	labFlags(c, &l.Lab)
	f := c.Flags()
	f.IntVar(&l.Machines, "machines", 1, "how many machines, 1-16")
	f.StringVar(&l.Way, "way", "uefi-pxe", "the `WAY` they boot: uefi-pxe, uefi-http, bios-ipxe or secure-boot")
	f.DurationVar(&l.For, "for", 2*time.Hour, "go down after this long, if nobody says so before; 0 for never")
	return c
}

// useOf says how a lab is used.
func (a *app) useOf(up panel.Lab, dir string) string {
	var b strings.Builder
	b.WriteString(a.labTable(up))
	d := quote(dir)
	fmt.Fprintf(&b, `
Ask its control plane:
  ingot --server %[1]s --key-file %[2]s registration list
or keep it under a name:
  ingot context set lab --server %[1]s --key-file %[2]s
  ingot --context lab registration list
Ask its booter:
  ingot why-silent --booter %[3]s MAC
Its machines:
  ingot lab list --out %[4]s
  ingot lab power cycle m1 --out %[4]s
  ingot lab screen m1 --out %[4]s --file m1.png
End it:
  ingot lab down --out %[4]s
`, quote(up.Server), quote(up.KeyFile), quote(up.Booter), d)
	return b.String()
}

// labTable is a lab's machines, and how long it stays.
func (a *app) labTable(l panel.Lab) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s  %-5s  %-6s  %-11s  %s\n", "MACHINE", "POWER", "CYCLES", "WAY", "MAC")
	for _, m := range l.Machines {
		power := "off"
		if m.On {
			power = "on"
		}
		fmt.Fprintf(&b, "%-8s  %-5s  %-6d  %-11s  %s\n", clean(m.Name), power, m.Cycles, clean(m.Way), clean(m.MAC))
	}
	out := a.heading(b.String())
	if l.Ends.IsZero() {
		return out + "it stays until `ingot lab down`\n"
	}
	return out + fmt.Sprintf("it goes down by itself at %s, in %s\n", l.Ends.UTC().Format(time.RFC3339), max(0, l.Ends.Sub(a.Now()).Round(time.Second)))
}
