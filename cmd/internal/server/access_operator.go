package server

import (
	"cmp"
	"context"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// The facts of operator accounts.
const (
	operatorAdded    = "operator.added"
	operatorPassword = "operator.password-set"
	operatorEnrols   = "operator.second-factor-begun"
	operatorEnrolled = "operator.second-factor-set"
	operatorDropped  = "operator.second-factor-dropped"
	operatorDisabled = "operator.disabled"
	operatorRemoved  = "operator.removed"
)

// operatorView is an account as people see it. Its version is the revision of the
// newest row that changed it; a sign-in is no change.
func operatorView(r store.Reader, a operators.Account) api.OperatorView {
	return api.OperatorView{Name: a.Name, Created: a.Created, Disabled: a.Disabled, TOTP: a.HasTOTP(),
		LastSeen: instant(r, control.OperatorsLedger+a.Name), Version: operatorVersion(r, a.Name)}
}

func operatorVersion(r store.Reader, name string) uint64 {
	return max(1, control.ChangedAt(r, rowOperator+name))
}

// keepOperator writes an account that changed.
func keepOperator(tx store.Tx, a operators.Account) error {
	control.Changed(tx, rowOperator+a.Name)
	return put(tx, rowOperator+a.Name, a)
}

func (s *Server) operatorList(ctx context.Context, in *api.OperatorList) (api.Operators, error) {
	out := api.Operators{Operators: []api.OperatorView{}}
	l := lister{prefix: rowOperator, page: in.Page, valid: validName, shared: true}
	err := s.list(ctx, l, &out.NextCursor, func(r store.Reader, name string) (bool, error) {
		a, ok, err := account(r, name)
		if err != nil || !ok || !s.mayKey(ctx, a.Tenant) {
			return false, err
		}
		out.Operators = append(out.Operators, operatorView(r, a))
		return true, nil
	})
	return out, err
}

func (s *Server) operatorShow(ctx context.Context, in *api.OperatorRef) (api.OperatorView, error) {
	var out api.OperatorView
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		a, err := s.operator(ctx, r, in.Operator)
		out = operatorView(r, a)
		return err
	})
	return out, err
}

// operator is an account that the caller may see.
func (s *Server) operator(ctx context.Context, r store.Reader, name string) (operators.Account, error) {
	a, ok, err := account(r, name)
	if err == nil && (!ok || !s.mayKey(ctx, a.Tenant)) {
		err = absent("operator", "ingot operator list")
	}
	return a, err
}

func (s *Server) operatorAdd(ctx context.Context, in *api.AddOperator) (api.OperatorChanged, error) {
	hash, err := s.Hasher.Hash(ctx, in.Body.Name, operators.NewPassword(in.Body.Password.Show()))
	if err != nil {
		return api.OperatorChanged{}, err
	}
	c, err := s.call(ctx, api.OperatorAdd, in.Change, in)
	if err != nil {
		return api.OperatorChanged{}, err
	}
	var a operators.Account
	done, err := s.record(ctx, c, func(tx store.Tx, now time.Time) (*journal.Fact, error) {
		if _, there, err := account(tx, in.Body.Name); there || err != nil {
			return nil, orTaken(err)
		}
		if err := unversioned(in.Change, 0); err != nil {
			return nil, err
		}
		var err error
		if a, err = operators.NewAccount(in.Body.Name, s.Owner, hash, now); err != nil {
			return nil, err
		}
		f := fact(operatorAdded, a.Name, in.Reason)
		return &f, keepOperator(tx, a)
	})
	return s.operatorAnswer(ctx, in.Change, done, in.Body.Name, err)
}

func orTaken(err error) error {
	if err == nil {
		err = refused("CONFLICT", "there is an operator of that name", "set its password, or choose another name")
	}
	return err
}

// operatorAnswer is an operator after a change.
func (s *Server) operatorAnswer(ctx context.Context, c api.Change, done control.Done, name string, err error) (api.OperatorChanged, error) {
	if err != nil {
		return api.OperatorChanged{}, err
	}
	out := api.OperatorChanged{Outcome: outcome(c, done)}
	if c.DryRun && len(done.Facts) > 0 && done.Facts[0].Type == operatorAdded {
		out.Operator = api.OperatorView{Name: name}
		return out, nil
	}
	out.Operator, err = s.operatorShow(ctx, &api.OperatorRef{Operator: name})
	return out, err
}

// edit changes an account; a change of "" tells nothing and writes nothing.
func (s *Server) edit(ctx context.Context, op api.Any, in api.OperatorChange, asked any, change func(operators.Account, time.Time) (operators.Account, string, error)) (control.Done, error) {
	c, err := s.call(ctx, op, in.Change, asked)
	if err != nil {
		return control.Done{}, err
	}
	return s.record(ctx, c, func(tx store.Tx, now time.Time) (*journal.Fact, error) {
		a, err := s.operator(ctx, tx, in.Operator)
		if err != nil {
			return nil, err
		}
		if in.Version != 0 && in.Version != operatorVersion(tx, a.Name) {
			return nil, stale()
		}
		a, told, err := change(a, now)
		if told == "" || err != nil {
			return nil, err
		}
		f := fact(told, a.Name, in.Reason)
		return &f, keepOperator(tx, a)
	})
}

