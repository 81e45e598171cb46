package httpop

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ingotmetal/ingot/cmd/api"
)

// translate makes huma's own errors problems: its details echo the value, and
// its locations the keys, that the caller sent.
func (s *server) translate(c huma.Context, _ string, v any) (any, error) {
	switch v := v.(type) {
	case refusal:
		for name, values := range hintsOf(v.Problem) {
			c.SetHeader(name, values[0])
		}
		return v.Problem, nil
	case *huma.ErrorModel:
		p := api.NewProblem("INVALID_INPUT", "the request is not well formed")
		f := s.forms[c.Operation().OperationID]
		for _, e := range v.Errors {
			p.Fields = append(p.Fields, f.wrong(e))
		}
		slices.SortFunc(p.Fields, func(a, b api.Wrong) int { return strings.Compare(a.Field, b.Field) })
		return p, nil
	}
	return v, nil
}

func hintsOf(p *api.Problem) http.Header {
	h := http.Header{}
	hints(h, p)
	return h
}

// wrong keeps of a detail what is ours: known names, and words of the schema.
func (f *form) wrong(e *huma.ErrorDetail) api.Wrong {
	if !fromSchema(e) {
		return api.Wrong{Field: "body", Want: "values of the documented types"}
	}
	var at []string
	for word := range strings.SplitSeq(e.Location, ".") {
		name, index, _ := strings.Cut(word, "[")
		if _, err := strconv.Atoi(strings.TrimSuffix(index, "]")); err != nil {
			index = ""
		}
		if !f.words[name] {
			name = "*"
		}
		if index != "" {
			name += "[" + index
		}
		at = append(at, name)
	}
	where := strings.Join(at, ".")
	want, _, _ := strings.Cut(e.Message, ": ")
	if f.shapes[where] == api.Length {
		want = "a duration like 90s or 1h30m"
	}
	return api.Wrong{Field: where, Want: strings.TrimPrefix(want, "expected ")}
}

// fromSchema tells what a schema wants from the errors of decoders, which quote
// what they could not read.
func fromSchema(e *huma.ErrorDetail) bool {
	for _, begin := range []string{"expected ", "required ", "invalid "} {
		if e.Location != "" && strings.HasPrefix(e.Message, begin) {
			return true
		}
	}
	return false
}
