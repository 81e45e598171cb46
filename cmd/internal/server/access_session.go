package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// The facts of operators and their sessions.
const (
	operatorSignedIn  = "operator.signed-in"
	operatorSignedOut = "operator.signed-out"
)

// signInsLedger is the tries of sign-ins.
const signInsLedger = store.LedgerPrefix + "sign-ins"

func sessionView(row operators.Session, own string) api.SessionView {
	return api.SessionView{ID: row.ID, Operator: row.Operator, MFA: row.MFA, Started: row.Created, Ends: row.Ends, OpenedWith: string(row.OpenedWith), Current: row.ID == own}
}

// tries rewrites the ledger of sign-ins in a commit of its own.
func (s *Server) tries(ctx context.Context, fn func(operators.Ledger, time.Time) (operators.Ledger, error)) error {
	now := s.Door.Now()
	_, err := s.Door.Store().Update(ctx, func(tx store.Tx) error {
		var l operators.Ledger
		if raw, ok := tx.Get(signInsLedger); ok {
			_ = json.Unmarshal(raw, &l) // what cannot be read counts for nothing
		}
		l, err := fn(l, now)
		if err != nil {
			return err
		}
		return put(tx, signInsLedger, l)
	})
	return err
}

// from is the source of a call, for limits.
func (s *Server) from(ctx context.Context) netip.Addr {
	if s.Source == nil {
		return netip.Addr{}
	}
	return s.Source(ctx)
}

// signIn checks a password, which takes long, outside of any transaction. The try
// is counted first, and given back where it proved somebody or nothing was checked.
func (s *Server) signIn(ctx context.Context, try operators.Attempt) (operators.Proof, error) {
	from, local := s.from(ctx), s.onHost(ctx)
	var err error
	if !local { // a flood from outside locks out nobody who is on the host
		err = s.tries(ctx, func(l operators.Ledger, now time.Time) (operators.Ledger, error) {
			return s.SignIns.Take(l, try.Name, from, now)
		})
	}
	if err != nil {
		return operators.Proof{}, err
	}
	var a operators.Account
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		a, _, err = account(r, try.Name)
		return err
	})
	if err != nil {
		return operators.Proof{}, err
	}
	p, err := operators.Door{Hasher: s.Hasher, Sealer: s.sealer}.Verify(ctx, a, try, s.Door.Now())
	_, busy := errors.AsType[*operators.Busy](err)
	if !local && (err == nil || busy || ctx.Err() != nil) {
		back := s.tries(context.WithoutCancel(ctx), func(l operators.Ledger, now time.Time) (operators.Ledger, error) {
			return s.SignIns.Return(l, try.Name, from, now), nil
		})
		err = errors.Join(err, back)
	}
	return p, err
}

func (s *Server) sessionOpen(ctx context.Context, in *api.OpenSession) (api.SessionOpened, error) {
	p, err := s.signIn(ctx, operators.Attempt{Name: in.Body.Operator, Password: operators.NewPassword(in.Body.Password.Show()), Code: in.Body.Code.Show()})
	if err != nil {
		return api.SessionOpened{}, err
	}
	token, err := s.draw.Secret(keys.SessionToken)
	if err != nil {
		return api.SessionOpened{}, err
	}
	anew := s.rehash(ctx, p, in)
	var row operators.Session
	_, err = s.record(ctx, control.Call{Actor: "operator:" + in.Body.Operator}, func(tx store.Tx, now time.Time) (*journal.Fact, error) {
		a, _, err := account(tx, in.Body.Operator)
		if err != nil {
			return nil, err
		}
		if a, row, err = operators.Open(a, p, token, s.Lasting, "", now); err != nil {
			return nil, err
		}
		if anew != "" {
			if a, err = a.Rehashed(p, anew); err != nil {
				return nil, err
			}
		}
		forgetSessions(tx, row.ID, now)
		tx.Put(store.LedgerPrefix+control.OperatorsLedger+a.Name, instantText(now))
		f := factOf(operatorSignedIn, in.Body.Operator, control.Body{Key: row.ID})
		return &f, errors.Join(put(tx, rowOperator+a.Name, a), put(tx, rowSession+row.ID, row))
	})
	if err != nil {
		return api.SessionOpened{}, err
	}
	return api.SessionOpened{Session: sessionView(row, row.ID), Token: api.Secret(token.Show())}, nil
}

