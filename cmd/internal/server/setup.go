package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/identity/bundle"
	"github.com/ingotmetal/ingot/identity/keys"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// rootPlace is where a root password hash is kept (REG-16).
func rootPlace(server registration.ServerID) secrets.Place {
	return secrets.Place{Purpose: secrets.RootHash, Row: "registration/" + server.Key().String()}
}

// bundlePlace is where a stock agent's bundle is kept until it is drained.
func bundlePlace(server registration.ServerID, epoch uint64) secrets.Place {
	return secrets.Place{Purpose: secrets.SetupKeys, Row: "registration/" + server.Key().String(), Epoch: epoch}
}

// realize makes the plan of a request on what the machine announced (DISK-1).
func realize(r store.Reader, reg *registration.Record, req api.SetupRequest) (disklayout.Plan, error) {
	said, ok, err := control.SysinfoOf(r, reg.Server)
	if err != nil {
		return disklayout.Plan{}, err
	}
	if !ok {
		return disklayout.Plan{}, refused("CONFLICT", "the machine has announced no disks", "wait for it to announce")
	}
	disks, err := disklayout.ParseDisks(said.Raw)
	if err != nil {
		return disklayout.Plan{}, err
	}
	return disklayout.Realize(req.Layout, disks, disklayout.Stamp{Server: disklayout.UUID(reg.Server.Key())})
}

func (s *Server) plan(ctx context.Context, in *api.PlanSetup) (api.SetupPlan, error) {
	server, err := serverID(in.Server)
	if err != nil {
		return api.SetupPlan{}, err
	}
	var out api.SetupPlan
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		st, err := s.row(r, server)
		if err != nil {
			return err
		}
		reg := &st.Node.Reg
		if reg.State != registration.AwaitingSetup {
			return refused("INVALID_STATE", "a setup is planned in awaiting_setup; the row is in "+string(reg.State)+" (SET-3)", "look at the row")
		}
		p, err := realize(r, reg, in.Body)
		if err != nil {
			return err
		}
		out = planView(&st, p, in.Body.Hostname)
		return nil
	})
	return out, err
}

// planView is what a person reads before approving.
func planView(st *lifecycle.State, p disklayout.Plan, hostname string) api.SetupPlan {
	reg := &st.Node.Reg
	v := api.SetupPlan{Digest: p.Digest.String(), Inventory: digits(reg.Inventory.Digest), Hostname: hostname, AgentKey: digits(reg.AgentKey),
		Layout: &p, Text: p.Render(), MACs: []string{}, InClear: reg.AgentKey == registration.Hash{}}
	for _, m := range reg.Inventory.MACs {
		if slices.Contains(reg.Inventory.Seen, m) {
			v.MACs = append(v.MACs, netboot.MAC(m).String())
		} else {
			v.LeftOut = append(v.LeftOut, netboot.MAC(m).String())
		}
	}
	if v.InClear {
		v.Warnings = append(v.Warnings, "a stock agent: its keys would cross the network in clear (SET-17)")
	}
	if len(v.LeftOut) > 0 {
		v.Warnings = append(v.Warnings, "some MACs of the machine were not seen with its session and are left out (SET-18)")
	}
	for _, w := range p.Warnings {
		v.Warnings = append(v.Warnings, w.Text)
	}
	return v
}

// errMoved says that another attempt took the epoch that a bundle was sealed for, or
// that the agent has another key by now.
var errMoved = errors.New("what the bundle was sealed for has changed")

// reseals is how often a bundle is sealed anew for another epoch.
const reseals = 16

func (s *Server) approveSetup(ctx context.Context, in *api.ApproveSetup) (api.SetupApproved, error) {
	a, err := s.approval(in)
	if err != nil {
		return api.SetupApproved{}, err
	}
	c, err := s.call(ctx, api.RegistrationApproveSetup, in.Change, in)
	if err != nil {
		return api.SetupApproved{}, err
	}
	for range reseals {
		st, _, err := s.Door.Read(ctx, control.Target{Server: a.server})
		if err != nil {
			return api.SetupApproved{}, err
		}
		if err := s.mint(ctx, &a, &st); errors.Is(err, errMoved) {
			continue
		} else if err != nil {
			return api.SetupApproved{}, err
		}
		done, err := s.Door.Do(ctx, c, control.Target{Server: a.server}, func(l *control.Look) (lifecycle.Input, error) { return a.input(ctx, l) })
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return api.SetupApproved{}, err
		}
		out := api.SetupApproved{Outcome: outcome(in.Change, done), Operation: operation(in.Change, done)}
		out.Registration, err = s.rowAfter(ctx, a.server, done)
		return out, err
	}
	return api.SetupApproved{}, refused("UNAVAILABLE", "too many attempts begin at once", "approve again")
}

