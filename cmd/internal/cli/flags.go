package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
)

// flags declares the verb's own flags.
func (v *verb) flags(c *cobra.Command) {
	body := false
	for _, p := range v.params {
		body = body || p.field.In == api.InBody
		switch {
		case p.how == byArgument || v.pages() && p.field.Name == "limit":
			continue
		}
		f := c.Flags().VarPF(p, p.name, "", p.about())
		if p.field.Shape == api.Bool && p.how == byFlag {
			f.NoOptDefVal = "true"
		}
		// image_has_zstd is of one choice of a pool; with it the help would not fit a screen
		f.Hidden = v.def.Name == api.RegistrationApproveSetup.Name && strings.HasPrefix(p.field.Name, "layout.") || p.field.Name == "layout.image_has_zstd"
	}
	if body {
		c.Flags().StringVar(&v.file, "file", "", "read the body from a YAML or JSON `FILE`, or - for standard input; flags change it")
	}
	if v.def.Destructive {
		c.Flags().BoolVar(&v.yes, "yes", false, "do it: what it ends cannot be had back")
	}
	v.special(c)
	v.readFlags(c)
	for _, p := range v.params {
		if len(p.field.Enum) > 0 && p.how == byFlag {
			_ = c.RegisterFlagCompletionFunc(p.name, cobra.FixedCompletions(p.field.Enum, noFiles)) // it fails where there is no such flag
		}
	}
}

// special declares the flags of single operations.
func (v *verb) special(c *cobra.Command) {
	switch {
	case v.def.Name == api.RegistrationApproveSetup.Name:
		c.Flags().StringVar(&v.plan, "plan-file", "", "approve what 'ingot plan -o json' printed into this `FILE`")
	case v.def.Name == api.SessionOpen.Name:
		c.Flags().BoolVar(&v.keep, "print-token", false, "print the token instead of keeping it in the context")
	case v.def.Name == api.NodePower.Name:
		c.Flags().BoolVar(&v.wait, "wait", false, "wait until the command has ended, and fail if it did")
	case v.def.Stream == api.Events:
		c.Flags().BoolVar(&v.fresh, "new", false, "only what happens from now on; else all from the cursor on")
	case v.def.Stream == api.Bytes:
		c.Flags().StringVar(&v.to, "to", "", "a new `FILE` to write, or - for standard output")
	}
}

// readFlags declares the flags of lists and shows.
func (v *verb) readFlags(c *cobra.Command) {
	if v.pages() {
		c.Flags().IntVar(&v.limit, "limit", 0, "list `N` at most; left out: all")
	}
	if !v.watches() {
		return
	}
	c.Flags().BoolVar(&v.watch, "watch", false, "go on, and print what happens")
	c.Flags().DurationVar(&v.every, "every", 2*time.Second, "how often to look while watching")
	if v.shape.list == "" {
		c.Flags().StringArrayVar(&v.until, "until", nil, "watch until `FIELD=VALUE` holds, such as state=approved (repeat: any of them)")
	}
}

// pages reports whether the operation answers a page at a time.
func (v *verb) pages() bool {
	if v.shape.list == "" {
		return false
	}
	return slices.ContainsFunc(v.params, func(p *param) bool { return p.field.Name == "cursor" })
}

// watches reports whether there is something to watch.
func (v *verb) watches() bool {
	return v.def.Method == "GET" && v.def.Stream == api.JSON && !machine(v.def) && v.def.Name != api.EventListing.Name
}
