package server

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/identity/claim"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// redraws is how often a claim code is drawn anew that another machine has.
const redraws = 8

// drawn is what a registering machine gets, and what its row keeps of it.
type drawn struct {
	code claim.Code
	poll keys.Secret
	in   lifecycle.Register
}

// drawRegister draws code, token and key ahead of the step.
func (s *Server) drawRegister(server registration.ServerID, inv registration.Inventory) (drawn, error) {
	id, err1 := s.draw.NodeID()
	code, err2 := s.draw.Code()
	poll, err3 := s.draw.Secret(keys.PollToken)
	bound, err4 := s.draw.Secret(keys.APIKey)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return drawn{}, err
	}
	waiting, err := s.sealer.Seal(waitingPlace(server), []byte(bound.Show()))
	if err != nil {
		return drawn{}, err
	}
	until := s.Door.Now().Add(registration.CodeLife)
	return drawn{code, poll, lifecycle.Register{NewID: id, Server: server, Inventory: inv,
		Code:  registration.Expiring{Hash: registration.Hash(s.codes.Hash(code)), Until: until},
		Poll:  registration.Expiring{Hash: registration.Hash(poll.Hash()), Until: until},
		Bound: control.Fact(bound, lifecycle.ScopeAgent), Waiting: registration.Sealed(waiting)}}, nil
}

// waitingPlace is where a key waits for its agent's poll (REG-6).
func waitingPlace(server registration.ServerID) secrets.Place {
	return secrets.Place{Purpose: secrets.AgentKey, Row: "registration/" + server.Key().String()}
}

func (s *Server) register(ctx context.Context, in *api.Register) (api.Registered, error) {
	server, err := serverID(in.Body.Server)
	if err != nil {
		return api.Registered{}, err
	}
	said, err := parseSysinfo(in.Body.Sysinfo, server)
	if err != nil {
		return api.Registered{}, err
	}
	for range redraws {
		d, err := s.drawRegister(server, said.Inventory)
		if err != nil {
			return api.Registered{}, err
		}
		done, err := s.Door.Do(ctx, control.Call{Actor: caller(ctx).name()}, control.Target{Server: server}, func(l *control.Look) (lifecycle.Input, error) {
			l.Attach(control.Sysinfo{Raw: said.raw})
			in := d.in
			in.Recent = registers(l, server)
			return in, nil
		})
		if taken, ok := errors.AsType[*control.Taken](err); ok && taken.Name == "claim/"+digits(d.in.Code.Hash) {
			continue
		}
		if err != nil {
			return api.Registered{}, err
		}
		out := api.Registered{Server: server.String(), State: string(done.Next.Node.Reg.State), PollToken: api.Secret(d.poll.Show()), Expires: d.in.Poll.Until.UTC()}
		if done.Next.Node.Reg.State == registration.Pending {
			out.Code = api.Secret(d.code.Show())
		}
		return out, nil
	}
	return api.Registered{}, refused("UNAVAILABLE", "every claim code that was drawn is another machine's", "call again")
}

// registers counts the registers of a machine within the hour, and notes this one
// (REG-10).
func registers(l *control.Look, server registration.ServerID) int {
	key := control.RegistersLedger + server.Key().String()
	var times, recent []time.Time
	if raw, ok := l.Get(store.LedgerPrefix + key); ok {
		_ = json.Unmarshal(raw, &times) // what cannot be read counts for nothing
	}
	for _, t := range times {
		if l.Now.Sub(t) < time.Hour {
			recent = append(recent, t)
		}
	}
	if raw, err := json.Marshal(append(recent, l.Now)); err == nil {
		l.Note(key, raw)
	}
	return len(recent)
}

// pollTarget is the row of the caller's poll token.
func pollTarget(ctx context.Context) control.Target {
	return control.Target{By: lifecycle.RowBy + "poll/" + digits(caller(ctx).poll)}
}

func (s *Server) status(ctx context.Context, in *api.RegistrationPoll) (api.RegistrationStatus, error) {
	var out api.RegistrationStatus
	err := s.poll(ctx, in.Wait.Duration, func(r store.Reader) (bool, error) {
		st, err := s.Door.Load(r, pollTarget(ctx))
		if err != nil {
			return false, err
		}
		reg := &st.Node.Reg
		if !reg.Poll.Holds(s.Door.Now()) || reg.Poll.Hash != caller(ctx).poll {
			return false, refused("UNAUTHENTICATED", "the poll token is dead", "register again")
		}
		out = api.RegistrationStatus{Server: reg.Server.String(), Node: string(st.Node.ID), State: string(reg.State), KeyID: reg.Bound.ID}
		if reg.State == registration.Approved && reg.Waiting != "" {
			key, err := s.sealer.Open(waitingPlace(reg.Server), string(reg.Waiting))
			if err != nil {
				return false, err
			}
			out.Key = api.Secret(key)
		}
		return out.Key != "" || in.State != "" && in.State != out.State, nil
	})
	return out, err
}

func (s *Server) acknowledge(ctx context.Context, _ *api.Empty) (api.RegistrationStatus, error) {
	who := caller(ctx)
	done, err := s.Door.Do(ctx, control.Call{Actor: who.name()}, pollTarget(ctx), control.Just(lifecycle.Acknowledge{Token: who.poll}))
	if err != nil {
		return api.RegistrationStatus{}, err
	}
	n := &done.Next.Node
	return api.RegistrationStatus{Server: n.Reg.Server.String(), Node: string(n.ID), State: string(n.Reg.State), KeyID: n.Reg.Bound.ID}, nil
}

func (s *Server) refresh(ctx context.Context, in *api.Refresh) (api.Refreshed, error) {
	server, err := serverID(in.Server)
	if err != nil {
		return api.Refreshed{}, err
	}
	said, err := parseSysinfo(in.Body.Sysinfo, server)
	if err != nil {
		return api.Refreshed{}, err
	}
	who := caller(ctx)
	done, err := s.Door.Do(ctx, control.Call{Actor: who.name()}, control.Target{Server: server}, func(l *control.Look) (lifecycle.Input, error) {
		was, _, err := control.SysinfoOf(l, server)
		if err != nil {
			return nil, err
		}
		l.Attach(control.Sysinfo{Raw: said.raw, AgentKey: was.AgentKey}) // it does not speak of that key
		heard(l, server)
		return lifecycle.Refresh{Key: who.key, Inventory: said.Inventory}, nil
	})
	if err != nil {
		return api.Refreshed{}, err
	}
	return api.Refreshed{State: string(done.Next.Node.Reg.State), Version: done.Next.Node.Version}, nil
}
