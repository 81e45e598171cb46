package server

import (
	"context"
	"errors"

	sm "github.com/ingotmetal/ingot/statemachine"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/claim"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// row reads the registration row of a UUID, which must be there.
func (s *Server) row(r store.Reader, server registration.ServerID) (lifecycle.State, error) {
	st, err := s.Door.Load(r, control.Target{Server: server})
	if err == nil && st.Node.Reg.State == registration.Absent {
		err = absent("registration", "ingot registration list")
	}
	return st, err
}

func (s *Server) registrationList(ctx context.Context, in *api.RegistrationList) (api.Registrations, error) {
	out := api.Registrations{Registrations: []api.Registration{}}
	err := s.list(ctx, lister{prefix: lifecycle.RowRegistration, page: in.Page, valid: validServer}, &out.NextCursor, func(r store.Reader, name string) (bool, error) {
		server, err := serverID(name)
		if err != nil {
			return false, err
		}
		st, err := s.row(r, server)
		if err != nil || in.State != "" && string(st.Node.Reg.State) != in.State {
			return false, err
		}
		out.Registrations = append(out.Registrations, registrationView(r, &st.Node))
		return true, nil
	})
	return out, err
}

func validServer(name string) bool {
	id, err := registration.ParseServerID(name)
	return err == nil && id.Key().String() == name
}

func (s *Server) registrationShow(ctx context.Context, in *api.RegistrationRef) (api.Registration, error) {
	server, err := serverID(in.Server)
	if err != nil {
		return api.Registration{}, err
	}
	var out api.Registration
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		st, err := s.row(r, server)
		if err == nil {
			out = registrationView(r, &st.Node)
		}
		return err
	})
	return out, err
}

// change carries out an operator's input on a registration row, which must be
// there, and shows the row as it is then.
func (s *Server) change(ctx context.Context, op api.Any, in api.RegistrationChange, asked any, make func(*control.Look) (lifecycle.Input, error)) (api.RegistrationChanged, error) {
	server, err := serverID(in.Server)
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	c, err := s.call(ctx, op, in.Change, asked)
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	done, err := s.Door.Do(ctx, c, control.Target{Server: server}, func(l *control.Look) (lifecycle.Input, error) {
		if l.State.Node.Reg.State == registration.Absent {
			return nil, absent("registration", "ingot registration list")
		}
		return make(l)
	})
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	out := api.RegistrationChanged{Outcome: outcome(in.Change, done)}
	out.Registration, err = s.rowAfter(ctx, server, done)
	return out, err
}

// rowAfter is a row after a call: as it was stepped, or as it stands now where the
// call was a replay.
func (s *Server) rowAfter(ctx context.Context, server registration.ServerID, done control.Done) (api.Registration, error) {
	var out api.Registration
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		n := &done.Next.Node
		if done.Replayed {
			st, err := s.Door.Load(r, control.Target{Server: server})
			if err != nil {
				return err
			}
			n = &st.Node
		}
		out = registrationView(r, n)
		return nil
	})
	return out, err
}

func (s *Server) disable(ctx context.Context, in *api.RegistrationChange) (api.RegistrationChanged, error) {
	return s.change(ctx, api.RegistrationDisable, *in, in, control.Just(lifecycle.Disable{Call: by(ctx, in.Change)}))
}

func (s *Server) factoryReset(ctx context.Context, in *api.RegistrationChange) (api.RegistrationChanged, error) {
	id, err := s.draw.NodeID()
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	return s.change(ctx, api.RegistrationFactoryReset, *in, in, func(l *control.Look) (lifecycle.Input, error) {
		return lifecycle.FactoryReset{Call: by(ctx, in.Change), World: l.World, NewID: id}, nil
	})
}

func (s *Server) registrationDelete(ctx context.Context, in *api.RegistrationChange) (api.Deleted, error) {
	server, err := serverID(in.Server)
	if err != nil {
		return api.Deleted{}, err
	}
	c, err := s.call(ctx, api.RegistrationDelete, in.Change, in)
	if err != nil {
		return api.Deleted{}, err
	}
	done, err := s.Door.Do(ctx, c, control.Target{Server: server}, func(l *control.Look) (lifecycle.Input, error) {
		l.Forget(control.SeenLedger + server.Key().String())
		return lifecycle.DeleteRow{Call: by(ctx, in.Change), World: l.World}, nil
	})
	if err != nil {
		return api.Deleted{}, err
	}
	return api.Deleted{Outcome: outcome(in.Change, done), Deleted: len(done.Facts) > 0}, nil
}

// configure changes an operator's settings of a row; edit gets a copy.
func (s *Server) configure(ctx context.Context, op api.Any, in api.RegistrationChange, asked any, edit func(*registration.Settings) error) (api.RegistrationChanged, error) {
	return s.change(ctx, op, in, asked, func(l *control.Look) (lifecycle.Input, error) {
		settings := l.State.Node.Reg.Settings
		if err := edit(&settings); err != nil {
			return nil, err
		}
		return lifecycle.Configure{Call: by(ctx, in.Change), Settings: settings}, nil
	})
}

