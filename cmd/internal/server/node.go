package server

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// nodeView is a node, all its axes beside each other (API-6).
func (s *Server) nodeView(r store.Reader, n *lifecycle.Node) api.Node {
	v := api.Node{ID: string(n.ID), Version: n.Version, Tenant: s.Owner, DeletedAt: n.Deleted, States: states(n),
		Claims: claims(&n.Claims), Conditions: n.Conditions, Scheduling: scheduling(n),
		Link:     api.Link{Epoch: n.Conn.Session, Gateway: n.Conn.Gateway, LastSeen: lastSeen(r, n.Reg.Server)},
		Identity: api.Identity{Generation: n.Identity.Generation, Certificates: len(n.Identity.Live), Quarantined: n.Identity.Quarantined}}
	for k, val := range n.Reg.Settings.Labels {
		v.Labels = append(v.Labels, api.Label{Key: k, Value: val, Owner: "operator"})
	}
	sortLabels(v.Labels)
	link(&v.Link, n)
	for _, m := range n.MACs() {
		v.MACs = append(v.MACs, m.String())
	}
	for i := range n.NICs {
		b := &n.NICs[i]
		v.Boots = append(v.Boots, api.NodeBoot{MAC: b.MAC.String(), State: string(b.State), Mode: string(b.Mode)})
	}
	if slot := lifecycle.SlotOf(n); slot.Holder != lifecycle.Free {
		v.Attempt = &api.Attempt{Holder: string(slot.Holder), State: slot.State, Epoch: slot.Epoch, Deadline: slot.Deadline}
	}
	for need := range lifecycle.Needs(n) {
		v.Needs = append(v.Needs, api.Need{Verb: need.Verb, What: need.What, Epoch: need.Epoch, Until: need.Until})
	}
	v.Failure = failure(&n.Prov)
	v.Metal = s.metalView(r, n)
	return v
}

func link(v *api.Link, n *lifecycle.Node) {
	if n.Conn.Link == lifecycle.Connected {
		v.ConnectedAt = n.Conn.Since
	} else {
		v.DisconnectedAt = n.Conn.Since
	}
}

// states are the states of the axes that the node has.
func states(n *lifecycle.Node) api.States {
	v := api.States{Scheduling: string(n.Sched.State), Maintenance: string(n.Sched.Service), Connectivity: n.Conn.Link.String()}
	if n.Reg.State != registration.Absent {
		v.Registration = string(n.Reg.State)
	}
	if n.Prov.State != provision.Absent {
		v.Provision = string(n.Prov.State)
	}
	if n.Claims.Device != "" {
		v.Run, v.Retirement = string(n.Run.State), string(n.Run.Retire.State)
	}
	return v
}

func claims(c *lifecycle.Claims) api.Claims {
	v := api.Claims{EK: c.EK, HardwareKey: c.HardwareKey, BMC: c.BMC, Device: c.Device}
	if c.Server != (registration.ServerID{}) {
		v.Server = c.Server.String()
	}
	return v
}

func scheduling(n *lifecycle.Node) api.Scheduling {
	return api.Scheduling{Cordoned: n.Sched.Cordoned(), Draining: n.Sched.State == schedule.Draining, ForceUntil: n.Sched.Force.By,
		Maintenance: n.Sched.Service == schedule.Maintenance, MaintenanceReason: n.Sched.Why, Reasons: lifecycle.Reasons(n)}
}

func failure(p *provision.Record) *api.Failure {
	if p.FailedFrom == "" {
		return nil
	}
	return &api.Failure{From: string(p.FailedFrom), Code: p.LastError.Code, Error: p.LastError.Why}
}

func validNode(name string) bool { return lifecycle.NodeID(name).Valid() }

func (s *Server) nodeList(ctx context.Context, in *api.NodeList) (api.Nodes, error) {
	out := api.Nodes{Nodes: []api.Node{}}
	err := s.list(ctx, lister{prefix: lifecycle.RowNode, page: in.Page, valid: validNode}, &out.NextCursor, func(r store.Reader, name string) (bool, error) {
		st, err := s.Door.Load(r, control.Target{Node: lifecycle.NodeID(name)})
		if err != nil || !passes(in, &st.Node) {
			return false, err
		}
		out.Nodes = append(out.Nodes, s.nodeView(r, &st.Node))
		return true, nil
	})
	return out, err
}

