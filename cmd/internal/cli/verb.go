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
	wait  bool                      // node.power: until the command has ended
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

// arguments are the params that are given without a flag, in their order.
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
		if v.wait {
			limit += longestPower
		}
	}
	return context.WithTimeout(ctx, limit)
}
