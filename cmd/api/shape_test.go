package api

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// field is a JSON field of an input's body or an output.
type field struct {
	at string
	sf reflect.StructField
}

// jsonFields walks every JSON field below t, each type once.
func jsonFields(t reflect.Type, at string, seen map[reflect.Type]bool) []field {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		if t == reflect.TypeFor[json.RawMessage]() {
			return nil
		}
		t = t.Elem()
	}
	if shape(t) != Object || seen[t] {
		return nil
	}
	seen[t] = true
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, _ := jsonName(sf)
		if sf.IsExported() && !sf.Anonymous && sf.Tag.Get("path")+sf.Tag.Get("query")+sf.Tag.Get("header") == "" && sf.Name != "Body" {
			out = append(out, field{at + "." + name, sf})
		}
		out = append(out, jsonFields(sf.Type, at+"."+name, seen)...)
	}
	return out
}

func TestNamesOnTheWire(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
	for _, a := range All() {
		for _, typ := range []reflect.Type{a.In(), a.Out()} {
			if typ == nil {
				continue
			}
			for _, f := range jsonFields(typ, a.Info().Name, map[reflect.Type]bool{}) {
				if name, _ := jsonName(f.sf); !snake.MatchString(name) {
					t.Errorf("%s: JSON name %q", f.at, name)
				}
			}
		}
		for _, f := range Fields(a) {
			if ok := snake.MatchString(f.Name); !ok && (f.In == InPath || f.In == InQuery) {
				t.Errorf("%s: %s parameter %q", a.Info().Name, f.In, f.Name)
			}
		}
	}
}

// What is typed into a URL or header has a bound and a form; what is not ours to
// bound is said here.
func TestParametersAreBounded(t *testing.T) {
	for _, a := range All() {
		for _, f := range Fields(a) {
			bound := f.Tag.Get("maxLength") != "" && f.Tag.Get("pattern") != "" || f.Enum != nil || f.Tag.Get("format") == "uuid"
			if f.In != InBody && f.Shape == String && !bound {
				t.Errorf("%s: %s %s has no bound", a.Info().Name, f.In, f.Name)
			}
			if format := f.Tag.Get("format"); format != "" && format != "uuid" && format != "password" {
				t.Errorf("%s: %s has format %q, whose checks may tell the value back", a.Info().Name, f.Name, format)
			}
			if p := f.Tag.Get("pattern"); p != "" {
				regexp.MustCompile(p)
			}
		}
	}
}

func TestPathsAndInputsAgree(t *testing.T) {
	variable := regexp.MustCompile(`\{([a-z_]+)\}`)
	for _, a := range All() {
		var want, got []string
		for _, m := range variable.FindAllStringSubmatch(a.Info().Path, -1) {
			want = append(want, m[1])
		}
		seen := map[string]bool{}
		for _, f := range Fields(a) {
			if f.In == InPath {
				got = append(got, f.Name)
			}
			if key := string(f.In) + f.Name; seen[key] {
				t.Errorf("%s: %s %s twice", a.Info().Name, f.In, f.Name)
			} else {
				seen[key] = true
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: path has %v, input %v", a.Info().Name, want, got)
		}
		if n := parameters(a.In()); n != len(seen)-len(bodyOf(a)) {
			t.Errorf("%s: %d parameters are declared, %d can be reached: one hides another", a.Info().Name, n, len(seen)-len(bodyOf(a)))
		}
	}
}

// parameters counts what is tagged as one, hidden or not.
func parameters(t reflect.Type) int {
	n := 0
	for i := range t.NumField() {
		sf := t.Field(i)
		switch {
		case sf.Tag.Get("path")+sf.Tag.Get("query")+sf.Tag.Get("header") != "":
			n++
		case sf.Anonymous:
			n += parameters(sf.Type)
		}
	}
	return n
}

func bodyOf(a Any) []Field {
	return slices.DeleteFunc(Fields(a), func(f Field) bool { return f.In != InBody })
}

// Secrets come out of few operations, and go in by bodies alone: URLs and
// headers reach logs.
func TestSecrets(t *testing.T) {
	var out, in []string
	for _, a := range All() {
		for _, f := range Fields(a) {
			if f.Secret && f.In != InBody {
				t.Errorf("%s: secret %s in the %s", a.Info().Name, f.Name, f.In)
			}
			if f.Secret {
				in = append(in, a.Info().Name+":"+f.Name)
			}
		}
		if a.Out() == nil {
			continue
		}
		for _, f := range jsonFields(a.Out(), "", map[reflect.Type]bool{}) {
			if holdsSecret(f.sf.Type) {
				out = append(out, a.Info().Name+":"+strings.TrimLeft(f.at, "."))
			}
		}
	}
	same(t, "secrets that go out", out, `
		registration.register:code registration.register:poll_token registration.status:key registration.acknowledge:key
		setup.drain:bundle 
		key.mint:secret session.open:token operator.totp:uri`)
	same(t, "secrets that come in", in, `
		registration.approve:code registration.root-password:hash
		session.open:password session.open:totp_code operator.add:password operator.password:password operator.totp:code
		metal.enroll:password`)
}