// operation names the approval for the audit trail, by its row. A replay has the
// same; a dry run has none.
func operation(c api.Change, done control.Done) string {
	if c.DryRun {
		return ""
	}
	return "setup-" + strconv.FormatUint(uint64(done.Rev), 10)
}

// approval is an approve-setup on its way.
type approval struct {
	*api.ApproveSetup
	server registration.ServerID
	shown  registration.Hash
	agent  registration.Hash
	macs   []registration.MAC
	minted lifecycle.Mint
	epoch  uint64            // that the bundle is for
	sealed registration.Hash // the agent key that it is sealed to
}

func (s *Server) approval(in *api.ApproveSetup) (approval, error) {
	a := approval{ApproveSetup: in}
	var err error
	if a.server, err = serverID(in.Server); err != nil {
		return a, err
	}
	if a.shown, err = hash("body.shown_plan", in.Body.ShownPlan); err != nil {
		return a, err
	}
	if a.agent, err = hash("body.agent_key", in.Body.AgentKey); err != nil {
		return a, err
	}
	a.macs, err = macs("body.macs", in.Body.MACs)
	return a, err
}

// mint draws the keys of a setup and seals their bundle for the epoch that the
// attempt will have. Where the row awaits no setup nothing is drawn: the step will
// say so.
func (s *Server) mint(ctx context.Context, a *approval, st *lifecycle.State) error {
	reg := &st.Node.Reg
	a.epoch, a.sealed = st.Site.Epoch+1, reg.AgentKey
	if reg.State != registration.AwaitingSetup {
		return nil
	}
	bound, err := s.draw.Secret(keys.APIKey)
	if err != nil {
		return err
	}
	b := bundle.Bundle{Server: reg.Server.String(), Epoch: a.epoch, Key: bound}
	a.minted = lifecycle.Mint{Bound: control.Fact(bound, lifecycle.ScopeAgent)}
	for i := range b.Tickets {
		if b.Tickets[i], err = s.draw.Secret(keys.TicketKey); err != nil {
			return err
		}
		a.minted.Tickets[i] = control.Fact(b.Tickets[i], lifecycle.ScopeTicket)
	}
	sealed, err := s.sealBundle(ctx, reg, b)
	a.minted.Sealed = registration.Sealed(sealed)
	return err
}

// sealBundle seals a bundle to the agent's own key, or for a stock agent to the
// site, until it is drained (SET-17).
func (s *Server) sealBundle(ctx context.Context, reg *registration.Record, b bundle.Bundle) (string, error) {
	if reg.AgentKey == (registration.Hash{}) {
		clear, err := b.Encode()
		if err != nil {
			return "", err
		}
		return s.sealer.Seal(bundlePlace(reg.Server, b.Epoch), clear)
	}
	var said control.Sysinfo
	err := s.Door.Store().View(ctx, func(r store.Reader) (err error) {
		said, _, err = control.SysinfoOf(r, reg.Server)
		return err
	})
	if err != nil {
		return "", err
	}
	key, err := bundle.ParsePublicKey(said.AgentKey)
	if err != nil || registration.Hash(key.Hash()) != reg.AgentKey {
		return "", errMoved // another announce came in between
	}
	return secrets.SealBundle(key, b)
}

// input is the step's input, of what the transaction sees.
func (a *approval) input(ctx context.Context, l *control.Look) (lifecycle.Input, error) {
	reg := &l.State.Node.Reg
	if reg.State == registration.Absent {
		return nil, absent("registration", "ingot registration list")
	}
	in := lifecycle.ApproveSetup{Call: by(ctx, a.Change), World: l.World, Shown: a.shown, AgentKey: a.agent, MACs: a.macs, Mint: a.minted}
	if reg.State != registration.AwaitingSetup { // the state is refused ahead of any input (SET-3)
		return in, nil
	}
	if l.State.Site.Epoch+1 != a.epoch || reg.AgentKey != a.sealed {
		return nil, errMoved
	}
	p, err := realize(l, reg, a.Body.SetupRequest)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	l.Approved(raw)
	in.Realized = registration.Plan{Digest: registration.Hash(p.Digest), Inventory: reg.Inventory.Digest, Serials: p.Serials,
		Hostname: a.Body.Hostname, Disk: p.Image}
	in.Boot = p.Boot
	return in, nil
}

