package api

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type inner struct {
	Deep string `json:"deep"`
}

type everything struct {
	Ref string `path:"ref" doc:"which"`
	Change
	LongPoll
	Body struct {
		inner
		Name   string `json:"name" enum:"a,b"`
		Token  Secret `json:"token,omitempty"`
		Nested *struct {
			On *bool `json:"on,omitempty"`
		} `json:"nested,omitempty"`
		Items []inner             `json:"items"`
		Many  []Secret            `json:"many,omitempty"`
		Times map[string]Duration `json:"times,omitempty"`
		At    time.Time           `json:"at,omitzero"`
		Raw   json.RawMessage     `json:"raw"`
		Skip  string              `json:"-"`
	}
}

func TestFields(t *testing.T) {
	type row struct {
		in       Place
		name     string
		shape    Shape
		elem     Shape
		required bool
		secret   bool
	}
	want := []row{
		{InPath, "ref", String, "", true, false},
		{InQuery, "version", Uint, "", false, false},
		{InQuery, "reason", String, "", false, false},
		{InQuery, "dry_run", Bool, "", false, false},
		{InQuery, "wait", Length, "", false, false},
		{InHeader, "Idempotency-Key", String, "", false, false},
		{InBody, "deep", String, "", true, false},
		{InBody, "name", String, "", true, false},
		{InBody, "token", String, "", false, true},
		{InBody, "nested.on", Bool, "", false, false},
		{InBody, "items", List, Object, true, false},
		{InBody, "many", List, String, false, true},
		{InBody, "times", Map, Length, false, false},
		{InBody, "at", Instant, "", false, false},
		{InBody, "raw", Anything, "", true, false},
	}
	fields := Fields(Op[everything, Empty]{})
	if len(fields) != len(want) {
		t.Fatalf("%d fields, want %d", len(fields), len(want))
	}
	for i, f := range fields {
		if got := (row{f.In, f.Name, f.Shape, f.Elem, f.Required, f.Secret}); got != want[i] {
			t.Errorf("got %+v, want %+v", got, want[i])
		}
	}
	if f := fields[10]; len(f.Fields) != 1 || f.Fields[0].Name != "deep" {
		t.Errorf("the elements of a list: %+v", f.Fields)
	}
	if f := fields[0]; f.Doc != "which" {
		t.Errorf("doc %q", f.Doc)
	}
	if f := fields[7]; len(f.Enum) != 2 {
		t.Errorf("enum %q", f.Enum)
	}
}

// A command line sets a field by its index.
func TestFieldsCanBeSet(t *testing.T) {
	var in everything
	in.Body.Nested = &struct {
		On *bool `json:"on,omitempty"`
	}{}
	v := reflect.ValueOf(&in).Elem()
	for _, f := range Fields(Op[everything, Empty]{}) {
		at, err := v.FieldByIndexErr(f.Index)
		if err != nil || at.Type() != f.Type {
			t.Errorf("%s: %v at %v", f.Name, err, f.Index)
		}
	}
}

// Set allocates what lies on the way.
func TestFieldSet(t *testing.T) {
	var in everything
	for _, f := range Fields(Op[everything, Empty]{}) {
		if f.Name == "nested.on" {
			f.At(&in).Set(reflect.ValueOf(new(bool)))
		}
	}
	if in.Body.Nested == nil || in.Body.Nested.On == nil {
		t.Errorf("%+v", in.Body)
	}
}
