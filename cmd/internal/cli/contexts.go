package cli

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/whole"
)

// A Context is a server with how to trust it and who asks.
type Context struct {
	Server  string     `json:"server"`             // https://host:port, or unix:/path
	Pin     string     `json:"pin,omitempty"`      // sha256/..., several with commas between
	KeyFile string     `json:"key_file,omitempty"` // of an API key; before Token
	Token   api.Secret `json:"token,omitempty"`    // of a session, kept by session open
	Ends    time.Time  `json:"token_ends,omitzero"`
	// Readonly refuses every change, and Protected those whose command does not name
	// the context.
	Readonly  bool `json:"readonly,omitempty"`
	Protected bool `json:"protected,omitempty"`

	name string
}

// contexts is the file of contexts.
type contexts struct {
	Current  string             `json:"current,omitempty"`
	Contexts map[string]Context `json:"contexts,omitempty"`
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func (a *app) contextsFile() string { return filepath.Join(a.configDir(), "contexts.yaml") }

// contexts reads the file; none is an empty one. One that others may read is refused,
// since it may hold tokens.
func (a *app) contexts() (contexts, error) {
	var out contexts
	name := a.contextsFile()
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return out, nil
	case err != nil:
		return out, usage("%v", err)
	case info.Mode().Perm()&0o077 != 0:
		return out, usage("%s has mode %04o, and holds what signs you in: it is not used", name, info.Mode().Perm()).
			then("if nobody has read it: chmod 600 %s; else remove it and sign in anew", quote(name))
	}
	raw, err := a.slurp(name, maxFile)
	if err != nil {
		return out, err
	}
	return out, strict(name, raw, &out)
}

// edit changes the file of contexts: under a lock, and whole or not at all.
func (a *app) edit(change func(*contexts) error) error {
	if err := os.MkdirAll(a.configDir(), 0o700); err != nil {
		return usage("%v", err)
	}
	unlock, err := lock(a.contextsFile() + ".lock")
	if err != nil {
		return usage("%v", err)
	}
	defer unlock()
	all, err := a.contexts()
	if err != nil {
		return err
	}
	if all.Contexts == nil {
		all.Contexts = map[string]Context{}
	}
	if err := change(&all); err != nil {
		return err
	}
	raw, err := yaml.Marshal(all)
	if err != nil {
		return usage("%v", err)
	}
	if err := whole.Replace(a.contextsFile(), whole.Bytes(raw)); err != nil {
		return usage("%v", err)
	}
	return nil
}

// get is a context that must be there.
func (c contexts) get(name string) (Context, error) {
	t, ok := c.Contexts[name]
	if !ok {
		return t, usage("there is no context %s", quote(name)).then("known: %s", listOr(slices.Sorted(maps.Keys(c.Contexts)), "none; make one with `ingot context set NAME --server URL`"))
	}
	t.name = name
	return t, nil
}

func listOr(words []string, none string) string {
	if len(words) == 0 {
		return none
	}
	return strings.Join(words, ", ")
}
