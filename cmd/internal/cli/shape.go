package cli

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
)

// answerShape is what an operation answers with, as far as printing must know.
type answerShape struct {
	list string       // JSON name of the list, where the answer is one
	item reflect.Type // of its elements, or of the one thing that is answered
	id   string       // JSON path in the answer, or in an element, of the thing's name
}

// ids are the JSON names by which things are called.
var ids = map[reflect.Type]string{
	reflect.TypeFor[api.Registration](): "server_id",
	reflect.TypeFor[api.BootRecord]():   "mac",
	reflect.TypeFor[api.Sighting]():     "mac",
	reflect.TypeFor[api.Node]():         "id",
	reflect.TypeFor[api.KeyView]():      "id",
	reflect.TypeFor[api.SessionView]():  "id",
	reflect.TypeFor[api.OperatorView](): "name",
	reflect.TypeFor[api.Event]():        "cursor",
	reflect.TypeFor[api.Window]():       "kind",
	reflect.TypeFor[api.PowerCommand](): "id",
	reflect.TypeFor[api.MediaSlot]():    "id",
}

// shapeOf finds what an operation answers with.
func shapeOf(op api.Any) answerShape {
	out := op.Out()
	if out == nil {
		return answerShape{}
	}
	if id, ok := ids[out]; ok {
		return answerShape{item: out, id: id}
	}
	isList := isList(op.Info())
	for _, f := range reflect.VisibleFields(out) {
		name := jsonName(f)
		switch {
		case f.Anonymous || name == "":
		case isList && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			return answerShape{list: name, item: f.Type.Elem(), id: ids[f.Type.Elem()]}
		case !isList && ids[f.Type] != "" && len(f.Index) == 1:
			return answerShape{item: f.Type, id: name + "." + ids[f.Type]}
		}
	}
	return answerShape{item: out}
}

func isList(d api.Def) bool {
	return slices.Contains([]string{"list", "discovered", "commands", "media"}, d.Verb())
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// pick follows a dotted path through what JSON was decoded into; nil where it ends
// early.
func pick(from any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		m, ok := from.(map[string]any)
		if !ok {
			return nil
		}
		from = m[name]
	}
	return from
}

// known reports whether a type has a JSON path.
func known(t reflect.Type, path string) bool {
	for name := range strings.SplitSeq(path, ".") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return false
		}
		i := slices.IndexFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return jsonName(f) == name })
		if i < 0 {
			return false
		}
		t = reflect.VisibleFields(t)[i].Type
	}
	return t != reflect.TypeFor[time.Location]()
}
