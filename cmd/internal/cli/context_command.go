package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/internal/pin"
)

// contextCommand keeps servers under names.
func (a *app) contextCommand() *cobra.Command {
	c := &cobra.Command{Use: "context", Short: "Servers by name, with their keys and who you are there", RunE: a.bare, Args: a.noVerb}
	c.AddCommand(a.contextList(), a.contextShow(), a.contextUse(), a.contextSet(), a.contextRemove())
	for _, sub := range c.Commands() {
		if sub.Name() != "list" {
			sub.ValidArgsFunction = a.completeContexts
		}
	}
	return c
}

// A contextView is a context without what is secret.
type contextView struct {
	Name      string    `json:"name"`
	Server    string    `json:"server"`
	Pin       string    `json:"pin,omitempty"`
	KeyFile   string    `json:"key_file,omitempty"`
	SignedIn  bool      `json:"signed_in"`
	Ends      time.Time `json:"session_ends,omitzero"`
	Readonly  bool      `json:"readonly"`
	Protected bool      `json:"protected"`
	Current   bool      `json:"current"`
}

func (a *app) view(all contexts, name string) contextView {
	t := all.Contexts[name]
	in := t.Token != "" && (t.Ends.IsZero() || t.Ends.After(a.Now()))
	return contextView{name, t.Server, t.Pin, t.KeyFile, in, t.Ends, t.Readonly, t.Protected, all.Current == name}
}

func (a *app) contextList() *cobra.Command {
	c := a.leaf("list", "List contexts", "ingot context list", func(c *cobra.Command, _ []string) error {
		all, err := a.contexts()
		if err != nil {
			return err
		}
		views := []contextView{}
		for _, name := range slices.Sorted(maps.Keys(all.Contexts)) {
			views = append(views, a.view(all, name))
		}
		return a.showContexts(c, views)
	})
	c.Args = exactly(0)
	return c
}

func (a *app) showContexts(c *cobra.Command, views []contextView) error {
	if a.structured() {
		return a.value(c.Context(), "context.list", must(map[string]any{"contexts": views}))
	}
	var b strings.Builder
	if a.given.output == "name" {
		for _, v := range views {
			fmt.Fprintln(&b, v.Name)
		}
		return a.print(b.String())
	}
	if len(views) == 0 {
		a.note("none; make one with `ingot context set NAME --server URL`")
		return nil
	}
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "CONTEXT\tSERVER\tCREDENTIAL\tKIND\tCURRENT")
	for _, v := range views {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", v.Name, clean(v.Server), v.credential(), v.kind(), yes(v.Current))
	}
	_ = w.Flush()
	return a.print(a.heading(trimmed(b.String())))
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (v contextView) credential() string {
	switch {
	case v.KeyFile != "":
		return "key file"
	case v.SignedIn:
		return "session"
	case !v.Ends.IsZero():
		return "session ended"
	}
	return "none"
}

func (v contextView) kind() string {
	var kinds []string
	if v.Readonly {
		kinds = append(kinds, "readonly")
	}
	if v.Protected {
		kinds = append(kinds, "protected")
	}
	return listOr(kinds, "-")
}

func (a *app) contextShow() *cobra.Command {
	c := a.leaf("show NAME", "Show a context, without its token", "ingot context show lab", func(c *cobra.Command, words []string) error {
		all, err := a.contexts()
		if err != nil {
			return err
		}
		if _, err := all.get(words[0]); err != nil {
			return err
		}
		v := a.view(all, words[0])
		if a.structured() {
			return a.value(c.Context(), "context.show", must(v))
		}
		return a.factsOf(v)
	})
	c.Args = exactly(1)
	return c
}

func (a *app) contextUse() *cobra.Command {
	c := a.leaf("use NAME", "Use a context where a command names none", "ingot context use lab", func(_ *cobra.Command, words []string) error {
		return a.edit(func(all *contexts) error {
			_, err := all.get(words[0])
			if err == nil {
				all.Current = words[0]
			}
			return err
		})
	})
	c.Args = exactly(1)
	return c
}

func (a *app) contextRemove() *cobra.Command {
	c := a.leaf("remove NAME", "Forget a context with its token", "ingot context remove lab", func(_ *cobra.Command, words []string) error {
		return a.edit(func(all *contexts) error {
			_, err := all.get(words[0])
			if err != nil {
				return err
			}
			delete(all.Contexts, words[0])
			if all.Current == words[0] {
				all.Current = ""
			}
			return nil
		})
	})
	c.Args = exactly(1)
	return c
}

// contextSet makes or changes a context. What is not given stays.
func (a *app) contextSet() *cobra.Command {
	var readonly, protected, use bool
	c := a.leaf("set NAME", "Make a context or change it, by --server, --pin and --key-file too",
		"ingot context set lab --server https://ingot.example:8443 --pin sha256/...", nil)
	c.Args = exactly(1)
	c.Flags().BoolVar(&readonly, "readonly", false, "refuse every change here")
	c.Flags().BoolVar(&protected, "protected", false, "refuse changes whose command does not name the context")
	c.Flags().BoolVar(&use, "use", false, "use it where a command names none; the first one is anyway")
	c.RunE = func(c *cobra.Command, words []string) error {
		a.started = true
		if err := a.begin(c); err != nil {
			return err
		}
		return a.edit(func(all *contexts) error {
			t := all.Contexts[words[0]]
			if err := a.change(c, &t, words[0]); err != nil {
				return err
			}
			if c.Flags().Changed("readonly") {
				t.Readonly = readonly
			}
			if c.Flags().Changed("protected") {
				t.Protected = protected
			}
			all.Contexts[words[0]] = t
			if use || len(all.Contexts) == 1 {
				all.Current = words[0]
			}
			return nil
		})
	}
	return c
}

// change puts the global flags that were given into a context. A context that gets
// another server loses its token and key: they are the old one's.
func (a *app) change(c *cobra.Command, t *Context, name string) error {
	if !contextName.MatchString(name) {
		return usage("a context's name has letters, digits and . _ -, 63 at most")
	}
	if a.given.server != "" {
		if _, _, err := a.address(a.given.server); err != nil {
			return err
		}
		if t.Server != "" && t.Server != a.given.server {
			t.Token, t.Ends, t.KeyFile, t.Pin = "", time.Time{}, "", ""
		}
		t.Server = a.given.server
	}
	if t.Server == "" {
		return usage("a context needs a server").then("ingot context set %s --server https://HOST:PORT", name)
	}
	if c.Flags().Changed("pin") {
		for text := range strings.SplitSeq(a.given.pin, ",") {
			if _, err := pin.Parse(strings.TrimSpace(text)); err != nil && a.given.pin != "" {
				return usage("%v", err)
			}
		}
		t.Pin = a.given.pin
	}
	if c.Flags().Changed("key-file") {
		t.KeyFile = ""
		if a.given.keyFile != "" {
			abs, err := filepath.Abs(a.path(a.given.keyFile)) // the context is used elsewhere too
			if err != nil {
				return usage("%v", err)
			}
			t.KeyFile = abs
		}
	}
	return nil
}

// factsOf prints any value with JSON names as lines.
func (a *app) factsOf(x any) error {
	return a.facts(reflect.ValueOf(x))
}
