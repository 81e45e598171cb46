package config

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
)

// Page is the reference of every field of ingotd's file, as Markdown, made from the
// types.
func Page() string {
	return page("ingotd", "Every field may be left out.", "Durations are written as in Go (90s, 15m, 2160h), file modes in octal (0660). Paths\nare absolute.", Default())
}

// BooterPage is Page for booterd's file.
func BooterPage() string {
	return page("booterd", "What is not required may be left out.", "Paths are absolute.", DefaultBooter())
}

func page(program, may, forms string, def any) string {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, program, may)
	b.WriteString("| field | kind | default | meaning |\n|---|---|---|---|\n")
	rows(&b, reflect.ValueOf(def), "")
	fmt.Fprintf(&b, "\n%s See contrib/%s.yaml for an example.\n", forms, program)
	return b.String()
}

const pageHead = `# Configuration of %s

Made from the types in cmd/internal/config by its tests; do not edit.

The file is YAML. %s An unknown field, a field given
twice or a value of the wrong kind is an error, and all errors are reported at once,
each with its line. Anchors and aliases are not understood. No secret stands in the
file: a field names the file that holds it.

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
	case reflect.TypeFor[netip.Addr]():
		return "address"
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
