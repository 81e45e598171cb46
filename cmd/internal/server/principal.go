package server

import (
	"context"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// principal is who calls, once proven.
type principal struct {
	keys.Caller
	tenant string
	id     string                // of the key or session
	mfa    bool                  // a second factor was shown
	server registration.ServerID // whose agent or poll token it is
	poll   registration.Hash     // of a poll token
	key    registration.Hash     // of an agent's key
	host   bool                  // by the local socket

	again func(store.Reader) error // proves it anew
}

type principalKey struct{}

func withCaller(ctx context.Context, p principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// caller is who calls; the zero principal is nobody.
func caller(ctx context.Context) principal {
	p, _ := ctx.Value(principalKey{}).(principal)
	return p
}

// name is the caller in the log.
func (p principal) name() string {
	switch {
	case p.Caller.Operator != "":
		return "operator:" + p.Caller.Operator
	case p.id != "":
		return "key:" + p.id
	case p.host:
		return "host"
	case p.server != registration.ServerID{}:
		return "agent:" + p.server.Key().String()
	}
	return "anonymous"
}

// operator reports whether it is an operator's session, not opened with a key.
func (p principal) operator() bool { return p.Caller.Operator != "" && p.Scope == "" }
