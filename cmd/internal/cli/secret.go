package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
)

// maxFile is the most that is read of a file which a flag names.
const maxFile = 4 << 20

// maxSecret is the most that is read as a secret.
const maxSecret = 64 << 10

// slurp reads a file, or standard input for "-", which can be read once.
func (a *app) slurp(name string, most int64) ([]byte, error) {
	in := a.In
	if name != "-" {
		f, err := os.Open(a.path(name))
		if err != nil {
			return nil, usage("%v", err)
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return nil, usage("%s: %v", name, err)
	case int64(len(raw)) > most:
		return nil, usage("%s has more than %d bytes", name, most)
	}
	return raw, nil
}

// fill reads a field that is given by a file into v.
func (a *app) fill(p *param, v reflect.Value) error {
	if len(p.texts) > 1 {
		return usage("--%s is given twice", p.name)
	}
	most := int64(maxSecret)
	switch {
	case raw(p.field):
		return a.fillJSON(p, v)
	case !p.field.Secret:
		most = maxFile
	}
	raw, err := a.slurp(p.texts[0], most)
	if err != nil {
		return err
	}
	return setSecret(p, v, raw)
}

func (a *app) fillJSON(p *param, v reflect.Value) error {
	raw, err := a.slurp(p.texts[0], maxFile)
	if err != nil {
		return err
	}
	if raw = bytes.TrimSpace(raw); !json.Valid(raw) {
		return usage("--%s: the file is not JSON", p.name)
	}
	v.SetBytes(raw)
	return nil
}

// setSecret keeps a secret without the end of its line.
func setSecret(p *param, v reflect.Value, raw []byte) error {
	v.SetString(strings.TrimRight(string(raw), "\r\n"))
	if err := check(p.field, v); err != nil {
		return usage("--%s: %v", p.name, err)
	}
	return nil
}

// ask reads a secret that must be given from the terminal, where there is one.
func (a *app) ask(p *param, v reflect.Value) error {
	if a.Prompt == nil {
		return usage("%s is needed", kebab(p.field.Name)).then("give it by --%s FILE, or --%s - and standard input: secrets are no arguments, since others see those", p.name, p.name)
	}
	raw, err := a.Prompt(fmt.Sprintf("%s: ", strings.ReplaceAll(kebab(p.field.Name), "-", " ")))
	if err != nil {
		return usage("%v", err)
	}
	if len(raw) == 0 && !p.field.Required {
		return nil
	}
	return setSecret(p, v, raw)
}

// asks reports whether a field that was not given is asked for on a terminal: a
// secret that must be given, and the second factor when signing in.
func (a *app) asks(p *param) bool {
	if !p.field.Secret {
		return false
	}
	return p.field.Required || p.op == api.SessionOpen.Name && a.Prompt != nil
}
