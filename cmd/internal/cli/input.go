package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ingotmetal/ingot/cmd/api"
)

// input is a pointer to the operation's input, from file, flags, arguments and what
// is asked for. Nothing in it is malformed as far as the table tells.
func (v *verb) input(words []string) (reflect.Value, error) {
	in := reflect.New(v.op.In())
	if err := v.readFile(in); err != nil {
		return in, err
	}
	for i, p := range v.arguments() {
		if err := p.Set(words[i]); err != nil {
			return in, usage("%s: %v", p.name, err)
		}
	}
	if err := v.others(words); err != nil {
		return in, err
	}
	if err := v.fromPlan(in); err != nil {
		return in, err
	}
	if err := v.oneStdin(); err != nil {
		return in, err
	}
	for _, p := range v.params {
		if err := v.place(p, in); err != nil {
			return in, err
		}
	}
	if err := v.saysSomething(); err != nil {
		return in, err
	}
	return in, v.whole(in)
}

// others checks the targets after the first.
func (v *verb) others(words []string) error {
	if !v.many() {
		return nil
	}
	p := v.arguments()[0]
	for _, w := range words {
		if err := checkText(p.field, w); err != nil {
			return usage("%s: %v", p.name, err)
		}
	}
	return nil
}

// place puts one field where it belongs.
func (v *verb) place(p *param, in reflect.Value) error {
	at := func() reflect.Value { return p.field.At(in.Interface()) }
	switch {
	case p.given() && p.how == byFile:
		return v.fill(p, at())
	case p.given():
		at().Set(p.made)
	case v.asks(p) && at().IsZero():
		return v.ask(p, at())
	case p.field.Required && p.field.Shape == api.List && at().IsNil():
		at().Set(reflect.MakeSlice(p.field.Type, 0, 0)) // [], not null
	}
	return nil
}

// whole checks what came by a file, and that nothing is missing.
func (v *verb) whole(in reflect.Value) error {
	for _, p := range v.params {
		if p.field.In == api.InHeader {
			continue
		}
		value := p.field.At(in.Interface())
		if lacks(p.field, value) {
			return v.lacking(p)
		}
		if value.IsZero() {
			continue
		}
		if err := check(p.field, value); err != nil {
			return usage("%s: %v", p.field.Name, err)
		}
	}
	return nil
}

// lacking is the error of a field that must be given, and was not.
func (v *verb) lacking(p *param) error {
	if p.name == "shown-plan" {
		return usage("the plan that was shown is not named by --shown-plan or --plan-file").
			then("see it first: ingot plan %s --layout ... --hostname ...; it ends with the command that approves it", v.words[0])
	}
	return usage("--%s is missing", p.name).then("give it, or put %s into the file of --file", p.field.Name)
}

// oneStdin refuses to read standard input for two things.
func (v *verb) oneStdin() error {
	n := 0
	if v.file == "-" {
		n++
	}
	if v.plan == "-" {
		n++
	}
	for _, p := range v.params {
		if p.how == byFile && p.given() && p.texts[0] == "-" {
			n++
		}
	}
	if n > 1 {
		return usage("standard input can be read for one thing alone").then("use files for the others")
	}
	return nil
}

// readFile reads the body from the file of --file.
func (v *verb) readFile(in reflect.Value) error {
	if v.file == "" {
		return nil
	}
	raw, err := v.slurp(v.file, maxFile)
	if err != nil {
		return err
	}
	err = strict(v.file, raw, in.Elem().FieldByName("Body").Addr().Interface())
	if u, ok := errors.AsType[*Usage](err); ok && strings.Contains(u.What, "unknown field") {
		return u.then("known: %s", strings.Join(v.bodyFields(), ", "))
	}
	return err
}

// bodyFields are the names that a file may have, dotted where they are nested.
func (v *verb) bodyFields() (out []string) {
	for _, p := range v.params {
		if p.field.In == api.InBody {
			out = append(out, p.field.Name)
		}
	}
	return out
}

// strict reads YAML or JSON into what has JSON tags. Unknown fields and repeated
// keys are refused.
func strict(name string, raw []byte, into any) error {
	asJSON, err := yaml.YAMLToJSONStrict(raw) // JSON is YAML; repeated keys are told here
	if err != nil {
		return usage("%s is neither YAML nor JSON, or has a key twice: %v", name, err)
	}
	if t := bytes.TrimSpace(raw); len(t) > 0 && t[0] == '{' && json.Valid(t) {
		asJSON = t // as it was written, numbers too
	}
	dec := json.NewDecoder(bytes.NewReader(asJSON))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return usage("%s: %v", name, err)
	}
	return nil
}

// draw makes an Idempotency-Key: one a command, the same in all its tries.
func (a *app) draw() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(a.Entropy, b[:]); err != nil {
		return "", &Refusal{"no entropy for an Idempotency-Key: " + err.Error(), "", "UNAVAILABLE"}
	}
	return "ingot-" + hex.EncodeToString(b[:]), nil
}
