package server

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/metal"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// The facts of what was asked of a BMC at once.
const (
	factBootSet  = "node.bmc.boot-override"
	factInserted = "node.bmc.media-inserted"
	factEjected  = "node.bmc.media-ejected"
)

func commandView(c lifecycle.Command) api.PowerCommand {
	return api.PowerCommand{ID: c.ID, Action: c.Verb, Expires: c.Expires, Done: c.Done, Result: c.Result}
}

// power queues a command (PROV-7).
func (s *Server) power(ctx context.Context, in *api.PowerNode) (api.PowerQueued, error) {
	id := cmp.Or(in.Body.RequestID, in.IdempotencyKey)
	if id == "" {
		var err error
		if id, err = s.draw.ID("cmd_"); err != nil {
			return api.PowerQueued{}, err
		}
	}
	c, err := s.call(ctx, api.NodePower, in.Change, in)
	if err != nil {
		return api.PowerQueued{}, err
	}
	done, err := s.Door.Do(ctx, c, control.Target{Node: lifecycle.NodeID(in.Node)}, func(l *control.Look) (lifecycle.Input, error) {
		switch n := &l.State.Node; {
		case !n.Live():
			return nil, absent("node", "ingot node list")
		case n.Claims.BMC == "":
			return nil, s.agentOf(n)
		}
		return lifecycle.Power{Call: by(ctx, in.Change), World: l.World, Request: id, Action: in.Body.Action}, nil
	})
	if err != nil {
		return api.PowerQueued{}, err
	}
	out := api.PowerQueued{Outcome: outcome(in.Change, done), Command: api.PowerCommand{ID: id, Action: in.Body.Action}}
	n := done.Next.Node
	if done.Replayed {
		st, _, err := s.Door.Read(ctx, control.Target{Node: lifecycle.NodeID(in.Node)})
		if err != nil {
			return out, err
		}
		n = st.Node
	}
	for _, k := range n.Commands {
		if k.ID == id {
			out.Command = commandView(k)
		}
	}
	return out, nil
}

func (s *Server) commands(ctx context.Context, in *api.NodeRef) (api.PowerCommands, error) {
	out := api.PowerCommands{Commands: []api.PowerCommand{}}
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		st, err := s.node(r, in.Node)
		if err != nil {
			return err
		}
		if st.Node.Claims.BMC == "" {
			return s.agentOf(&st.Node)
		}
		for _, c := range st.Node.Commands {
			out.Commands = append(out.Commands, commandView(c))
		}
		return nil
	})
	return out, err
}

// ask asks a node's BMC what changes nothing.
func (s *Server) ask(ctx context.Context, ref api.NodeRef, q metal.Question) (metal.Answer, error) {
	st, _, err := s.Door.Read(ctx, control.Target{Node: lifecycle.NodeID(ref.Node)})
	if err != nil {
		return metal.Answer{}, err
	}
	if err := s.agentOf(&st.Node); err != nil {
		return metal.Answer{}, err
	}
	a, err := s.Agent.Ask(ctx, metal.Target{Node: st.Node.ID, Metal: st.Node.Metal}, q)
	return a, told(err)
}

// told is an agent's error with what would help, for its caller.
func told(err error) error {
	e, ok := errors.AsType[*bmc.Error](err)
	if !ok {
		return err
	}
	return &Refused{code: e.Code(), Why: e.Error(), next: e.Do}
}

// free is a node that nobody holds, for what changes its machine at once.
func (s *Server) free(ctx context.Context, in *api.NodeChange) (lifecycle.Node, error) {
	st, _, err := s.Door.Read(ctx, control.Target{Node: lifecycle.NodeID(in.Node)})
	n := st.Node
	if err != nil {
		return n, err
	}
	if err := s.agentOf(&n); err != nil {
		return n, err
	}
	if slot := lifecycle.HeldBy(&n); slot.Holder != lifecycle.Free {
		return n, &Held{slot}
	}
	if in.Version != 0 && in.Version != n.Version {
		return n, stale()
	}
	return n, nil
}

