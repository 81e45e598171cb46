package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingotmetal/ingot/cmd/api"
)

// guard refuses what must not leave: a destroying verb without --yes (CLI-1), a
// change in a readonly context, one in a protected context that the command does not
// name. A dry run destroys and changes nothing.
func (v *verb) guard(c *cobra.Command, words []string) error {
	if !v.def.Mutates || v.dry() {
		return nil
	}
	if v.def.Destructive && !v.yes {
		return usage("%s destroys what cannot be had back, and --yes was not given: nothing was sent", c.CommandPath()).
			then("see what it would do: %s", v.again(c, words, "--dry-run"))
	}
	return v.guardContext(c, words)
}

func (v *verb) guardContext(c *cobra.Command, words []string) error {
	if v.def.Name == api.SessionOpen.Name || v.def.Name == api.SessionClose.Name {
		return nil // they change who asks, not what is asked about
	}
	t, err := v.target()
	switch {
	case err != nil:
		return err
	case t.Readonly:
		return &Refusal{"the context " + t.name + " is readonly: nothing was sent", "use another context, or `ingot context set " + t.name + " --readonly=false`", "ACCESS_DENIED"}
	case t.Protected && v.given.context == "":
		return usage("the context %s is protected, and the command does not name it: nothing was sent", t.name).
			then("if it is meant: %s", v.again(c, words, "--context", t.name))
	}
	return nil
}

// dry reports whether --dry-run was given.
func (v *verb) dry() bool {
	return slices.ContainsFunc(v.params, func(p *param) bool {
		return p.field.Name == "dry_run" && p.made.IsValid() && p.made.Bool()
	})
}

// again is the command with more flags, as a shell reads it. It has no secret, since
// none is an argument.
func (v *verb) again(c *cobra.Command, words []string, more ...string) string {
	parts := append(strings.Fields(c.CommandPath()), words...)
	parts = append(parts, v.givenFlags()...)
	parts = append(append(parts, v.whereFlags()...), more...)
	for i, p := range parts {
		parts[i] = quote(p)
	}
	return strings.Join(parts, " ")
}

// givenFlags are the verb's own flags as they were given.
func (v *verb) givenFlags() (out []string) {
	for _, p := range v.params {
		if p.how == byArgument {
			continue
		}
		for _, text := range p.texts {
			if p.field.Shape == api.Bool {
				out = append(out, "--"+p.name+"="+text)
				continue
			}
			out = append(out, "--"+p.name, text)
		}
	}
	for _, f := range []struct{ name, value string }{{"file", v.file}, {"plan-file", v.plan}} {
		if f.value != "" {
			out = append(out, "--"+f.name, f.value)
		}
	}
	return out
}

// whereFlags are the flags that say which server, as they were given.
func (a *app) whereFlags() (out []string) {
	for _, w := range []struct{ name, value string }{
		{"context", a.given.context}, {"server", a.given.server}, {"pin", a.given.pin}, {"key-file", a.given.keyFile},
	} {
		if w.value != "" {
			out = append(out, "--"+w.name, w.value)
		}
	}
	return out
}

// quote writes a word as a POSIX shell reads it.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
