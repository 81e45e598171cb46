package httpop

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ingotmetal/ingot/cmd/api"
)

// server is what one Mount builds: routes by path and method.
type server struct {
	opts   Options
	huma   huma.API
	forms  map[string]*form             // by operation
	routes map[string]map[string]*route // by path and method
}

// route is one operation as huma serves it.
type route struct {
	def  api.Def
	form *form
	op   *huma.Operation
	run  func(huma.Context)
}

func newServer(opts Options) *server {
	s := &server{opts: opts, forms: map[string]*form{}, routes: map[string]map[string]*route{}}
	s.huma = huma.NewAPI(config(s), s)
	return s
}

// describe keeps what an operation's requests look like.
func (s *server) describe(a api.Any) { s.forms[a.Info().Name] = newForm(a) }

// Handle is called by huma for each operation that is registered.
func (s *server) Handle(op *huma.Operation, run func(huma.Context)) {
	f := s.forms[op.OperationID]
	if s.routes[op.Path] == nil {
		s.routes[op.Path] = map[string]*route{}
	}
	if s.routes[op.Path][op.Method] != nil {
		panic("two operations share " + op.Method + " " + op.Path)
	}
	s.routes[op.Path][op.Method] = &route{f.def, f, op, run}
}

// ServeHTTP completes huma.Adapter; requests come by the mux.
func (s *server) ServeHTTP(w http.ResponseWriter, _ *http.Request) { notFound(w) }

// serve puts every path on the mux. The method is judged here and not by the
// mux, whose answers would be plain text.
func (s *server) serve(mux *http.ServeMux) {
	for path, doc := range s.documents() {
		mux.Handle(path, doc)
	}
	for path, methods := range s.routes {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.dispatch(methods, w, r) })
	}
	mux.Handle("/v1", NotFound())
	mux.Handle("/v1/", NotFound())
}

// dispatch finds a path's operation by method. HEAD is GET without a body, but
// for streams, which have no end; OPTIONS lists the methods and no more: there
// is no answer for scripts of other origins.
func (s *server) dispatch(methods map[string]*route, w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if get := methods[http.MethodGet]; method == http.MethodHead && get != nil && get.def.Stream == api.JSON {
		method = http.MethodGet
	}
	if rt := methods[method]; rt != nil {
		s.pass(rt, w, r)
		return
	}
	w.Header().Set("Allow", allowed(methods))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	p := api.NewProblem("INVALID_INPUT", "the path does not have this method")
	p.Status, p.Next = http.StatusMethodNotAllowed, "use "+allowed(methods)
	writeProblem(w, p)
}

func allowed(methods map[string]*route) string {
	list := []string{http.MethodOptions}
	for m, rt := range methods {
		list = append(list, m)
		if m == http.MethodGet && rt.def.Stream == api.JSON {
			list = append(list, http.MethodHead)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func notFound(w http.ResponseWriter) {
	p := api.NewProblem("NOT_FOUND", "there is no such path")
	p.Next = "see /openapi.json"
	writeProblem(w, p)
}

// NotFound answers every request with a problem NOT_FOUND, for whoever has the
// rest of the mux.
func NotFound() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { notFound(w) })
}
