package httpop

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ingotmetal/ingot/disklayout"
)

// schemas is the registry of a document. Types of other packages have names like
// some of ours, and so get their package's in front.
func schemas() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if strings.HasSuffix(t.PkgPath(), "/disklayout") && t.Name() != "" {
			return "Layout" + strings.TrimPrefix(name, "Layout")
		}
		return name
	})
	r.RegisterTypeAlias(reflect.TypeFor[disklayout.Size](), reflect.TypeFor[size]())
	return r
}

// size is a disklayout.Size as a schema: its Go kind does not show the word.
type size struct{}

// Schema is a number of bytes, or the word.
func (size) Schema(huma.Registry) *huma.Schema {
	least := 0.0
	return &huma.Schema{
		Description: "bytes, or rest: what the other partitions leave",
		OneOf: []*huma.Schema{
			{Type: huma.TypeInteger, Format: "int64", Minimum: &least},
			{Type: huma.TypeString, Enum: []any{"rest"}},
		},
	}
}
