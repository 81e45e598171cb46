package bmcsim

import (
	"encoding/json"
	"maps"
)

// dig walks down objects; it is empty where there is none.
func dig(body map[string]any, names ...string) map[string]any {
	for _, n := range names {
		body, _ = body[n].(map[string]any)
	}
	return body
}

// text is a string member, or "".
func text(body map[string]any, name string) string {
	s, _ := body[name].(string)
	return s
}

// linkOf is where a reference leads, or "".
func linkOf(v any) string {
	m, _ := v.(map[string]any)
	return text(m, "@odata.id")
}

// linksOf are where a list of references leads.
func linksOf(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if l := linkOf(e); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// refer makes a reference.
func refer(path string) map[string]any { return map[string]any{"@odata.id": path} }

func references(paths []string) []any {
	out := make([]any, 0, len(paths))
	for _, p := range paths {
		out = append(out, refer(p))
	}
	return out
}

// strings of a list; nil where it is none.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// number is an integer member, and whether there is one.
func number(body map[string]any, name string) (int, bool) {
	n, ok := body[name].(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return int(i), err == nil
}

// deep copies a value with all that is in it.
func deep(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = deep(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = deep(e)
		}
		return out
	}
	return v
}

// own gives body a copy of its member name that may be changed, and returns it.
func own(body map[string]any, name string) map[string]any {
	m, _ := deep(dig(body, name)).(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	body[name] = m
	return m
}

// overlaid is base with what lies over it.
func overlaid(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, over)
	return out
}
