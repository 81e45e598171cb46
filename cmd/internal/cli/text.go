package cli

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/disklayout"
)

// clean is text from elsewhere as a terminal may be shown it: what a machine says of
// itself is not to move the cursor, colour the screen or turn letters around.
func clean(text string) string {
	bad := func(r rune) bool {
		return unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
	}
	if !strings.ContainsFunc(text, bad) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !bad(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// page is clean for text of several lines.
func page(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// facts prints a value as lines of a name and what it is, in the order of its type.
// What is empty is left out.
func (a *app) facts(v reflect.Value) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	lines(w, v, "")
	_ = w.Flush()
	return a.print(trimmed(b.String()))
}

func lines(w *tabwriter.Writer, v reflect.Value, prefix string) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		name := jsonName(f)
		if f.Anonymous || name == "" || name == "-" || asPage(f) || len(f.Index) > 1 && !promoted(v.Type(), f) {
			continue
		}
		at, err := v.FieldByIndexErr(f.Index)
		if err == nil && !(at.IsZero() && strings.Contains(f.Tag.Get("json"), "omit")) {
			line(w, at, prefix+strings.ReplaceAll(name, "_", " "))
		}
	}
}

// asPage reports whether a field is shown as a page or not at all: a layout in every
// detail is for programs.
func asPage(f reflect.StructField) bool {
	return f.Type == reflect.TypeFor[*disklayout.Plan]() || jsonName(f) == "text"
}

// promoted reports whether a field comes from an embedded struct; VisibleFields
// yields those beside the struct's own.
func promoted(t reflect.Type, f reflect.StructField) bool { return t.Field(f.Index[0]).Anonymous }

func line(w *tabwriter.Writer, v reflect.Value, name string) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case v.Type() == reflect.TypeFor[time.Time](), v.Kind() != reflect.Struct && v.Kind() != reflect.Slice && v.Kind() != reflect.Map:
		fmt.Fprintf(w, "%s:\t%s\n", name, scalar(v))
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		fmt.Fprintf(w, "%s:\t%s\n", name, clean(string(v.Bytes())))
	case v.Kind() == reflect.Struct:
		lines(w, v, name+" ")
	case v.Kind() == reflect.Map:
		fmt.Fprintf(w, "%s:\t%s\n", name, pairs(v))
	case v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			fmt.Fprintf(w, "%s:\t%s\n", name, inline(v.Index(i)))
		}
	default:
		fmt.Fprintf(w, "%s:\t%s\n", name, joined(v))
	}
}

// scalar is one value in words.
func scalar(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Time:
		if x.IsZero() {
			return "-"
		}
		return x.UTC().Format(time.RFC3339)
	case api.Secret:
		return clean(x.Show()) // the server shows it to its owner, once
	case bool:
		if x {
			return "yes"
		}
		return "no"
	}
	if v.Kind() == reflect.Pointer {
		return "-"
	}
	return clean(fmt.Sprint(v.Interface()))
}

func joined(v reflect.Value) string {
	var parts []string
	for i := range v.Len() {
		parts = append(parts, scalar(v.Index(i)))
	}
	return strings.Join(parts, ", ")
}

func pairs(v reflect.Value) string {
	var parts []string
	for _, k := range v.MapKeys() {
		parts = append(parts, clean(k.String())+"="+scalar(v.MapIndex(k)))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// inline is a struct in one line.
func inline(v reflect.Value) string {
	var parts []string
	for _, f := range reflect.VisibleFields(v.Type()) {
		at, err := v.FieldByIndexErr(f.Index)
		if name := jsonName(f); err == nil && name != "" && !f.Anonymous && !at.IsZero() {
			parts = append(parts, strings.ReplaceAll(name, "_", " ")+" "+word(at))
		}
	}
	return strings.Join(parts, ", ")
}

func word(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() != reflect.TypeFor[time.Time]() {
			return "(" + inline(v) + ")"
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			return strconv.Itoa(v.Len())
		}
		return joined(v)
	case reflect.Map:
		return pairs(v)
	case reflect.Pointer:
		return word(v.Elem())
	}
	return scalar(v)
}
