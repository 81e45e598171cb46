package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// authenticate proves who calls, by what the operation asks for.
func (s *Server) authenticate(ctx context.Context, d api.Def, req *http.Request) (context.Context, error) {
	if d.Auth == api.Anonymous {
		return ctx, nil
	}
	if d.Auth != api.PollToken && s.onHost(req.Context()) && req.Header.Get("Authorization") == "" {
		return withCaller(ctx, principal{host: true, tenant: s.Owner}), nil
	}
	if d.Auth == api.Host {
		return ctx, refused("ACCESS_DENIED", "this is done on the control plane's own host alone (ID-8)", "run it there, as root or as the user of ingotd")
	}
	secret, err := presented(req)
	if err != nil {
		return ctx, err
	}
	p, err := s.prove(ctx, d, secret)
	if err != nil {
		return ctx, err
	}
	p.again = func(r store.Reader) error { _, err := s.identify(r, d, secret); return err }
	if p.Caller.Operator != "" {
		s.touch(ctx, p.id)
	}
	return withCaller(ctx, p), nil
}

// onHost reports whether a call came from the control plane's own host.
func (s *Server) onHost(ctx context.Context) bool { return s.OnHost != nil && s.OnHost(ctx) }

// presented is the secret in the request's header.
func presented(req *http.Request) (keys.Secret, error) {
	text, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return keys.Secret{}, refused("UNAUTHENTICATED", "the call shows no key or session", "sign in, or send Authorization: Bearer with an API key")
	}
	return keys.ParseSecret(text)
}

// prove finds who a secret belongs to.
func (s *Server) prove(ctx context.Context, d api.Def, secret keys.Secret) (principal, error) {
	var p principal
	err := s.Door.Store().View(ctx, func(r store.Reader) (err error) {
		p, err = s.identify(r, d, secret)
		return err
	})
	return p, err
}

func (s *Server) identify(r store.Reader, d api.Def, secret keys.Secret) (principal, error) {
	switch {
	case d.Auth == api.PollToken:
		return s.proveAgent(r, secret, keys.PollToken, "poll/")
	case secret.Kind() == keys.SessionToken:
		return s.proveSession(r, secret)
	}
	return s.proveKey(r, secret)
}

// still reports, as an error, a caller who has been shut out since the call began:
// what waits or streams asks again each time that it looks.
func still(ctx context.Context, r store.Reader) error {
	if p := caller(ctx); p.again != nil {
		return p.again(r)
	}
	return nil
}

func unproven() error {
	return refused("UNAUTHENTICATED", "nobody has this key, token or session", "sign in anew, or have a new key minted")
}

func (s *Server) proveSession(r store.Reader, secret keys.Secret) (principal, error) {
	row, ok, err := session(r, secret.ID())
	if err != nil || !ok {
		return principal{}, orUnproven(err)
	}
	a, _, err := account(r, row.Operator)
	if err != nil {
		return principal{}, err
	}
	sess, err := row.Check(secret, a, s.Door.Now())
	if err != nil {
		return principal{}, err
	}
	who, err := sess.Caller(s.Door.Now())
	return principal{Caller: who, tenant: row.Tenant, id: row.ID, mfa: row.MFA}, err
}

func orUnproven(err error) error {
	if err == nil {
		err = unproven()
	}
	return err
}

// proveKey proves a key that an operator minted, or a machine's bound key.
func (s *Server) proveKey(r store.Reader, secret keys.Secret) (principal, error) {
	row, ok, err := apiKey(r, secret.ID())
	if err != nil {
		return principal{}, err
	}
	if !ok {
		return s.proveAgent(r, secret, keys.APIKey, "key/")
	}
	who, err := row.Check(secret)
	return principal{Caller: who, tenant: row.Tenant, id: row.Key.ID}, err
}