func (s *Server) announce(ctx context.Context, in *api.Announce) (api.Announced, error) {
	a, err := s.announced(in)
	if err != nil {
		return api.Announced{}, err
	}
	done, err := s.Door.Do(ctx, control.Call{Actor: caller(ctx).name()}, control.Target{Server: a.Server}, func(l *control.Look) (lifecycle.Input, error) {
		l.Attach(control.Sysinfo{Raw: in.Body.Sysinfo, AgentKey: in.Body.AgentKey})
		heard(l, a.Server)
		return a, nil
	})
	if err != nil {
		return api.Announced{}, err
	}
	return api.Announced{Node: string(done.Next.Node.ID), State: string(done.Next.Node.Reg.State)}, nil
}

// announced reads an announce; the checks of REG-9 are the step's.
func (s *Server) announced(in *api.Announce) (lifecycle.Announce, error) {
	var a lifecycle.Announce
	var err error
	if a.Routing, err = serverID(in.Body.Routing); err != nil {
		return a, err
	}
	if a.Server, err = serverID(in.Body.Server); err != nil {
		return a, err
	}
	said, err := parseSysinfo(in.Body.Sysinfo, a.Server)
	if err != nil {
		return a, err
	}
	a.Inventory = said.Inventory
	if a.Inventory.Seen, err = macs("body.seen_macs", in.Body.SeenMACs); err != nil {
		return a, err
	}
	if in.Body.AgentKey != "" {
		key, err := bundle.ParsePublicKey(in.Body.AgentKey)
		if err != nil {
			return a, err
		}
		if _, err := key.Recipient(); err != nil {
			return a, err
		}
		a.AgentKey = key.Hash()
	}
	a.NewID, err = s.draw.NodeID()
	return a, err
}

func (s *Server) drain(ctx context.Context, in *api.DrainBundle) (api.Bundle, error) {
	server, err := serverID(in.Server)
	if err != nil {
		return api.Bundle{}, err
	}
	agent, err := hash("body.agent_key", in.Body.AgentKey)
	if err != nil {
		return api.Bundle{}, err
	}
	done, err := s.Door.Do(ctx, control.Call{Actor: caller(ctx).name()}, control.Target{Server: server},
		control.Just(lifecycle.Drain{Epoch: in.Body.Epoch, AgentKey: agent, Held: in.Body.Held}))
	if err != nil {
		return api.Bundle{}, err
	}
	reg := &done.Was.Node.Reg
	out := api.Bundle{Epoch: reg.Epoch, Sealed: true, Bundle: api.Secret(reg.Bundle.Sealed), Image: reg.Image}
	if reg.Plan.InClear {
		clear, err := s.sealer.Open(bundlePlace(reg.Server, reg.Epoch), string(reg.Bundle.Sealed))
		if err != nil {
			return api.Bundle{}, err
		}
		out.Sealed, out.Bundle = false, api.Secret(base64.StdEncoding.EncodeToString(clear))
	}
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		out.Plan = *approvedPlan(r, reg)
		return nil
	})
	return out, err
}

func (s *Server) setupReport(ctx context.Context, ref api.RegistrationRef, report lifecycle.SetupReport) (api.SetupReported, error) {
	server, err := serverID(ref.Server)
	if err != nil {
		return api.SetupReported{}, err
	}
	done, err := s.Door.Do(ctx, control.Call{Actor: caller(ctx).name()}, control.Target{Server: server}, control.Just(report))
	if err != nil {
		return api.SetupReported{}, err
	}
	return api.SetupReported{State: string(done.Next.Node.Reg.State), Revision: uint64(done.Rev)}, nil
}

func (s *Server) setupComplete(ctx context.Context, in *api.SetupOutcome) (api.SetupReported, error) {
	return s.setupReport(ctx, in.RegistrationRef, lifecycle.SetupReport{Epoch: in.Body.Epoch, OK: true})
}

func (s *Server) setupFailed(ctx context.Context, in *api.SetupFailure) (api.SetupReported, error) {
	return s.setupReport(ctx, in.RegistrationRef, lifecycle.SetupReport{Epoch: in.Body.Epoch, Why: in.Body.Why})
}
