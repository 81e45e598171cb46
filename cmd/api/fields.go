package api

import (
	"encoding"
	"encoding/json"
	"iter"
	"reflect"
	"strings"
	"time"
)

// Place says where in a request a field stands.
type Place string

// The places.
const (
	InPath   Place = "path"
	InQuery  Place = "query"
	InHeader Place = "header"
	InBody   Place = "body"
)

// Shape says what a field holds.
type Shape string

// The shapes. Text that parses itself, such as an address, is a String.
const (
	String   Shape = "string"
	Bool     Shape = "bool"
	Int      Shape = "int"
	Uint     Shape = "uint"
	Float    Shape = "float"
	Length   Shape = "duration"
	Instant  Shape = "time"
	List     Shape = "list"   // of Elem
	Map      Shape = "map"    // from strings to Elem
	Object   Shape = "object" // of Fields; only as an Elem, elsewhere its fields are listed instead
	Anything Shape = "json"   // any JSON value
)

// A Field is one input of an operation as a person types it. A struct in the
// body is no field; its own fields are, with dotted names.
type Field struct {
	In       Place
	Name     string // on the wire; in the body with dots: layout.redundancy
	Doc      string
	Shape    Shape
	Elem     Shape   // of a list or map
	Fields   []Field // of an Elem that is an Object
	Enum     []string
	Required bool
	Secret   bool  // read it from a file or a pipe, never from arguments
	Pointer  bool  // nil, which is not given, differs from zero
	Index    []int // of the field in the input, through embedded structs and pointers

	Type reflect.Type
	Tag  reflect.StructTag // with the bounds: minLength, maximum, pattern ...
}

// Fields lists an operation's inputs: path, query, header and body, each in the
// order of their declaration.
func Fields(a Any) []Field {
	var by [4][]Field
	places := []Place{InPath, InQuery, InHeader, InBody}
	for f := range inputs(a.In()) {
		for i, p := range places {
			if f.In == p {
				by[i] = append(by[i], f)
			}
		}
	}
	return append(append(append(by[0], by[1]...), by[2]...), by[3]...)
}

// inputs yields the fields of an input type.
func inputs(t reflect.Type) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for _, sf := range reflect.VisibleFields(t) {
			if sf.Name == "Body" && len(sf.Index) == 1 {
				for _, f := range bodyFields(sf.Type, sf.Index, "") {
					if !yield(f) {
						return
					}
				}
				continue
			}
			if f, ok := parameter(sf); ok && !yield(f) {
				return
			}
		}
	}
}

// parameter reads a field that stands outside the body.
func parameter(sf reflect.StructField) (Field, bool) {
	for _, p := range []Place{InPath, InQuery, InHeader} {
		if name, ok := sf.Tag.Lookup(string(p)); ok {
			f := describe(sf)
			f.In, f.Name, f.Index = p, name, sf.Index
			f.Required = p == InPath || sf.Tag.Get("required") == "true"
			return f, true
		}
	}
	return Field{}, false
}

// bodyFields lists the fields of a struct of the body. A body that is no struct
// is one field without a name.
func bodyFields(t reflect.Type, index []int, prefix string) []Field {
	if base(t).Kind() != reflect.Struct {
		return []Field{{In: InBody, Shape: shape(t), Type: t, Index: index, Required: true}}
	}
	var out []Field
	for i := range base(t).NumField() {
		sf := base(t).Field(i)
		at := append(append([]int{}, index...), i)
		name, omit := jsonName(sf)
		switch {
		case sf.Anonymous:
			out = append(out, bodyFields(sf.Type, at, prefix)...)
		case !sf.IsExported() || name == "-":
		case shape(sf.Type) == Object:
			out = append(out, bodyFields(sf.Type, at, prefix+name+".")...)
		default:
			f := describe(sf)
			f.In, f.Name, f.Index = InBody, prefix+name, at
			f.Required = !omit && !f.Pointer
			out = append(out, f)
		}
	}
	return out
}

// describe reads what a field is, wherever it stands.
func describe(sf reflect.StructField) Field {
	f := Field{Doc: sf.Tag.Get("doc"), Shape: shape(sf.Type), Type: sf.Type, Tag: sf.Tag}
	f.Pointer = sf.Type.Kind() == reflect.Pointer
	f.Secret = holdsSecret(sf.Type)
	if e := sf.Tag.Get("enum"); e != "" {
		f.Enum = strings.Split(e, ",")
	}
	if f.Shape == List || f.Shape == Map {
		f.Elem = shape(base(sf.Type).Elem())
		if f.Elem == Object {
			f.Fields = bodyFields(base(sf.Type).Elem(), nil, "")
		}
	}
	return f
}

func holdsSecret(t reflect.Type) bool {
	switch t = base(t); t.Kind() {
	case reflect.Slice, reflect.Map:
		return holdsSecret(t.Elem())
	}
	return t == reflect.TypeFor[Secret]()
}

// jsonName returns a field's name in JSON and whether it may be left out.
func jsonName(sf reflect.StructField) (name string, optional bool) {
	name, rest, _ := strings.Cut(sf.Tag.Get("json"), ",")
	return name, strings.Contains(rest, "omit")
}

func base(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func shape(t reflect.Type) Shape {
	switch t = base(t); t {
	case reflect.TypeFor[time.Time]():
		return Instant
	case reflect.TypeFor[Duration]():
		return Length
	case reflect.TypeFor[json.RawMessage]():
		return Anything
	}
	switch p := reflect.PointerTo(t); {
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return String
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return Anything
	}
	return shapeOfKind(t.Kind())
}

func shapeOfKind(k reflect.Kind) Shape {
	switch k {
	case reflect.String:
		return String
	case reflect.Bool:
		return Bool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Int
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Uint
	case reflect.Float32, reflect.Float64:
		return Float
	case reflect.Slice, reflect.Array:
		return List
	case reflect.Map:
		return Map
	case reflect.Struct:
		return Object
	}
	return Anything
}

// At is the field in in, a pointer to the operation's input, ready to be set:
// pointers on the way are made.
func (f Field) At(in any) reflect.Value {
	v := reflect.ValueOf(in).Elem()
	for _, i := range f.Index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}