// rehash is the password hashed at today's cost, where it was at another's; "" where
// it need not be, or cannot now.
func (s *Server) rehash(ctx context.Context, p operators.Proof, in *api.OpenSession) operators.PHC {
	if !p.Outdated() {
		return ""
	}
	anew, err := s.Hasher.Hash(ctx, in.Body.Operator, operators.NewPassword(in.Body.Password.Show()))
	if err != nil {
		return ""
	}
	return anew
}

// forgetMost is how many old sessions a new one looks at.
const forgetMost = 16

// forgetSessions removes some of the sessions that are over. Where it looks is as
// random as the new one's ID, so that none stays for ever.
func forgetSessions(tx store.Tx, from string, now time.Time) {
	var ids []string
	for key := range tx.Range(rowSession+from, control.Beyond(rowSession)) {
		if ids = append(ids, strings.TrimPrefix(key, rowSession)); len(ids) == forgetMost {
			break
		}
	}
	for key := range tx.Range(rowSession, rowSession+from) {
		if len(ids) >= forgetMost {
			break
		}
		ids = append(ids, strings.TrimPrefix(key, rowSession))
	}
	for _, id := range ids {
		if row, ok, err := session(tx, id); err == nil && ok && row.Over(now) {
			tx.Delete(rowSession + id)
		}
	}
}

func (s *Server) sessionClose(ctx context.Context, in *api.CloseSession) (api.SessionClosed, error) {
	who := caller(ctx)
	if who.Caller.Operator == "" {
		return api.SessionClosed{}, refused("NOT_FOUND", "the call was made with a key, which is no session", "revoke the key instead")
	}
	id := in.Session
	if id == "" {
		id = who.id
	}
	c, err := s.call(ctx, api.SessionClose, in.Change, in)
	if err != nil {
		return api.SessionClosed{}, err
	}
	done, err := s.record(ctx, c, func(tx store.Tx, now time.Time) (*journal.Fact, error) {
		row, ok, err := session(tx, id)
		switch {
		case err != nil:
			return nil, err
		case !ok || row.Operator != who.Caller.Operator:
			return nil, absent("session", "ingot session list")
		case row.Over(now):
			return nil, unversioned(in.Change, 2)
		}
		if err := unversioned(in.Change, 1); err != nil {
			return nil, err
		}
		f := factOf(operatorSignedOut, row.Operator, control.Body{Key: row.ID, Why: in.Reason})
		return &f, put(tx, rowSession+id, row.Revoke(now))
	})
	if err != nil {
		return api.SessionClosed{}, err
	}
	return api.SessionClosed{Outcome: outcome(in.Change, done), Closed: len(done.Facts) > 0}, nil
}

func (s *Server) sessionList(ctx context.Context, in *api.SessionList) (api.Sessions, error) {
	out := api.Sessions{Sessions: []api.SessionView{}}
	l := lister{prefix: rowSession, page: in.Page, valid: validName, shared: true}
	err := s.list(ctx, l, &out.NextCursor, func(r store.Reader, id string) (bool, error) {
		row, ok, err := session(r, id)
		if err != nil || !ok || row.Over(s.Door.Now()) || !s.mayKey(ctx, row.Tenant) || in.Operator != "" && row.Operator != in.Operator {
			return false, err
		}
		out.Sessions = append(out.Sessions, sessionView(row, caller(ctx).id))
		return true, nil
	})
	return out, err
}
