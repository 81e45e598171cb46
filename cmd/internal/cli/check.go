package cli

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ingotmetal/ingot/cmd/api"
)

// uuid is what format:"uuid" stands for.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// check holds a field's value to the bounds that the table has for it, so that what
// is malformed is told before any call (CLI-1). The value is one that was given.
func check(f api.Field, v reflect.Value) error {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return checkText(f, v.String())
	case reflect.Slice, reflect.Map:
		return checkMany(f, v)
	case reflect.Int, reflect.Int64:
		return checkNumber(f, float64(v.Int()))
	case reflect.Uint, reflect.Uint64:
		return checkNumber(f, float64(v.Uint()))
	}
	return nil
}

func checkText(f api.Field, text string) error {
	n := utf8.RuneCountInString(text)
	switch least, most := bound(f, "minLength"), bound(f, "maxLength"); {
	case f.Shape != api.String:
	case f.Tag.Get("format") == "uuid" && !uuid.MatchString(text):
		return usage("want a UUID like 6b1f2c3d-0001-4000-8000-000000000001")
	case least > 0 && float64(n) < least:
		return usage("want at least %v characters", least)
	case most > 0 && float64(n) > most:
		return usage("want at most %v characters", most)
	case len(f.Enum) > 0 && !slices.Contains(f.Enum, text):
		return usage("want one of %s", strings.Join(f.Enum, ", "))
	case !matches(f.Tag.Get("pattern"), text):
		return usage("want %s", want(f))
	}
	return nil
}

// matches reports whether text is in a pattern's language; one that does not
// compile here is left to the server.
func matches(pattern, text string) bool {
	re, err := regexp.Compile(pattern)
	return pattern == "" || err != nil || re.MatchString(text)
}

// want says in words what a pattern asks for, where there are words.
func want(f api.Field) string {
	switch f.Name {
	case "mac":
		return "a MAC address like 02:00:00:00:00:01"
	case "node_id", "node":
		return "a node's ID: node_ and 26 to 52 characters"
	}
	return "text in the form " + f.Tag.Get("pattern")
}

func checkNumber(f api.Field, n float64) error {
	if least := bound(f, "minimum"); f.Tag.Get("minimum") != "" && n < least {
		return usage("want %v or more", least)
	}
	if most := bound(f, "maximum"); f.Tag.Get("maximum") != "" && n > most {
		return usage("want %v or less", most)
	}
	return nil
}

// checkMany checks how many there are, and each that is an object.
func checkMany(f api.Field, v reflect.Value) error {
	most := bound(f, "maxItems") + bound(f, "maxProperties")
	if most > 0 && float64(v.Len()) > most {
		return usage("want at most %v of them", most)
	}
	if v.Kind() != reflect.Slice || f.Elem != api.Object {
		return nil
	}
	for i := range v.Len() {
		for _, inner := range f.Fields {
			at := inner.At(v.Index(i).Addr().Interface())
			if at.IsZero() {
				continue
			}
			if err := check(inner, at); err != nil {
				return usage("%s of number %d: %v", inner.Name, i+1, err)
			}
		}
	}
	return nil
}

// bound is a number of a field's tag, 0 where there is none.
func bound(f api.Field, name string) float64 {
	n, err := strconv.ParseFloat(f.Tag.Get(name), 64)
	if err != nil {
		return 0
	}
	return n
}

// lacks reports whether a field that must be given was not. A flag that is false, a
// number that may be 0 and a list that may be empty are given by being left out.
func lacks(f api.Field, v reflect.Value) bool {
	if !f.Required || !v.IsZero() {
		return false
	}
	switch f.Shape {
	case api.String, api.Anything:
		return true
	case api.Instant:
		return v.Type() == reflect.TypeFor[time.Time]()
	case api.Int, api.Uint:
		return bound(f, "minimum") > 0
	}
	return false
}
