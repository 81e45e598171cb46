package config

import (
	"encoding"
	"errors"
	"net/netip"
	"reflect"
	"strconv"
	"strings"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// A walker holds a tree of YAML against the types of a configuration and collects every
// fault with its line.
type walker struct {
	file   string
	of     reflect.Type   // of the whole file
	lines  map[string]int // of each field that the file has, by path
	faults []*Invalid
}

func (w *walker) fault(line int, path, what string) {
	w.faults = append(w.faults, &Invalid{File: w.file, Line: line, Path: path, What: what})
}

// line is where the file says path, or the nearest field around it.
func (w *walker) line(path string) int {
	for ; path != ""; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		if n, ok := w.lines[path]; ok {
			return n
		}
	}
	return 0
}

func (w *walker) joined() error {
	errs := make([]error, len(w.faults))
	for i, e := range w.faults {
		errs[i] = e
	}
	return errors.Join(errs...)
}

// root walks the whole file. A file of comments alone is an empty one.
func (w *walker) root(n *goyaml.Node) any {
	if v := w.value(n, w.of, ""); v != nil {
		return v
	}
	return map[string]any{}
}

// value returns n in the shape of JSON, or nil where it is null or wrong.
func (w *walker) value(n *goyaml.Node, t reflect.Type, path string) any {
	if path != "" {
		w.lines[path] = n.Line
	}
	switch {
	case n.Kind == goyaml.AliasNode || n.Anchor != "":
		w.fault(n.Line, path, "anchors and aliases are not understood; write the value out")
		return nil
	case n.ShortTag() == "!!null":
		return nil
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return w.text(n, t, path)
	}
	switch t.Kind() {
	case reflect.Struct:
		return w.fields(n, t, path)
	case reflect.Slice:
		return w.list(n, t, path)
	default:
		return w.scalar(n, t, path)
	}
}

// text is a value whose type reads it from text; quotes around it do not matter.
func (w *walker) text(n *goyaml.Node, t reflect.Type, path string) any {
	into := reflect.New(t).Interface().(encoding.TextUnmarshaler)
	if n.Kind != goyaml.ScalarNode || into.UnmarshalText([]byte(n.Value)) != nil {
		w.fault(n.Line, path, "want "+wanted(t))
		return nil
	}
	return n.Value
}

func (w *walker) scalar(n *goyaml.Node, t reflect.Type, path string) any {
	switch t.Kind() {
	case reflect.String:
		if n.Kind == goyaml.ScalarNode && n.ShortTag() == "!!str" {
			return n.Value
		}
	case reflect.Bool:
		var v bool
		if n.ShortTag() == "!!bool" && n.Decode(&v) == nil {
			return v
		}
	case reflect.Int:
		var v int
		if n.ShortTag() == "!!int" && n.Decode(&v) == nil {
			return v
		}
	}
	w.fault(n.Line, path, "want "+wanted(t))
	return nil
}

func (w *walker) list(n *goyaml.Node, t reflect.Type, path string) any {
	if n.Kind != goyaml.SequenceNode {
		w.fault(n.Line, path, "want a list: a hyphen before each item, or [a, b]")
		return nil
	}
	out := make([]any, 0, len(n.Content))
	for i, item := range n.Content {
		at := path + "[" + strconv.Itoa(i) + "]"
		v := w.value(item, t.Elem(), at)
		if v == nil && item.ShortTag() == "!!null" {
			w.fault(item.Line, at, "want "+wanted(t.Elem())+", not nothing")
		}
		out = append(out, v)
	}
	return out
}

func (w *walker) fields(n *goyaml.Node, t reflect.Type, path string) any {
	if n.Kind != goyaml.MappingNode {
		w.fault(n.Line, path, "want fields, each as name: value")
		return nil
	}
	types := fieldTypes(t)
	out := map[string]any{}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		at := join(path, key.Value)
		first, twice := seen[key.Value]
		ft, known := types[key.Value]
		switch {
		case twice:
			w.fault(key.Line, at, "is given twice, first on line "+strconv.Itoa(first))
			continue
		case !known || key.Kind != goyaml.ScalarNode:
			w.unknown(key, t, path)
		default:
			if v := w.value(val, ft, at); v != nil {
				out[key.Value] = v
			}
		}
		seen[key.Value] = key.Line
	}
	return out
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// wanted says in words what a type reads.
func wanted(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "a duration such as 90s, 15m or 2160h"
	case reflect.TypeFor[Mode]():
		return "a file mode in octal such as 0660"
	case reflect.TypeFor[netip.Prefix]():
		return "an address prefix such as 10.0.0.0/8"
	case reflect.TypeFor[netip.Addr]():
		return "an address such as 192.0.2.2"
	case reflect.TypeFor[Through]():
		return "a network or domain and a booter, such as 10.9.0.0/16=rack-7-a or .bmc.example.net=rack-7-a"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	default:
		return "a string; put quotes around it if it reads as something else"
	}
}
