package server

import (
	"context"
	"encoding/json"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// call is a mutation of a person's, as the door takes it. What was asked is
// compared by a keyed hash, since it may hold a secret that could be guessed.
func (s *Server) call(ctx context.Context, op api.Any, c api.Change, in any) (control.Call, error) {
	asked := control.Call{Actor: caller(ctx).name(), Key: c.IdempotencyKey, DryRun: c.DryRun}
	if c.IdempotencyKey == "" {
		return asked, nil
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return control.Call{}, err
	}
	asked.Digest = s.digest.MAC(append([]byte(op.Info().Name+"\x00"), raw...))
	return asked, nil
}

// unversioned compares the version that a change names with that of a record which
// is made once and ends once: 0 before, 1 while it lives, 2 after (API-1).
func unversioned(c api.Change, is uint64) error {
	if c.Version == 0 || c.Version == is {
		return nil
	}
	return stale()
}

func stale() error {
	return refused("CONFLICT", "the record has changed since that version (API-1)", "read it again, and decide anew")
}

// by is the caller of a step.
func by(ctx context.Context, c api.Change) lifecycle.Call {
	who := caller(ctx)
	return lifecycle.Call{By: who.name(), Operator: who.operator(), Version: c.Version, Reason: c.Reason}
}

// outcome is what a mutation did, for its answer.
func outcome(c api.Change, d control.Done) api.Outcome {
	o := api.Outcome{Revision: uint64(d.Rev), Facts: []string{}, Replayed: d.Replayed, Dry: c.DryRun}
	for _, f := range d.Facts {
		o.Facts = append(o.Facts, f.Type)
	}
	if !d.Replayed {
		o.Moves = moves(&d.Was.Node, &d.Next.Node)
	}
	for _, r := range d.Rows {
		change := "put"
		if r.Gone {
			change = "delete"
		}
		o.Rows = append(o.Rows, api.Row{Key: r.Key, Change: change})
	}
	return o
}

// moves are the axes that differ between two nodes.
func moves(was, is *lifecycle.Node) []api.Move {
	var all []api.Move
	add := func(axis, from, to string) {
		if from != to {
			all = append(all, api.Move{Axis: axis, From: from, To: to})
		}
	}
	add("registration", string(was.Reg.State), string(is.Reg.State))
	for i := range is.NICs {
		add("boot "+is.NICs[i].MAC.String(), bootState(was, is.NICs[i].MAC), string(is.NICs[i].State))
	}
	for i := range was.NICs { // those that are gone
		if mac := was.NICs[i].MAC; bootState(is, mac) == string(netboot.Absent) {
			add("boot "+mac.String(), string(was.NICs[i].State), string(netboot.Absent))
		}
	}
	add("provision", string(was.Prov.State), string(is.Prov.State))
	add("scheduling", string(was.Sched.State), string(is.Sched.State))
	add("maintenance", string(was.Sched.Service), string(is.Sched.Service))
	add("connectivity", was.Conn.Link.String(), is.Conn.Link.String())
	add("run", string(was.Run.State), string(is.Run.State))
	return all
}

func bootState(n *lifecycle.Node, mac netboot.MAC) string {
	for i := range n.NICs {
		if n.NICs[i].MAC == mac {
			return string(n.NICs[i].State)
		}
	}
	return string(netboot.Absent)
}