// passes decides the filters of API-2. No node is in a pool or of another site
// yet.
func passes(in *api.NodeList, n *lifecycle.Node) bool {
	is := func(filter, state string) bool { return filter == "" || filter == state }
	v := states(n)
	return (in.Deleted || n.Deleted.IsZero()) && in.Pool == "" && in.Site == "" &&
		is(in.Cordoned, strconv.FormatBool(n.Sched.Cordoned())) &&
		is(in.Maintenance, strconv.FormatBool(n.Sched.Service == schedule.Maintenance)) &&
		is(in.Provision, v.Provision) && is(in.Registration, v.Registration) && is(in.Scheduling, v.Scheduling) &&
		is(in.Connectivity, v.Connectivity) && is(in.Run, v.Run) && is(in.Retirement, v.Retirement) && hasBoot(in.Boot, n.NICs)
}

func hasBoot(filter string, nics []netboot.Record) bool {
	for i := range nics {
		if string(nics[i].State) == filter {
			return true
		}
	}
	return filter == ""
}

// node reads a node, tombstones too, which must be there.
func (s *Server) node(r store.Reader, id string) (lifecycle.State, error) {
	st, err := s.Door.Load(r, control.Target{Node: lifecycle.NodeID(id)})
	if err == nil && st.Node.ID == "" {
		err = absent("node", "ingot node list")
	}
	return st, err
}

func (s *Server) nodeShow(ctx context.Context, in *api.NodeRef) (api.Node, error) {
	var out api.Node
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		st, err := s.node(r, in.Node)
		if err == nil {
			out = s.nodeView(r, &st.Node)
		}
		return err
	})
	return out, err
}

// nodeVerb carries out an operator's input on a node.
func (s *Server) nodeVerb(ctx context.Context, op api.Any, in api.NodeChange, asked any, make func(*control.Look) lifecycle.Input) (api.NodeChanged, error) {
	return s.nodeVerbOn(ctx, op, in, asked, nil, make)
}

// nodeVerbOn is nodeVerb with boot records that the input names.
func (s *Server) nodeVerbOn(ctx context.Context, op api.Any, in api.NodeChange, asked any, macs []netboot.MAC, make func(*control.Look) lifecycle.Input) (api.NodeChanged, error) {
	c, err := s.call(ctx, op, in.Change, asked)
	if err != nil {
		return api.NodeChanged{}, err
	}
	done, err := s.Door.Do(ctx, c, control.Target{Node: lifecycle.NodeID(in.Node), MACs: macs}, func(l *control.Look) (lifecycle.Input, error) {
		if l.State.Node.ID == "" {
			return nil, absent("node", "ingot node list")
		}
		return make(l), nil
	})
	if err != nil {
		return api.NodeChanged{}, err
	}
	out := api.NodeChanged{Outcome: outcome(in.Change, done)}
	if done.Replayed {
		out.Node, err = s.nodeShow(ctx, &in.NodeRef)
		return out, err
	}
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		out.Node = s.nodeView(r, &done.Next.Node)
		return nil
	})
	return out, err
}

func (s *Server) cordon(ctx context.Context, in *api.NodeChange) (api.NodeChanged, error) {
	return s.nodeVerb(ctx, api.NodeCordon, *in, in, func(*control.Look) lifecycle.Input {
		return lifecycle.Schedule{Call: by(ctx, in.Change), On: schedule.Cordon}
	})
}

func (s *Server) uncordon(ctx context.Context, in *api.NodeChange) (api.NodeChanged, error) {
	return s.nodeVerb(ctx, api.NodeUncordon, *in, in, func(*control.Look) lifecycle.Input {
		return lifecycle.Schedule{Call: by(ctx, in.Change), On: schedule.Uncordon}
	})
}

func (s *Server) maintenance(ctx context.Context, in *api.Maintain) (api.NodeChanged, error) {
	return s.nodeVerb(ctx, api.NodeMaintenance, in.NodeChange, in, func(*control.Look) lifecycle.Input {
		return lifecycle.Maintain{Call: by(ctx, in.Change), Set: in.Body.On}
	})
}

func (s *Server) nodeDelete(ctx context.Context, in *api.NodeChange) (api.Deleted, error) {
	var credentials string
	done, err := s.nodeVerb(ctx, api.NodeDelete, *in, in, func(l *control.Look) lifecycle.Input {
		credentials = l.State.Node.Metal.Credentials
		return lifecycle.DeleteNode{Call: by(ctx, in.Change), World: l.World}
	})
	if err == nil && !in.DryRun {
		s.disused(ctx, credentials)
	}
	return api.Deleted{Outcome: done.Outcome, Deleted: len(done.Facts) > 0}, err
}

func sortLabels(all []api.Label) {
	slices.SortFunc(all, func(a, b api.Label) int { return strings.Compare(a.Key, b.Key) })
}
