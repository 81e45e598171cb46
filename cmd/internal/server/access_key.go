package server

import (
	"cmp"
	"context"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// The facts of API keys that operators mint have the names of all keys'.
const (
	keyMade    = lifecycle.KeyMade
	keyRevoked = lifecycle.KeyRevoked
)

func keyView(k operators.APIKey) api.KeyView {
	return api.KeyView{ID: k.Key.ID, Scope: string(k.Key.Scope), Node: k.Key.Node, Tenant: k.Tenant, Created: k.Key.Created, Consumed: k.Key.Consumed, Revoked: k.Key.Revoked}
}

// mayKey reports whether the caller sees a tenant's keys.
func (s *Server) mayKey(ctx context.Context, tenant string) bool {
	return !s.foreign(ctx) || caller(ctx).tenant == tenant
}

func (s *Server) keyList(ctx context.Context, in *api.KeyList) (api.Keys, error) {
	out := api.Keys{Keys: []api.KeyView{}}
	l := lister{prefix: rowKey, page: in.Page, valid: validName, shared: true}
	err := s.list(ctx, l, &out.NextCursor, func(r store.Reader, id string) (bool, error) {
		k, ok, err := apiKey(r, id)
		if err != nil || !ok {
			return false, err
		}
		if !s.mayKey(ctx, k.Tenant) || !in.Revoked && !k.Key.Revoked.IsZero() || in.Scope != "" && string(k.Key.Scope) != in.Scope || in.Node != "" {
			return false, nil
		}
		out.Keys = append(out.Keys, keyView(k))
		return true, nil
	})
	return out, err
}

// seenKey is a key that the caller may see.
func (s *Server) seenKey(ctx context.Context, r store.Reader, id string) (operators.APIKey, error) {
	k, ok, err := apiKey(r, id)
	if err == nil && (!ok || !s.mayKey(ctx, k.Tenant)) {
		err = absent("key", "ingot key list")
	}
	return k, err
}

func (s *Server) keyShow(ctx context.Context, in *api.KeyRef) (api.KeyView, error) {
	var out api.KeyView
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		k, err := s.seenKey(ctx, r, in.Key)
		out = keyView(k)
		return err
	})
	return out, err
}

func (s *Server) keyMint(ctx context.Context, in *api.MintKey) (api.KeyMinted, error) {
	who := caller(ctx)
	tenant := in.Body.Tenant
	if tenant == "" {
		tenant = who.tenant
	}
	if s.foreign(ctx) && tenant != who.tenant {
		return api.KeyMinted{}, refused("ACCESS_DENIED", "a key of another tenant is minted by the site's owner alone", "leave the tenant out")
	}
	secret, err := s.draw.Secret(keys.APIKey)
	if err != nil {
		return api.KeyMinted{}, err
	}
	c, err := s.call(ctx, api.KeyMint, in.Change, in)
	if err != nil {
		return api.KeyMinted{}, err
	}
	var made operators.APIKey
	done, err := s.record(ctx, c, func(tx store.Tx, now time.Time) (*journal.Fact, error) {
		if err := unversioned(in.Change, 0); err != nil {
			return nil, err
		}
		var err error
		made, err = operators.MintKey(secret, operators.KeyRequest{Scope: keys.Scope(in.Body.Scope), Tenant: tenant, Comment: in.Body.Comment}, cmp.Or(who.Caller.Operator, who.id), now)
		if err != nil {
			return nil, err
		}
		f := fact(keyMade, made.Key.ID, in.Reason)
		return &f, put(tx, rowKey+made.Key.ID, made)
	})
	if err != nil {
		return api.KeyMinted{}, err
	}
	out := api.KeyMinted{Outcome: outcome(in.Change, done), Key: keyView(made)}
	if done.Replayed {
		out.Key, err = s.keyShow(ctx, &api.KeyRef{Key: done.Facts[0].Subject})
		return out, err
	}
	if !in.DryRun {
		out.Secret = api.Secret(secret.Show())
	}
	return out, nil
}

func (s *Server) keyRevoke(ctx context.Context, in *api.RevokeKey) (api.KeyChanged, error) {
	c, err := s.call(ctx, api.KeyRevoke, in.Change, in)
	if err != nil {
		return api.KeyChanged{}, err
	}
	var k operators.APIKey
	done, err := s.record(ctx, c, func(tx store.Tx, now time.Time) (*journal.Fact, error) {
		var err error
		if k, err = s.seenKey(ctx, tx, in.Key); err != nil {
			return nil, err
		}
		if !k.Key.Revoked.IsZero() { // dead already
			return nil, unversioned(in.Change, 2)
		}
		if err := unversioned(in.Change, 1); err != nil {
			return nil, err
		}
		k = k.Revoke(now)
		f := fact(keyRevoked, k.Key.ID, in.Reason)
		return &f, put(tx, rowKey+in.Key, k)
	})
	if err == nil && done.Replayed {
		k, err = s.keyNow(ctx, in.Key)
	}
	if err != nil {
		return api.KeyChanged{}, err
	}
	return api.KeyChanged{Outcome: outcome(in.Change, done), Key: keyView(k)}, nil
}

func (s *Server) keyNow(ctx context.Context, id string) (k operators.APIKey, err error) {
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		k, err = s.seenKey(ctx, r, id)
		return err
	})
	return k, err
}

// whoami is the caller's own session or key, and what it may do.
func (s *Server) whoami(ctx context.Context, _ *api.Empty) (api.Whoami, error) {
	p := caller(ctx)
	out := api.Whoami{Actions: []string{}}
	for rule := range keys.Rules() {
		if p.Authorize(rule.Action, p.Caller.Node) == nil {
			out.Actions = append(out.Actions, string(rule.Action))
		}
	}
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		if p.Caller.Operator != "" {
			row, _, err := session(r, p.id)
			v := sessionView(row, p.id)
			out.Session = &v
			return err
		}
		k, ok, err := apiKey(r, p.id)
		v := keyView(k)
		if !ok {
			v = api.KeyView{ID: p.id, Scope: string(keys.Agent), Tenant: p.tenant, Node: s.nodeOf(r, p.server)}
		}
		out.Key = &v
		return err
	})
	return out, err
}

// nodeOf is the node of a server UUID.
func (s *Server) nodeOf(r store.Reader, server registration.ServerID) string {
	st, err := s.Door.Load(r, control.Target{Server: server})
	if err != nil {
		return ""
	}
	return string(st.Node.ID)
}
