package config

import (
	"reflect"
	"strings"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// fieldName is the name of a field in the file.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// fieldTypes returns the fields of a struct by their names in the file.
func fieldTypes(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		out[fieldName(f)] = f.Type
	}
	return out
}

// fieldNames returns the names of a struct's fields in the order of the struct.
func fieldNames(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		out = append(out, fieldName(f))
	}
	return out
}

// unknown reports a field that t has not, and the one that was likely meant.
func (w *walker) unknown(key *goyaml.Node, t reflect.Type, path string) {
	if key.Kind != goyaml.ScalarNode {
		w.fault(key.Line, path, "the name of a field must be a word")
		return
	}
	what := "is no field here"
	if near := nearest(key.Value, fieldNames(t)); near != "" {
		what += "; did you mean " + join(path, near) + "?"
	} else if home := elsewhere(key.Value, w.of, ""); home != "" {
		what += "; there is " + home
	}
	w.faults = append(w.faults, &Invalid{File: w.file, Line: key.Line, Path: join(path, clip(key.Value)), What: what, Known: fieldNames(t)})
}

// clip keeps a name that nobody chose from filling a screen.
func clip(name string) string {
	const most = 64
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}

// elsewhere finds a field of this name in another part of the file.
func elsewhere(name string, t reflect.Type, path string) string {
	for f := range t.Fields() {
		at := join(path, fieldName(f))
		if fieldName(f) == name {
			return at
		}
		if f.Type.Kind() == reflect.Struct && f.Type.PkgPath() == t.PkgPath() {
			if home := elsewhere(name, f.Type, at); home != "" {
				return home
			}
		}
	}
	return ""
}

// nearest returns the name at most a third of its letters, or one, away from
// what was written; or one that it begins, such as dsn of dsn_file.
func nearest(name string, names []string) string {
	if len(name) > 40 {
		return ""
	}
	best, least := "", 1<<30
	for _, n := range names {
		d := distance(name, n)
		if strings.HasPrefix(n, name+"_") {
			d = 1
		}
		if d < least && d <= max(1, len(n)/3) {
			best, least = n, d
		}
	}
	return best
}

// distance is how many letters must be put in, taken out or changed to make b
// of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
