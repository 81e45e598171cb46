package cli

import (
	"bytes"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
)

// quiet is a world without anything.
func quiet() World {
	return World{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Env: func(string) string { return "" }, Now: time.Now, Entropy: bytes.NewReader(nil)}
}

func tree() *cobra.Command { return (&app{World: quiet()}).root() }

// flag is one of a command's own.
type flag struct{ name, short, usage string }

// flagsOf lists a command's flags. The type of a flag has no room here, so that it
// is met by reflection alone.
func flagsOf(set any) (out []flag) {
	visit := reflect.ValueOf(set).MethodByName("VisitAll")
	visit.Call([]reflect.Value{reflect.MakeFunc(visit.Type().In(0), func(args []reflect.Value) []reflect.Value {
		f := args[0].Elem()
		out = append(out, flag{f.FieldByName("Name").String(), f.FieldByName("Shorthand").String(), f.FieldByName("Usage").String()})
		return nil
	})})
	return out
}

// each visits every command below c.
func everyCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		everyCommand(sub, visit)
	}
}

func TestEveryOperationHasAVerb(t *testing.T) { // CLI-1, CLI-2
	root := tree()
	for _, op := range api.All() {
		d := op.Info()
		c, rest, err := root.Find([]string{d.Axis(), d.Verb()})
		if err != nil || len(rest) > 0 || !c.Runnable() {
			t.Errorf("%s has no verb", d.Name)
			continue
		}
		if c.Hidden != machine(d) {
			t.Errorf("%s: hidden is %t", d.Name, c.Hidden)
		}
		if _, ok := sample[d.Name]; !ok {
			t.Errorf("%s has no example", d.Name)
		}
		given := flagsOf(c.Flags())
		for _, f := range api.Fields(op) {
			p := newParam(d.Name, f, reader{time.Now})
			flagged := slices.ContainsFunc(given, func(g flag) bool { return g.name == p.name })
			if p.how != byArgument && !flagged {
				t.Errorf("%s: nothing gives %s", d.Name, f.Name)
			}
			if f.Secret && !strings.HasSuffix(p.name, "-file") {
				t.Errorf("%s: the secret %s is given by --%s", d.Name, f.Name, p.name)
			}
		}
		if changes := slices.ContainsFunc(api.Fields(op), func(f api.Field) bool { return f.Name == "dry_run" }); changes {
			for _, name := range []string{"dry-run", "if-version", "reason"} {
				if c.Flags().Lookup(name) == nil {
					t.Errorf("%s has no --%s", d.Name, name)
				}
			}
		}
	}
}

// No flag hides another, and every one is documented.
func TestFlags(t *testing.T) {
	root := tree()
	global := flagsOf(root.PersistentFlags())
	everyCommand(root, func(c *cobra.Command) {
		for _, f := range flagsOf(c.LocalNonPersistentFlags()) {
			if strings.TrimSpace(f.usage) == "" || f.usage == f.name || strings.HasPrefix(f.usage, "layout.") {
				t.Errorf("%s --%s is not documented: %q", c.CommandPath(), f.name, f.usage)
			}
			for _, g := range global {
				if f.name == g.name || f.short != "" && f.short == g.short {
					t.Errorf("%s --%s hides a flag of every command", c.CommandPath(), f.name)
				}
			}
		}
	})
}

// forced are the pairs that the table or a daily name makes alike.
var forced = []string{"approve-setup approve"}

// A destroying verb is not one slip away from a harmless one (CLI-1).
func TestDestroyingVerbsAreNotLikeOthers(t *testing.T) {
	root := tree()
	destroys := func(c *cobra.Command) bool { return c.Flags().Lookup("yes") != nil }
	var found []string
	everyCommand(root, func(c *cobra.Command) {
		if !destroys(c) {
			return
		}
		for _, sibling := range c.Parent().Commands() {
			if sibling != c && !destroys(sibling) && sibling.Runnable() && strings.HasPrefix(sibling.Name(), c.Name()[:3]) {
				found = append(found, c.Name()+" "+sibling.Name())
			}
		}
	})
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, forced) {
		t.Errorf("destroying verbs with the first letters of a harmless one: %q, want %q", found, forced)
	}
}

// A verb's target is named: in an argument, in what must be given, or it is the only
// one that there is.
func TestNoVerbHasAnImplicitTarget(t *testing.T) {
	single := strings.Fields(`registration.register registration.acknowledge registration.approve setup.announce booter.sightings
		booter.boots policy.set auto-approve.open auto-approve.close enroll-window.open enroll-window.close key.mint session.close`)
	root := tree()
	for _, op := range api.All() {
		d := op.Info()
		c, _, _ := root.Find([]string{d.Axis(), d.Verb()})
		if d.Mutates && c.Args(c, nil) == nil && !slices.Contains(single, d.Name) {
			t.Errorf("%s may be called without a target", d.Name)
		}
		for _, f := range flagsOf(c.Flags()) {
			if f.name == "all" {
				t.Errorf("%s has --all", d.Name)
			}
		}
	}
}

// A page of help fits on a screen.
func TestHelpFitsAScreen(t *testing.T) {
	root := tree()
	for _, s := range shortcuts() {
		c, _, err := root.Find([]string{s.use})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(helpOf(c), "\n"); n > 24 {
			t.Errorf("ingot %s -h has %d lines", s.use, n)
		}
	}
	everyCommand(root, func(c *cobra.Command) {
		if c.Short == "" || c.Runnable() && !c.HasSubCommands() && !c.Hidden && c.Example == "" && c.Name() != "help" {
			t.Errorf("%s has no line of help, or no example", c.CommandPath())
		}
		for l := range strings.SplitSeq(helpOf(c), "\n") {
			if len(l) > 160 {
				t.Errorf("%s: a line of %d characters: %s", c.CommandPath(), len(l), l)
			}
		}
	})
}
