// Package api is the control plane's operations: one table of declarations, the
// types that go in and out, and a client to call them with.
//
// There are no handlers here, so that a program that only calls does not link
// the daemon. The server, its OpenAPI document, the authorization matrix and the
// command line are made from the same table ([All]).
//
// Every declaration is a value with a method to call it:
//
//	out, err := api.RegistrationShow.Call(ctx, client, &api.RegistrationRef{Server: id})
//
// An error of the server's is a [*Problem]: a code of API-3 and what to do next.
package api

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ingotmetal/ingot/identity/keys"
)

// Auth says how the caller of an operation proves who it is.
type Auth string

// The proofs. Anonymous must be said: the zero Auth is refused by the table's
// tests.
const (
	Anonymous Auth = "anonymous"  // nothing is asked
	PollToken Auth = "poll-token" // of the registration that the call is about (REG-6)
	Key       Auth = "key"        // an API key or an operator's session; identity/keys decides by Action
	Host      Auth = "host"       // the control plane's own host, by its local socket (ID-8)
	Self      Auth = "self"       // any session or key, about itself
)

// Stream says what an operation answers with.
type Stream string

// The kinds of answer. The zero Stream is one JSON value.
const (
	JSON   Stream = ""
	Events Stream = "text/event-stream"
	Bytes  Stream = "application/octet-stream"
)

// Limits of requests, in bytes. REG-9 allows 256 KiB of sysinfo; as part of a
// JSON body it may be twice that.
const (
	MaxBody        = 64 << 10
	MaxSysinfoBody = 512 << 10
)

// Def is what every operation says about itself.
type Def struct {
	Name    string // "registration.approve-setup": axis and verb
	Method  string
	Path    string // with variables in braces, one a segment
	Summary string // one sentence for people
	Action  keys.Action
	Auth    Auth
	// Mutates says that it changes what the store keeps. One that a person calls
	// embeds Change and Outcome.
	Mutates bool
	// Destructive says that it ends something that cannot be had back by calling
	// another: command lines ask for a yes.
	Destructive bool
	Waits       bool // a long poll: it may answer as late as its input "wait" says
	Stream      Stream
	Limit       int64    // of the request's body in bytes; 0 is MaxBody
	Errors      []string // codes beside those that Codes adds by itself
}

// Axis is the part of the name before the dot.
func (d Def) Axis() string { axis, _, _ := strings.Cut(d.Name, "."); return axis }

// Verb is the part of the name after the dot.
func (d Def) Verb() string { _, verb, _ := strings.Cut(d.Name, "."); return verb }

// BodyLimit is the most bytes that a request's body may have.
func (d Def) BodyLimit() int64 {
	if d.Limit > 0 {
		return d.Limit
	}
	return MaxBody
}

// Codes are the codes of API-3 that the operation may answer with, sorted: those
// of its Errors and those that follow from what it is.
func (d Def) Codes() []string {
	codes := append([]string{"INVALID_INPUT", "UNAVAILABLE"}, d.Errors...)
	if d.Auth != Anonymous {
		codes = append(codes, "UNAUTHENTICATED", "ACCESS_DENIED")
	}
	if strings.Contains(d.Path, "{") {
		codes = append(codes, "NOT_FOUND")
	}
	if d.Mutates {
		codes = append(codes, "CONFLICT", "INVALID_STATE")
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Any is an operation without its types.
type Any interface {
	Info() Def
	In() reflect.Type  // a struct
	Out() reflect.Type // nil for a stream
}

// Op is an operation that answers with one JSON value.
type Op[I, O any] struct{ Def }

// Info is the operation's declaration.
func (o Op[I, O]) Info() Def { return o.Def }

// In is the type of its input.
func (Op[I, O]) In() reflect.Type { return reflect.TypeFor[I]() }

// Out is the type of its output.
func (Op[I, O]) Out() reflect.Type { return reflect.TypeFor[O]() }

// Raw is an operation that answers with a stream.
type Raw[I any] struct{ Def }

// Info is the operation's declaration.
func (o Raw[I]) Info() Def { return o.Def }

// In is the type of its input.
func (Raw[I]) In() reflect.Type { return reflect.TypeFor[I]() }

// Out is nil: there is no one value.
func (Raw[I]) Out() reflect.Type { return nil }
