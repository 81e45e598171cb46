package httpop

import (
	"reflect"
	"strings"
)

// whole gives every list that the schema promises: a nil slice would be null.
func whole[O any](out O) O {
	v := reflect.ValueOf(&out).Elem()
	fill(v)
	return out
}

// fill walks structs, and the elements of slices that are structs. Slices are
// the handler's, so what is in them is filled in place: a handler must not keep
// what it returned.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if v.Field(i).Kind() == reflect.Slice && v.Field(i).IsNil() && !strings.Contains(f.Tag.Get("json"), ",omit") && f.Type.Elem().Kind() != reflect.Uint8 {
				v.Field(i).Set(reflect.MakeSlice(f.Type, 0, 0))
				continue
			}
			fill(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				fill(v.Index(i))
			}
		}
	}
}