// proveAgent proves a machine by the index of its secrets. Ticket keys open nothing
// here.
func (s *Server) proveAgent(r store.Reader, secret keys.Secret, kind keys.Kind, index string) (principal, error) {
	if secret.Kind() != kind {
		return principal{}, unproven()
	}
	hash := registration.Hash(secret.Hash())
	st, err := s.Door.Load(r, control.Target{By: lifecycle.RowBy + index + digits(hash)})
	if err != nil {
		return principal{}, err
	}
	reg := &st.Node.Reg
	p := principal{tenant: s.Owner, server: reg.Server}
	switch {
	case kind == keys.PollToken && reg.Poll.Hash == hash && reg.Poll.Holds(s.Door.Now()):
		p.poll = hash
	case kind == keys.APIKey && reg.Bound.Hash == hash && reg.Bound.Scope == lifecycle.ScopeAgent:
		p.key, p.id = hash, reg.Bound.ID
		p.Caller = keys.Caller{Scope: keys.Agent, Node: reg.Server.Key().String()}
	default:
		return principal{}, unproven()
	}
	return p, nil
}

// authorize decides whether the caller may do the operation on what the path names.
// A refused mutation of a caller who is known is journaled (MACH-9).
func (s *Server) authorize(ctx context.Context, d api.Def, path httpop.Path) error {
	err := s.allowed(ctx, d, path)
	if err != nil && s.Denied != nil {
		s.Denied(string(d.Action))
	}
	if err != nil && d.Mutates && caller(ctx).id != "" {
		s.journal(ctx, d)
	}
	return err
}

func (s *Server) allowed(ctx context.Context, d api.Def, path httpop.Path) error {
	p := caller(ctx)
	switch {
	case d.Auth == api.Anonymous || d.Auth == api.PollToken:
		return nil
	case d.Auth == api.Host:
		if !p.host {
			return refused("ACCESS_DENIED", "this is done on the control plane's own host alone (ID-8)", "run it there, as root or as the user of ingotd")
		}
		return nil
	case d.Auth == api.Self:
		if p.host {
			return refused("UNAUTHENTICATED", "the host has no session of its own", "sign in")
		}
		return nil
	case p.host:
		return s.hostMay(d)
	}
	if err := p.Authorize(d.Action, ownNode(p, path)); err != nil {
		return err
	}
	if s.foreign(ctx) && !listed(d) {
		return absent("record", "ingot "+d.Axis()+" list")
	}
	return nil
}

// hostMay: who is on the host reads what an operator reads, and changes nothing but
// operators: every other change has a person's name in the log.
func (s *Server) hostMay(d api.Def) error {
	asOperator := keys.Caller{Operator: "host"}
	if !d.Mutates {
		return asOperator.Authorize(d.Action, "")
	}
	return refused("ACCESS_DENIED", "a change needs an operator's session or a key, so that the log has a name for it", "sign in as an operator")
}

// ownNode is the node that a call is on, as an agent's key names its own: by the
// UUID of its row.
func ownNode(p principal, path httpop.Path) string {
	if p.Scope != keys.Agent {
		return ""
	}
	server, err := registration.ParseServerID(path("server_id"))
	if err != nil {
		return "none"
	}
	return server.Key().String()
}

// foreign reports whether the caller is of another tenant than the site's owner.
func (s *Server) foreign(ctx context.Context) bool { return caller(ctx).tenant != s.Owner }

// listed: operations that another tenant may call, since they show it only what is
// its own.
func listed(d api.Def) bool {
	switch d.Name {
	case "node.list", "registration.list", "boot.list", "event.list", "event.stream", "key.list", "key.show", "key.mint", "key.revoke", "session.list", "operator.list", "operator.show":
		return true
	}
	return false
}

// journal tells the log of a refused mutation, as often as its limiter lets.
func (s *Server) journal(ctx context.Context, d api.Def) {
	ctx = context.WithoutCancel(ctx) // who hangs up is told of all the same
	who := caller(ctx).name()
	if s.denials.Take(who, s.Door.Now()) != nil {
		return
	}
	_, err := s.record(ctx, control.Call{Actor: who}, func(store.Tx, time.Time) (*journal.Fact, error) {
		f := fact("access.denied", who, d.Name)
		return &f, nil
	})
	if err != nil {
		s.Log.Warn("a refused call could not be journaled", "operation", d.Name, "error", err)
	}
}

// MayRead reports whether a request's caller may read the site: for what is served
// beside the operations.
func (s *Server) MayRead(req *http.Request) bool {
	d := api.Def{Auth: api.Key, Action: keys.SitesRead}
	ctx, err := s.authenticate(req.Context(), d, req)
	return err == nil && s.allowed(ctx, d, func(string) string { return "" }) == nil && !s.foreign(ctx)
}
