package cli

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
)

// A param is how one field of an input is given: as an argument, by a flag, or from
// a file that a flag names. It is a flag's value.
type param struct {
	field api.Field
	op    string
	name  string // of the flag or argument
	how   way
	read  reader

	texts []string // as given, one a flag
	made  reflect.Value
}

// way is how a field is given.
type way int

const (
	byFlag way = iota
	byArgument
	byFile   // secrets, and JSON that is too long to type
	byItself // the command line gives it
)

// arguments are the fields beside those of the path that are what a verb is about,
// and so are given without a flag.
var arguments = map[string]string{
	"operator.add":           "name",
	"session.open":           "operator",
	"boot.mode":              "mode",
	"node.maintenance":       "on",
	"node.power":             "action",
	"node.boot-set":          "target",
	"node.media-insert":      "image",
	"node.media-eject":       "slot",
	"metal.enroll":           "bmc",
	"metal.confirm-mac":      "mac",
	"registration.reservoir": "bytes",
}

// names are flags that are not named as their fields are: after what they do, one
// for each of a list, or since a flag of every command has the name.
var names = map[string]string{
	"version":          "if-version",
	"Idempotency-Key":  "idempotency-key",
	"Last-Event-ID":    "last-event-id",
	"layout.disks":     "disk",
	"layout.overrides": "override",
	"macs":             "mac",
	"seen_macs":        "seen-mac",
	"sightings":        "sighting",
	"boots":            "boot",
	"server":           "booter-address",
}

// newParam decides how a field of an operation is given.
func newParam(op string, f api.Field, read reader) *param {
	p := &param{field: f, op: op, read: read, name: flagName(f), how: byFlag}
	switch {
	case f.In == api.InPath || arguments[op] == f.Name && f.In != api.InPath:
		p.how, p.name = byArgument, strings.ToUpper(strings.TrimSuffix(f.Name, "_id"))
	case f.Secret || raw(f) || f.Name == "ca":
		p.how, p.name = byFile, p.name+"-file"
	}
	return p
}

// raw reports whether a field holds JSON as it comes.
func raw(f api.Field) bool { return f.Shape == api.Anything && f.Type.Kind() == reflect.Slice }

// flagName is the name of a field's flag: that of names, else the field's own. The
// fields of a layout stand alone, since no verb has two.
func flagName(f api.Field) string {
	return cmp.Or(names[f.Name], kebab(strings.TrimPrefix(f.Name, "layout.")))
}

// Set takes one text, as flags do.
func (p *param) Set(text string) error {
	if p.how == byFile {
		p.texts = append(p.texts, text)
		return nil
	}
	if !p.made.IsValid() {
		p.made = reflect.New(p.field.Type).Elem()
	}
	if err := p.take(p.made, text); err != nil {
		return err
	}
	p.texts = append(p.texts, text)
	return check(p.field, p.made)
}

func (p *param) take(v reflect.Value, text string) error {
	switch p.field.Shape {
	case api.List:
		return p.appendTo(v, text)
	case api.Map:
		return p.putInto(v, text)
	}
	return p.read.set(v, text)
}

// appendTo reads a list: words with commas between, or one object.
func (p *param) appendTo(v reflect.Value, text string) error {
	words := strings.Split(text, ",")
	if text == "" {
		words = nil // an empty list
	}
	if p.field.Elem == api.Object {
		words = []string{text}
	}
	for _, word := range words {
		e := reflect.New(v.Type().Elem()).Elem()
		if err := p.element(e, word); err != nil {
			return err
		}
		v.Set(reflect.Append(v, e))
	}
	return nil
}

func (p *param) element(e reflect.Value, text string) error {
	if p.field.Elem == api.Object {
		return p.object(e, text)
	}
	return p.read.set(e, strings.TrimSpace(text))
}

// object reads NAME=VALUE pairs with commas between.
func (p *param) object(e reflect.Value, text string) error {
	var known []string
	for _, f := range p.field.Fields {
		known = append(known, kebab(f.Name))
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		i := slices.Index(known, kebab(strings.TrimSpace(name)))
		if !ok || i < 0 {
			return usage("want NAME=VALUE with commas between, of %s", strings.Join(known, ", "))
		}
		f := p.field.Fields[i]
		if err := p.read.set(f.At(e.Addr().Interface()), value); err != nil {
			return usage("%s: %v", known[i], err)
		}
	}
	return nil
}

func kebab(name string) string { return strings.ReplaceAll(name, "_", "-") }

// putInto reads KEY=VALUE pairs with commas between.
func (p *param) putInto(v reflect.Value, text string) error {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return usage("want KEY=VALUE, with commas between where there are more")
		}
		e := reflect.New(v.Type().Elem()).Elem()
		if err := p.read.set(e, value); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(key), e)
	}
	return nil
}

// String is the flag's default: none is shown.
func (p *param) String() string { return "" }

// Type names the flag's value in help.
func (p *param) Type() string {
	switch f := p.field; {
	case p.how == byFile:
		return "FILE"
	case f.Shape == api.Map:
		return "KEY=VALUE,..."
	case f.Shape == api.List && f.Elem == api.Object:
		return "NAME=VALUE,..."
	case f.Shape == api.List:
		return "TEXT,..."
	case f.Shape == api.Instant:
		return "TIME"
	case f.Shape == api.Length:
		return "DURATION"
	case f.Shape == api.Uint && strings.HasSuffix(f.Name, "bytes") || f.Shape == api.Anything:
		return "SIZE"
	case f.Shape == api.Int || f.Shape == api.Uint:
		return "N"
	case f.Shape == api.Bool:
		return "bool"
	}
	return "TEXT"
}

// given reports whether the field was given.
func (p *param) given() bool { return len(p.texts) > 0 }

// about is the line of help.
func (p *param) about() string {
	f := p.field
	doc := cmp.Or(f.Doc, docs[f.Name], kebab(f.Name))
	if len(f.Enum) > 0 {
		doc += ": " + strings.Join(f.Enum, ", ")
	}
	if p.how == byFile {
		doc += " (a file, or - for standard input)"
	}
	if f.Shape == api.List && f.Elem == api.Object {
		var inner []string
		for _, f := range f.Fields {
			inner = append(inner, kebab(f.Name))
		}
		doc += " (once for each; of " + strings.Join(inner, ", ") + ")"
	}
	return doc
}