func (s *Server) reservoir(ctx context.Context, in *api.SetReservoir) (api.RegistrationChanged, error) {
	return s.configure(ctx, api.RegistrationReservoir, in.RegistrationChange, in, func(set *registration.Settings) error {
		set.Reservoir = in.Body.Bytes
		return nil
	})
}

func (s *Server) label(ctx context.Context, in *api.SetLabels) (api.RegistrationChanged, error) {
	return s.configure(ctx, api.RegistrationLabel, in.RegistrationChange, in, func(set *registration.Settings) error {
		if len(in.Body.Set)+len(in.Body.Remove) == 0 {
			return invalid("body", "at least one label to set or remove (LABEL-1)")
		}
		labels := map[string]string{}
		for k, v := range set.Labels {
			labels[k] = v
		}
		for _, k := range in.Body.Remove {
			if _, both := in.Body.Set[k]; both {
				return invalid("body.remove", "no key that is set in the same call (LABEL-1)")
			}
			delete(labels, k)
		}
		for k, v := range in.Body.Set {
			labels[k] = v
		}
		set.Labels = labels
		return nil
	})
}

func (s *Server) rootPassword(ctx context.Context, in *api.SetRootPassword) (api.RegistrationChanged, error) {
	server, err := serverID(in.Server)
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	if (in.Body.Hash == "") != in.Body.Clear {
		return api.RegistrationChanged{}, invalid("body", "either a hash or clear")
	}
	var sealed string
	if !in.Body.Clear {
		if err := sessions.CheckRoot(in.Body.Hash); err != nil {
			return api.RegistrationChanged{}, err
		}
		if sealed, err = s.sealer.Seal(rootPlace(server), []byte(in.Body.Hash.Show())); err != nil {
			return api.RegistrationChanged{}, err
		}
	}
	return s.configure(ctx, api.RegistrationRootPassword, in.RegistrationChange, in, func(set *registration.Settings) error {
		set.RootHash = registration.Sealed(sealed)
		return nil
	})
}

// wrongCode is a claim code that no row has.
func wrongCode() error {
	return refused("INVALID_INPUT", "the claim code is wrong, expired or void (REG-14)", "read the code from the machine again, or register it again for a new one")
}

func (s *Server) approve(ctx context.Context, in *api.Approve) (api.RegistrationChanged, error) {
	code, err := claim.Parse(in.Body.Code.Show())
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	var named registration.ServerID // read ahead of the code, so that it tells nothing of it
	if in.Body.Server != "" {
		if named, err = serverID(in.Body.Server); err != nil {
			return api.RegistrationChanged{}, err
		}
	}
	c, err := s.call(ctx, api.RegistrationApprove, in.Change, in)
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	bound, err := s.draw.Secret(keys.APIKey)
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	hash := registration.Hash(s.codes.Hash(code))
	target := control.Target{By: lifecycle.RowBy + "claim/" + digits(hash)}
	// The key waits sealed to its row, which only the code names.
	st, _, err := s.Door.Read(ctx, target)
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	waiting, err := s.sealer.Seal(waitingPlace(st.Node.Reg.Server), []byte(bound.Show()))
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	done, err := s.Door.Do(ctx, c, target, func(l *control.Look) (lifecycle.Input, error) {
		tries := wrongTries{Server: s, look: l, operator: caller(ctx).name()}
		if err := tries.allow(); err != nil {
			return nil, err
		}
		l.Count(tries.count)
		if err := s.claimed(l, named, st.Node.Reg.Server); err != nil {
			return nil, err
		}
		return lifecycle.Approve{Call: by(ctx, in.Change), Hash: hash, Bound: control.Fact(bound, lifecycle.ScopeAgent), Waiting: registration.Sealed(waiting)}, nil
	})
	if err != nil {
		return api.RegistrationChanged{}, err
	}
	out := api.RegistrationChanged{Outcome: outcome(in.Change, done)}
	out.Registration, err = s.rowAfter(ctx, st.Node.Reg.Server, done)
	return out, err
}

// claimed refuses a code that is no row's, or not that of the machine which the
// operator named.
func (s *Server) claimed(l *control.Look, named, read registration.ServerID) error {
	reg := &l.State.Node.Reg
	others := named != registration.ServerID{} && named.Key() != reg.Server.Key() // it must not tell whose it is
	if reg.State == registration.Absent || reg.Server != read || others {
		return wrongCode()
	}
	return nil
}

// isWrongCode reports whether a refusal is of the code itself (REG-14).
func isWrongCode(err error) bool {
	if r, ok := errors.AsType[*Refused](err); ok {
		return r.Code() == "INVALID_INPUT"
	}
	r, ok := errors.AsType[*sm.Refused](err)
	return ok && r.Code() == string(sm.InvalidInput)
}
