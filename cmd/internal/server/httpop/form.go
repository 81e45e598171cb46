package httpop

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ingotmetal/ingot/cmd/api"
)

// form is what an operation's requests may look like.
type form struct {
	def     api.Def
	params  []string             // known query parameters, sorted
	header  []string             // known headers, in canonical form
	payload reflect.Type         // of the body; nil: none
	words   map[string]bool      // names that may be told back to the caller
	shapes  map[string]api.Shape // by place and name
}

func newForm(a api.Any) *form {
	f := &form{def: a.Info(), words: map[string]bool{}, shapes: map[string]api.Shape{}}
	for _, field := range api.Fields(a) {
		f.shapes[string(field.In)+"."+field.Name] = field.Shape
		f.know(field)
		switch field.In {
		case api.InQuery:
			f.params = append(f.params, field.Name)
		case api.InHeader:
			f.header = append(f.header, http.CanonicalHeaderKey(field.Name))
		}
	}
	slices.Sort(f.params)
	if body, ok := a.In().FieldByName("Body"); ok {
		f.payload = body.Type
	}
	return f
}

func (f *form) know(field api.Field) {
	f.words[string(field.In)] = true
	for word := range strings.SplitSeq(field.Name, ".") {
		f.words[word] = true
	}
	for _, sub := range field.Fields {
		f.know(sub)
	}
}

// wrong is a problem with one input.
func wrong(field, want string) *api.Problem {
	p := api.NewProblem("INVALID_INPUT", "the request is not well formed")
	p.Fields = []api.Wrong{{Field: field, Want: want}}
	return p
}

// query wants known parameters, each once and with a value. A misspelt one could
// be the version that guards the change.
func (f *form) query(raw string) *api.Problem {
	values, err := url.ParseQuery(raw)
	if err != nil || !utf8.ValidString(raw) {
		return wrong("query", "pairs of name and value, percent-encoded")
	}
	for name, given := range values {
		switch {
		case !slices.Contains(f.params, name):
			return wrong("query", "known parameters alone: "+list(f.params))
		case len(given) != 1:
			return wrong("query."+name, "once")
		case given[0] == "":
			return wrong("query."+name, "a value; leave it out for none")
		case !utf8.ValidString(given[0]):
			return wrong("query."+name, "UTF-8")
		}
	}
	return nil
}

func list(names []string) string {
	if len(names) == 0 {
		return "it takes none"
	}
	return strings.Join(names, ", ")
}

// headers wants each header that the operation reads at most once.
func (f *form) headers(h http.Header) *api.Problem {
	for _, name := range f.header {
		if given := h.Values(name); len(given) > 1 || len(given) == 1 && given[0] == "" {
			return wrong("header."+name, "one value")
		}
	}
	return nil
}

// body reads the body within its bounds and checks its form. What it means is
// checked against the schema afterwards.
func (f *form) body(r *http.Request) ([]byte, *api.Problem) {
	limit := f.def.BodyLimit()
	raw, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil, unread(err)
	case int64(len(raw)) > limit:
		return nil, wrong("body", fmt.Sprintf("at most %d bytes", limit))
	case f.payload == nil && len(raw) > 0:
		return nil, wrong("body", "none")
	case f.payload == nil:
		return nil, nil
	case len(raw) == 0:
		return nil, wrong("body", "a JSON value")
	}
	if p := media(r.Header); p != nil {
		return nil, p
	}
	return raw, strict(raw, f.payload)
}

func unread(err error) *api.Problem {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return wrong("body", "fewer bytes")
	}
	return wrong("body", "all of it, in time")
}

// media wants JSON as it is: no other type, encoding or character set.
func media(h http.Header) *api.Problem {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, ok := params["charset"]
	switch {
	case err != nil || kind != "application/json" || len(h.Values("Content-Type")) != 1:
		return wrong("header.Content-Type", "application/json")
	case ok && !strings.EqualFold(charset, "utf-8"):
		return wrong("header.Content-Type", "UTF-8")
	case h.Get("Content-Encoding") != "":
		return wrong("header.Content-Encoding", "none")
	}
	return nil
}
