package httpop

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ingotmetal/ingot/cmd/api"
)

// config is huma without what it would serve by itself: no pages, no schema
// links made of the Host header, no routes beside the table's.
func config(s *server) huma.Config {
	c := huma.DefaultConfig("ingot", s.opts.Version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.Transformers = []huma.Transformer{s.translate}
	c.RejectUnknownQueryParameters = true
	c.Components.Schemas = schemas()
	c.Formats = map[string]huma.Format{
		"application/json": huma.DefaultJSONFormat,
		problemType:        huma.DefaultJSONFormat,
	}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "An API key, a session's token or a poll token"},
	}
	c.Info.Description = "The life of bare-metal machines. Errors are problems (RFC 9457) with a code."
	return c
}

// operation is an operation as huma takes and documents it.
func (s *server) operation(a api.Any) huma.Operation {
	d := a.Info()
	op := huma.Operation{
		OperationID: d.Name, Method: d.Method, Path: d.Path, Summary: d.Summary,
		Tags:          []string{d.Axis()},
		DefaultStatus: http.StatusOK,
		MaxBodyBytes:  d.BodyLimit() + 1, // huma counts the limit itself as too much; the gate has judged
		Responses:     s.responses(d),
		Extensions: map[string]any{
			"x-action": string(d.Action), "x-auth": string(d.Auth), "x-destructive": d.Destructive,
			"x-mutates": d.Mutates, "x-codes": d.Codes(),
		},
	}
	if d.Auth == api.Key || d.Auth == api.Self || d.Auth == api.PollToken {
		op.Security = []map[string][]string{{"bearer": {}}}
	}
	return op
}

// responses documents every status that the operation answers with, and the
// codes behind it.
func (s *server) responses(d api.Def) map[string]*huma.Response {
	problem := s.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Problem](), true, "Problem")
	by := map[string][]string{"500": {"UNAVAILABLE"}}
	for _, code := range d.Codes() {
		status := strconv.Itoa(api.Status(code))
		by[status] = append(by[status], code)
	}
	out := map[string]*huma.Response{}
	for status, codes := range by {
		slices.Sort(codes)
		out[status] = &huma.Response{
			Description: strings.Join(codes, ", "),
			Content:     map[string]*huma.MediaType{problemType: {Schema: problem}},
		}
	}
	if d.Stream != api.JSON {
		out["200"] = &huma.Response{Description: "OK", Content: map[string]*huma.MediaType{
			string(d.Stream): {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}}
	}
	return out
}

// documents are the OpenAPI documents by path, each made when it is first asked for:
// a control plane that starts has better to do.
func (s *server) documents() map[string]http.Handler {
	s.tidy()
	return map[string]http.Handler{
		"/openapi.json":     s.document(func() ([]byte, error) { return json.Marshal(s.huma.OpenAPI()) }),
		"/openapi-3.0.json": s.document(s.huma.OpenAPI().Downgrade),
	}
}

// tidy drops huma's own error model, which is never served, makes lists what they
// are, never null, and lets objects have more fields: a client of today must read
// an answer of tomorrow. Unknown fields of requests are refused by strict.
func (s *server) tidy() {
	schemas := s.huma.OpenAPI().Components.Schemas.Map()
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
	for _, schema := range schemas {
		if schema.AdditionalProperties == false {
			schema.AdditionalProperties = nil
		}
		for _, property := range schema.Properties {
			if property.Type == huma.TypeArray {
				property.Nullable = false
			}
		}
	}
}

// document serves one.
func (s *server) document(make func() ([]byte, error)) http.Handler {
	made := sync.OnceValues(make)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			p := api.NewProblem("INVALID_INPUT", "the path does not have this method")
			p.Status = http.StatusMethodNotAllowed
			writeProblem(w, p)
			return
		}
		doc, err := made()
		if err != nil {
			s.opts.Log.Error("the OpenAPI document cannot be made", "error", err)
			writeProblem(w, Problem(err, s.opts.Now()))
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(doc)
	})
}
