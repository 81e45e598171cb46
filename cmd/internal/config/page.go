package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Page is the reference of every field, as Markdown, made from the types.
func Page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("| field | kind | default | meaning |\n|---|---|---|---|\n")
	rows(&b, reflect.ValueOf(Default()), "")
	b.WriteString(pageTail)
	return b.String()
}

const pageHead = `# Configuration of ingotd

Made from the types in cmd/internal/config by its tests; do not edit.

The file is YAML. Every field may be left out. An unknown field, a field given
twice or a value of the wrong kind is an error, and all errors are reported at once,
each with its line. Anchors and aliases are not understood. No secret stands in the
file: a field names the file that holds it.

`

const pageTail = `
Durations are written as in Go (90s, 15m, 2160h), file modes in octal (0660). Paths
are absolute. See contrib/ingotd.yaml for an example.
`

func rows(b *strings.Builder, v reflect.Value, path string) {
	for f, value := range v.Fields() {
		at := join(path, fieldName(f))
		if kind(f.Type) == "" {
			fmt.Fprintf(b, "| **%s** | | | %s |\n", at, f.Tag.Get("doc"))
			rows(b, value, at)
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", at, kind(f.Type), shown(value), f.Tag.Get("doc"))
	}
}

// kind names what a field holds; "" is a struct with fields of its own.
func kind(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "duration"
	case reflect.TypeFor[Mode]():
		return "mode"
	}
	switch t.Kind() {
	case reflect.Struct:
		return ""
	case reflect.Slice:
		return "list"
	case reflect.Int:
		return "number"
	case reflect.Bool:
		return "true or false"
	default:
		return "string"
	}
}

// shown is a default as the file would say it.
func shown(v reflect.Value) string {
	if v.IsZero() {
		return ""
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return ""
	}
	return "`" + strings.ReplaceAll(strings.Trim(string(raw), `"`), `","`, `", "`) + "`"
}