// Held reports a machine that an attempt holds (MACH-3).
type Held struct{ by lifecycle.Slot }

// Code is the error's wire name (API-3).
func (*Held) Code() string { return "CONFLICT" }

// Error says who holds it.
func (e *Held) Error() string {
	return "an attempt holds the machine: " + string(e.by.Holder) + " in " + e.by.State + " (MACH-3)"
}

// Holder is who holds it.
func (e *Held) Holder() lifecycle.Slot { return e.by }

// Next is what to do.
func (*Held) Next() string { return "wait for its end, or abort it" }

// underway are the idempotency keys, each with its actor, of calls that act outside of
// the store: until such a call has ended, the store does not know of it.
type underway struct {
	mu   sync.Mutex
	keys map[string]bool
}

// begin refuses a call that is being carried out; ended is when it no longer is.
func (u *underway) begin(c control.Call) (ended func(), err error) {
	if c.Key == "" || c.DryRun {
		return func() {}, nil
	}
	key := c.Actor + "\x00" + c.Key
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.keys[key] {
		return nil, refused("CONFLICT", "the call with this idempotency key is being carried out", "call again with it: once that has ended it answers what came of it")
	}
	if u.keys == nil {
		u.keys = map[string]bool{}
	}
	u.keys[key] = true
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.keys, key)
	}, nil
}

// unsettled forgets what is noted of a boot override before another is sent, whose
// answer may be lost (BOOT-11).
func (s *Server) unsettled(ctx context.Context, id lifecycle.NodeID, what metal.What) error {
	if what != metal.SetBoot && what != metal.ClearBoot {
		return nil
	}
	_, err := s.Door.Store().Update(ctx, func(tx store.Tx) error { return control.BootsPXE(tx, id, false, false) })
	return err
}

// changes carries out q on a free machine, and keeps one row of what was asked and
// what came of it, also where it failed after it was sent. fact and why name it;
// note may write ledgers.
func (s *Server) changes(ctx context.Context, op api.Any, in *api.NodeChange, asked any, q metal.Question, fact, why string, note func(store.Tx, lifecycle.NodeID) error) (metal.Answer, control.Done, error) {
	c, err := s.call(ctx, op, in.Change, asked)
	if err != nil {
		return metal.Answer{}, control.Done{}, err
	}
	ended, err := s.underway.begin(c)
	if err != nil {
		return metal.Answer{}, control.Done{}, err
	}
	defer ended()
	// A call that was made before asks nothing of the machine again.
	if done, found, err := s.Door.Replayed(ctx, c); found || err != nil {
		return metal.Answer{}, done, err
	}
	n, err := s.free(ctx, in)
	if err != nil {
		return metal.Answer{}, control.Done{}, err
	}
	var a metal.Answer
	var failed error
	if !in.DryRun {
		if err := s.unsettled(ctx, n.ID, q.What); err != nil {
			return a, control.Done{}, err
		}
		a, failed = s.Agent.Ask(ctx, metal.Target{Node: n.ID, Metal: n.Metal}, q)
	}
	if failed != nil {
		if e, ok := errors.AsType[*bmc.Error](failed); !ok || e.Sent == bmc.SentNo || e.Sent == "" {
			return a, control.Done{}, told(failed)
		}
		c.Key = "" // the next one with the key may try again
		why += "; failed: " + failed.Error()
	}
	if in.Reason != "" {
		why += "; " + in.Reason
	}
	done, err := s.record(context.WithoutCancel(ctx), c, func(tx store.Tx, _ time.Time) (*journal.Fact, error) {
		f := factOf(fact, string(n.ID), control.Body{Why: why})
		if failed == nil && note != nil {
			return &f, note(tx, n.ID)
		}
		return &f, nil
	})
	if failed != nil {
		return a, done, told(failed)
	}
	return a, done, err
}
