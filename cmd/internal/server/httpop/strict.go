package httpop

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ingotmetal/ingot/cmd/api"
)

// maxDepth is how deep a body's arrays and objects may nest.
const maxDepth = 25

// strict wants one JSON value in UTF-8, not deep, without doubled keys, and with
// no key that t does not have, in the case that t has it in. It keeps no more
// than the keys of the objects that are open.
func strict(raw []byte, t reflect.Type) *api.Problem {
	if !utf8.Valid(raw) {
		return wrong("body", "UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	w := walk{dec: dec}
	if p := w.value(t, "body", 0); p != nil {
		return p
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return wrong("body", "nothing after the JSON value")
	}
	return nil
}

type walk struct{ dec *json.Decoder }

// value walks one value that should be a t; nil t is any. Where the kinds differ
// it goes on without a type: the schema says so better.
func (w walk) value(t reflect.Type, at string, depth int) *api.Problem {
	tok, err := w.dec.Token()
	if err != nil {
		return wrong(at, "valid JSON")
	}
	delim, ok := tok.(json.Delim)
	switch {
	case !ok:
		return nil
	case depth == maxDepth:
		return wrong("body", fmt.Sprintf("arrays and objects at most %d deep", maxDepth))
	case delim == '{':
		return w.object(structOf(t), at, depth+1)
	}
	return w.array(elem(t, reflect.Slice), at, depth+1)
}

func (w walk) array(t reflect.Type, at string, depth int) *api.Problem {
	for i := 0; w.dec.More(); i++ {
		if p := w.value(t, fmt.Sprintf("%s[%d]", at, i), depth); p != nil {
			return p
		}
	}
	return w.end(at)
}

func (w walk) object(t reflect.Type, at string, depth int) *api.Problem {
	names, seen := fieldsOf(t), map[string]bool{}
	for w.dec.More() {
		tok, err := w.dec.Token()
		key, ok := tok.(string)
		if err != nil || !ok {
			return wrong(at, "valid JSON")
		}
		below, known := names[key]
		switch {
		case seen[key]:
			return wrong(at, "each key once")
		case names != nil && !known:
			return wrong(at, "known fields alone: "+namesOf(names))
		case names == nil:
			below = elem(t, reflect.Map)
		}
		seen[key] = true
		if p := w.value(below, place(at, key, known), depth); p != nil {
			return p
		}
	}
	return w.end(at)
}

// place names a field; a map's key is the caller's, and is not told back.
func place(at, key string, known bool) string {
	if !known {
		key = "*"
	}
	return at + "." + key
}

func (w walk) end(at string) *api.Problem {
	if _, err := w.dec.Token(); err != nil {
		return wrong(at, "valid JSON")
	}
	return nil
}

func namesOf(names map[string]reflect.Type) string {
	all := make([]string, 0, len(names))
	for n := range names {
		all = append(all, n)
	}
	slices.Sort(all)
	return list(all)
}

// structOf is t where an object of it has fields or values that are known.
func structOf(t reflect.Type) reflect.Type {
	t = deref(t)
	if t == nil || t == reflect.TypeFor[json.RawMessage]() || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	return t
}

// elem is the type of the elements of t where it is a kind, else nil.
func elem(t reflect.Type, kind reflect.Kind) reflect.Type {
	if t = structOf(t); t == nil || t.Kind() != kind {
		return nil
	}
	return t.Elem()
}

func deref(t reflect.Type) reflect.Type {
	if t != nil && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// fieldsOf are the JSON fields of a struct, those it embeds included; nil for
// what is no struct.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	names := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous && f.IsExported() && name != "-" {
			names[name] = f.Type
		}
	}
	return names
}
