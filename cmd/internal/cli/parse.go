package cli

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// A reader sets values from text as people type it. Its errors say what is wanted
// and never what was given, which may be secret.
type reader struct{ now func() time.Time }

// set reads text into v, a field's value that is no list, map or struct.
func (r reader) set(v reflect.Value, text string) error {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return r.set(v.Elem(), text)
	}
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		t, err := r.instant(text)
		*p = t
		return err
	case encoding.TextUnmarshaler:
		if p.UnmarshalText([]byte(text)) != nil {
			return usage("want %s", nameOf(v))
		}
		return nil
	case json.Unmarshaler:
		return fromJSON(p, text)
	}
	return setKind(v, text)
}

func nameOf(v reflect.Value) string {
	if v.Type() == reflect.TypeFor[api.Duration]() {
		return "a length of time like 90s or 1h30m"
	}
	return "another form of " + strings.ToLower(v.Type().Name())
}

// fromJSON reads what has a JSON form of its own: a number, perhaps with a unit, or
// a word.
func fromJSON(p json.Unmarshaler, text string) error {
	raw, err := json.Marshal(text)
	if n, ok := size(text); ok {
		raw = strconv.AppendUint(nil, n, 10)
	}
	if err != nil || p.UnmarshalJSON(raw) != nil {
		return usage("want a size like 512MiB, or the word that the documentation has")
	}
	return nil
}

func setKind(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
		return nil
	case reflect.Bool:
		b, ok := boolean(text)
		v.SetBool(b)
		return orWant(ok, "true or false")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
		return orWant(err == nil, "a whole number")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, ok := size(text)
		ok = ok && !v.OverflowUint(n)
		v.SetUint(n)
		return orWant(ok, "a whole number, with a unit like MiB or GiB where it is a size")
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		v.SetFloat(f)
		return orWant(err == nil, "a number")
	}
	return usage("it can only be given in --file")
}

func orWant(ok bool, what string) error {
	if ok {
		return nil
	}
	return usage("want %s", what)
}

func boolean(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return false, false
}

// instant reads a time: RFC 3339, or a distance from now like +2h.
func (r reader) instant(text string) (time.Time, error) {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		d, err := time.ParseDuration(text)
		return r.now().Add(d), orWant(err == nil, "a time like 2026-05-01T12:00:00Z, or +2h")
	}
	t, err := time.Parse(time.RFC3339, text)
	return t, orWant(err == nil, "a time like 2026-05-01T12:00:00Z, or +2h")
}

// units are what a size may end in: decimal as disks are sold, binary as memory is.
var units = []struct {
	name  string
	bytes uint64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"PiB", 1 << 50},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"B", 1},
}

// size reads a whole number with or without a unit. A fraction is refused, since it
// may name no whole number of bytes.
func size(text string) (uint64, bool) {
	factor := uint64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			text, factor = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > 0 && n*factor/n != factor {
		return 0, false
	}
	return n * factor, true
}
