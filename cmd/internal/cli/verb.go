package cli

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
)

// A verb is an operation as a command.
type verb struct {
	*app
	op     api.Any
	def    api.Def
	params []*param
	shape  answerShape

	yes   bool
	file  string
	plan  string // approve-setup: the file of a plan that was shown
	to    string // streams of bytes: where they go
	keep  bool   // session.open: print the token instead of keeping it
	fresh bool   // event.stream: only what happens from now on
	watch bool
	until []string
	every time.Duration
	limit int
	words []string                  // arguments as given
	page  func(*verb, []byte) error // shows the answer, instead of the usual
}

// newVerb makes the command of an operation. The same operation may have several,
// under other names, with another way to show the answer.
func (a *app) newVerb(op api.Any, path string, page func(*verb, []byte) error) *cobra.Command {
	v := &verb{app: a, op: op, def: op.Info(), shape: shapeOf(op), page: page}
	read := reader{a.Now}
	for _, f := range api.Fields(op) {
		v.params = append(v.params, newParam(v.def.Name, f, read))
	}
	use := path[strings.LastIndex(path, " ")+1:]
	c := &cobra.Command{Use: use + v.argumentsLine(), Short: v.def.Summary, Args: v.count, Hidden: machine(v.def)}
	c.Example = exampleOf("ingot "+path, v.def.Name)
	c.RunE = func(c *cobra.Command, words []string) error {
		a.started = true
		return v.run(c.Context(), c, words)
	}
	c.ValidArgsFunction = v.complete
	v.flags(c)
	return c
}

// machine reports whether a machine and no person calls an operation.
func machine(d api.Def) bool {
	switch d.Axis() {
	case "setup", "booter":
		return true
	}
	return d.Auth == api.PollToken || slices.Contains([]string{"registration.register", "registration.refresh"}, d.Name)
}

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
		f.Hidden = v.def.Name == api.RegistrationApproveSetup.Name && strings.HasPrefix(p.field.Name, "layout.")
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

func (v *verb) arguments() (out []*param) {
	for _, p := range v.params {
		if p.how == byArgument {
			out = append(out, p)
		}
	}
	return out
}

// many reports whether the verb may be given several targets: a change that is all
// in its name.
func (v *verb) many() bool {
	args := v.arguments()
	return v.def.Mutates && len(args) == 1 && args[0].field.In == api.InPath && !machine(v.def) &&
		!slices.ContainsFunc(v.params, func(p *param) bool { return p.field.In == api.InBody })
}

func (v *verb) argumentsLine() string {
	var b strings.Builder
	for _, p := range v.arguments() {
		b.WriteString(" " + p.name)
		if p.field.Shape == api.Bool {
			b.WriteString("(on|off)")
		}
	}
	if v.many() {
		b.WriteString("...")
	}
	return b.String()
}

// count refuses a wrong number of arguments.
func (v *verb) count(c *cobra.Command, words []string) error {
	args := v.arguments()
	switch {
	case len(words) < len(args):
		return usage("%s is missing", args[len(words)].name).then("usage: %s", c.UseLine())
	case len(words) > len(args) && !v.many():
		return usage("%d arguments, want %d", len(words), len(args)).then("usage: %s", c.UseLine())
	}
	return nil
}

// run carries out the command.
func (v *verb) run(ctx context.Context, c *cobra.Command, words []string) error {
	v.words = words
	if err := v.begin(c); err != nil {
		return err
	}
	base, err := v.input(words)
	if err != nil {
		return err
	}
	if err := v.guard(c, words); err != nil {
		return err
	}
	conn, err := v.connect(v.def)
	if err != nil {
		return err
	}
	defer conn.HTTP.CloseIdleConnections()
	ctx, done := v.bounded(ctx)
	defer done()
	if err := v.overlay(ctx, conn, base); err != nil {
		return err
	}
	return v.do(ctx, conn, base, words)
}

// do calls the operation in the way of its kind.
func (v *verb) do(ctx context.Context, conn *connection, in reflect.Value, words []string) error {
	switch {
	case v.def.Stream == api.Events:
		return v.follow(ctx, conn, in)
	case v.def.Stream == api.Bytes:
		return v.download(ctx, conn, in)
	case v.watch || len(v.until) > 0:
		return v.watching(ctx, conn, in)
	case v.pages():
		return v.listing(ctx, conn, in)
	case v.many() && len(words) > 1:
		return v.each(ctx, conn, in, words)
	}
	return v.once(ctx, conn, in)
}

// bounded gives a command its end. What waits by itself has the time that it asks
// for on top; what watches has no end unless one was given.
func (v *verb) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := v.given.timeout
	endless := v.watch || len(v.until) > 0 || v.def.Stream != api.JSON
	if limit == 0 && endless {
		return context.WithCancel(ctx)
	}
	if limit == 0 {
		limit = defaultTimeout
		if v.def.Waits {
			limit += api.MaxWait
		}
	}
	return context.WithTimeout(ctx, limit)
}
