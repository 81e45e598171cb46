package bmcsim

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Quirk is what a BMC was publicly reported to do, as options that make it happen.
type Quirk struct {
	Name   string
	Source string // repository and number of the report
	Does   string
	Tree   string // one that it is about; "" where any shows it
	// What it sets. A field that is zero leaves what was there; rules are added.
	Options Options
	TLS     TLS
}

// On is a spec with the quirk.
func (q Quirk) On(s Spec) Spec {
	rules := slices.Concat(s.Options.Rules, q.Options.Rules)
	lay(reflect.ValueOf(&s.Options).Elem(), reflect.ValueOf(q.Options))
	lay(reflect.ValueOf(&s.TLS).Elem(), reflect.ValueOf(q.TLS))
	s.Options.Rules = rules
	return s
}

// lay writes the fields that are not zero.
func lay(to, from reflect.Value) {
	for i := range from.NumField() {
		switch f := from.Field(i); {
		case f.IsZero():
		case f.Kind() == reflect.Struct:
			lay(to.Field(i), f)
		default:
			to.Field(i).Set(f)
		}
	}
}

// With are the options with quirks. TLS is not among them: see [Quirk.On].
func (o Options) With(quirks ...Quirk) Options {
	s := Spec{Options: o}
	for _, q := range quirks {
		s = q.On(s)
	}
	return s.Options
}

// An UnknownQuirk says that none has this name.
type UnknownQuirk struct{ Name string }

// Error names those that there are.
func (e *UnknownQuirk) Error() string {
	var names []string
	for _, q := range Quirks() {
		names = append(names, q.Name)
	}
	return fmt.Sprintf("bmcsim: no quirk is named %q; known: %s", e.Name, strings.Join(names, ", "))
}

// Code is the error's wire name.
func (*UnknownQuirk) Code() string { return "NOT_FOUND" }

// FindQuirk is the quirk with a name. The error is an *[UnknownQuirk].
func FindQuirk(name string) (Quirk, error) {
	list := Quirks()
	i := slices.IndexFunc(list, func(q Quirk) bool { return q.Name == name })
	if i < 0 {
		return Quirk{}, &UnknownQuirk{name}
	}
	return list[i], nil
}

// Quirks are all quirks, by what they are about and then by name.
func Quirks() []Quirk {
	return slices.Concat(powerQuirks(), bootQuirkList(), mediaQuirks(), wireQuirks(), identityQuirks())
}
