package secrets

import (
	"context"
	"errors"
	"regexp"
	"strings"
)

// envName is a variable's name, as a reference may name it.
var envName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// DefaultEnvPrefix is what the names of variables begin with.
const DefaultEnvPrefix = "INGOT_SECRET_"

// Env resolves secret://env/NAME: the variable NAME holds what a file of
// [Files] would, or NAME_USERNAME and NAME_PASSWORD one part each. Others of the
// same user may read a process's environment; prefer files.
type Env struct {
	prefix string
	lookup func(string) (string, bool)
	key    Key
}

// NewEnv resolves names that begin with prefix and go on behind it, by lookup,
// as [os.LookupEnv] is one. It makes versions by key. No prefix is the default
// one.
func NewEnv(prefix string, lookup func(string) (string, bool), key Key) *Env {
	if prefix == "" {
		prefix = DefaultEnvPrefix
	}
	return &Env{prefix, lookup, key}
}

// Resolve reads the variables. The error is [*Unresolved].
func (e *Env) Resolve(_ context.Context, ref Ref) (Credentials, error) {
	behind, ok := strings.CutPrefix(ref.Name, e.prefix)
	if !ok || behind == "" || !envName.MatchString(ref.Name) {
		return Credentials{}, &Unresolved{Ref: ref, Why: "the name must begin with " + e.prefix + " and go on with A-Z, 0-9 or '_'"}
	}
	c, err := e.read(ref.Name)
	if errors.Is(err, errNoVariable) {
		return Credentials{}, &Unresolved{Ref: ref, Why: "neither " + ref.Name + " nor " + ref.Name + "_USERNAME and _PASSWORD are set", code: "NOT_FOUND"}
	}
	if err != nil {
		return Credentials{}, &Unresolved{Ref: ref, Why: "the environment holds no credentials there", Err: err}
	}
	return c.versioned(e.key, ref), nil
}

var errNoVariable = errors.New("no such variable")

func (e *Env) read(name string) (Credentials, error) {
	whole, one := e.lookup(name)
	username, u := e.lookup(name + "_USERNAME")
	password, p := e.lookup(name + "_PASSWORD")
	switch {
	case one && (u || p):
		return Credentials{}, errors.New("both forms are set: leave one out")
	case one:
		return parseCredentials([]byte(whole))
	case u && p:
		return newCredentials(username, password)
	case u || p:
		return Credentials{}, errors.New("one of _USERNAME and _PASSWORD is not set")
	}
	return Credentials{}, errNoVariable
}
