// Package httpop serves the operations of cmd/api over HTTP.
//
// [Mount] binds a handler to every operation of a table, and fails where one has
// none. Each request passes the same gate: who asks (401), may it (403, 404), is
// it well formed (400); then the handler decides state (409) and meaning (400).
// So a caller who may not do a thing learns nothing from it.
//
// Errors are problems (RFC 9457) made of whatever has a Code of API-3; a value
// that a caller sent is never in one.
package httpop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ingotmetal/ingot/cmd/api"
)

// Path gives the variables of a request's path by name, as the caller wrote
// them: nothing has looked at them yet. It returns "" for a name that the
// operation's path does not have.
type Path func(name string) string

// Options say who may call, and how long things may take.
type Options struct {
	// Authenticate proves the caller by the operation's Auth and returns a
	// context that knows it. It must not read the body. Required.
	Authenticate func(context.Context, api.Def, *http.Request) (context.Context, error)
	// Authorize decides whether the caller may do the operation's Action on what
	// the path names; it may say NOT_FOUND for what the caller cannot see.
	// Required.
	Authorize func(context.Context, api.Def, Path) error

	Log         *slog.Logger     // of failures that are ours; nil drops them
	Now         func() time.Time // default time.Now
	BodyTimeout time.Duration    // to read a request's body in; default 15s
	Timeout     time.Duration    // of a handler, but for long polls and streams; default 30s
	Version     string           // of the server, for the OpenAPI document
}

func (o Options) withDefaults() (Options, error) {
	if o.Authenticate == nil || o.Authorize == nil {
		return o, errors.New("httpop: Options lacks Authenticate or Authorize: without them everybody could do everything")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BodyTimeout <= 0 {
		o.BodyTimeout = 15 * time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	return o, nil
}

// A Binding is an operation with its handler.
type Binding struct {
	op       api.Any
	register func(*server)
}

// Mount serves every operation of table on mux, each by its one binding, with
// the OpenAPI documents at /openapi.json (3.1) and /openapi-3.0.json. Whatever
// else is below /v1/ is a problem NOT_FOUND.
//
// Serve the mux through [Plain], and give "/" to [NotFound] where nothing else
// has it. On error the mux must not be used.
func Mount(mux *http.ServeMux, table []api.Any, opts Options, bindings ...Binding) error {
	opts, err := opts.withDefaults()
	if err != nil {
		return err
	}
	if err := matched(table, bindings); err != nil {
		return err
	}
	s := newServer(opts)
	for _, b := range bindings {
		if err := s.add(b); err != nil {
			return err
		}
	}
	s.serve(mux)
	return nil
}

// matched wants each operation bound once, and nothing else bound.
func matched(table []api.Any, bindings []Binding) error {
	bound := map[string]int{}
	for _, b := range bindings {
		bound[b.op.Info().Name]++
	}
	var errs []error
	for _, a := range table {
		name := a.Info().Name
		if n := bound[name]; n != 1 {
			errs = append(errs, fmt.Errorf("httpop: %s has %d handlers, want one", name, n))
		}
		delete(bound, name)
	}
	for name := range bound {
		errs = append(errs, fmt.Errorf("httpop: a handler for %s, which is no operation of the table", name))
	}
	return errors.Join(errs...)
}

// add registers one binding. Huma panics where a type cannot be described.
func (s *server) add(b Binding) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("httpop: %s cannot be served: %v", b.op.Info().Name, p)
		}
	}()
	s.describe(b.op)
	b.register(s)
	return nil
}

// Handle binds an operation that answers with one value. The handler's input is
// valid by its tags; whether it makes sense is the handler's to say. Whatever is
// in the error and has no Code stays with the log.
func Handle[I, O any](op api.Op[I, O], h func(context.Context, *I) (O, error)) Binding {
	type answer struct{ Body O }
	return Binding{op, func(s *server) {
		huma.Register(s.huma, s.operation(op), func(ctx context.Context, in *I) (*answer, error) {
			out, err := h(ctx, in)
			if err != nil {
				return nil, s.refuse(ctx, op.Def, err)
			}
			return &answer{whole(out)}, nil
		})
	}}
}

// HandleRaw binds an operation that streams. An error before the first write
// becomes a problem; after it the connection is cut, so that the caller does not
// take a part for the whole. The content type is set already.
func HandleRaw[I any](op api.Raw[I], h func(context.Context, *I, http.ResponseWriter) error) Binding {
	type answer struct{ Body func(huma.Context) }
	return Binding{op, func(s *server) {
		huma.Register(s.huma, s.operation(op), func(ctx context.Context, in *I) (*answer, error) {
			return &answer{func(c huma.Context) {
				w := c.(*exchange).w
				w.Header().Set("Content-Type", string(op.Stream))
				if err := h(ctx, in, w); err != nil {
					s.cut(ctx, w, op.Def, err)
				}
			}}, nil
		})
	}}
}