func (s *Server) operatorPassword(ctx context.Context, in *api.SetOperatorPassword) (api.OperatorChanged, error) {
	hash, err := s.Hasher.Hash(ctx, in.Operator, operators.NewPassword(in.Body.Password.Show()))
	if err != nil {
		return api.OperatorChanged{}, err
	}
	done, err := s.edit(ctx, api.OperatorPassword, in.OperatorChange, in, func(a operators.Account, now time.Time) (operators.Account, string, error) {
		a, err := a.SetPassword(hash, now)
		return a, operatorPassword, err
	})
	return s.operatorAnswer(ctx, in.Change, done, in.Operator, err)
}

func (s *Server) operatorTOTP(ctx context.Context, in *api.EnrolTOTP) (api.TOTPEnrolled, error) {
	seed, err := s.seed()
	if err != nil {
		return api.TOTPEnrolled{}, err
	}
	waits, err := s.enrolment(ctx, in.Operator, seed)
	if err != nil {
		return api.TOTPEnrolled{}, err
	}
	uri, err := seed.ShowURI("ingot "+s.Site, in.Operator)
	if err != nil {
		return api.TOTPEnrolled{}, err
	}
	begun := false
	done, err := s.edit(ctx, api.OperatorTOTP, in.OperatorChange, in, func(a operators.Account, now time.Time) (operators.Account, string, error) {
		switch begun = false; {
		case in.Body.Drop:
			return a.DropTOTP(), operatorDropped, nil
		case in.Body.Code != "":
			a, err := a.ConfirmTOTP(s.sealer, in.Body.Code.Show(), now)
			return a, operatorEnrolled, err
		}
		if !a.Created.Equal(waits.Created) {
			return a, "", stale() // another account has the name by now
		}
		begun = true
		a.Pending, a.PendingUntil = waits.Pending, waits.PendingUntil
		return a, operatorEnrols, nil
	})
	answer, err := s.operatorAnswer(ctx, in.Change, done, in.Operator, err)
	if err != nil {
		return api.TOTPEnrolled{}, err
	}
	out := api.TOTPEnrolled{Outcome: answer.Outcome, Operator: answer.Operator}
	if begun && !done.Replayed && !in.DryRun {
		out.URI = api.Secret(uri)
	}
	return out, nil
}

// enrolment is the account with a seed that waits: sealing draws, which no
// transaction may.
func (s *Server) enrolment(ctx context.Context, name string, seed operators.Seed) (operators.Account, error) {
	var a operators.Account
	err := s.Door.Store().View(ctx, func(r store.Reader) (err error) {
		a, err = s.operator(ctx, r, name)
		return err
	})
	if err != nil {
		return a, err
	}
	return a.BeginTOTP(s.sealer, seed, s.Door.Now())
}

func (s *Server) seed() (operators.Seed, error) {
	var b [operators.SeedSize]byte
	if err := s.draw.Read(b[:]); err != nil {
		return operators.Seed{}, err
	}
	return operators.NewSeed(b)
}

func (s *Server) operatorDisable(ctx context.Context, in *api.OperatorChange) (api.OperatorChanged, error) {
	done, err := s.edit(ctx, api.OperatorDisable, *in, in, func(a operators.Account, now time.Time) (operators.Account, string, error) {
		if !a.Disabled.IsZero() {
			return a, "", nil
		}
		return a.Disable(now), operatorDisabled, nil
	})
	return s.operatorAnswer(ctx, in.Change, done, in.Operator, err)
}

func (s *Server) operatorRemove(ctx context.Context, in *api.OperatorChange) (api.Deleted, error) {
	c, err := s.call(ctx, api.OperatorRemove, in.Change, in)
	if err != nil {
		return api.Deleted{}, err
	}
	done, err := s.record(ctx, c, func(tx store.Tx, _ time.Time) (*journal.Fact, error) {
		if _, there, err := account(tx, in.Operator); !there || err != nil {
			return nil, cmp.Or(err, unversioned(in.Change, 0)) // gone already
		}
		if in.Version != 0 && in.Version != operatorVersion(tx, in.Operator) {
			return nil, stale()
		}
		tx.Delete(rowOperator + in.Operator) // its sessions die with it
		f := fact(operatorRemoved, in.Operator, in.Reason)
		return &f, nil
	})
	if err != nil {
		return api.Deleted{}, err
	}
	return api.Deleted{Outcome: outcome(in.Change, done), Deleted: len(done.Facts) > 0}, nil
}
