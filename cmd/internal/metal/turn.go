package metal

import (
	"context"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// turnEvery is how often a command looks whether those before it have ended.
const turnEvery = time.Second

// turn waits until the commands of a node that came before this one have ended, and
// keeps those that come after it waiting until leave. Off waits for nobody: those
// before it that have not begun are ended, and the one that runs is taken over. It
// returns the command and its machine as they are then; a nil leave is of a command that
// waits no more.
func (s *Site) turn(ctx context.Context, n lifecycle.Need) (leave func(), t Target, c lifecycle.Command, err error) {
	for {
		st, _, err := s.Door.Read(ctx, control.Target{Node: n.Node})
		if err != nil {
			return nil, t, c, err
		}
		c, waits := waiting(&st.Node, n.What)
		if !waits {
			return nil, t, c, nil
		}
		older, over := before(&st.Node, n.What), c.Verb == string(bmc.TurnOff)
		if over {
			if err := s.overtake(ctx, n.Node, older); err != nil {
				return nil, t, c, err
			}
		}
		if over || len(older) == 0 {
			if leave, ok := s.enter(n.Node, n.What, over); ok {
				return leave, Target{n.Node, st.Node.Metal}, c, nil
			}
		}
		if !pause.For(ctx, turnEvery) {
			return nil, t, c, ctx.Err()
		}
	}
}

// overtake ends commands that off came after, but for the one that is carried out,
// which off takes over.
func (s *Site) overtake(ctx context.Context, node lifecycle.NodeID, older []string) error {
	for _, id := range older {
		if s.current(node) == id {
			continue
		}
		if err := s.end(ctx, lifecycle.Need{Node: node, What: id}, "failed: off came after it; nothing was sent", time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// before are the commands that wait and came before one.
func before(n *lifecycle.Node, id string) (all []string) {
	for _, c := range n.Commands {
		if c.ID == id {
			break
		}
		if !c.Done {
			all = append(all, c.ID)
		}
	}
	return all
}

// current is the command of a node that is carried out now, the last one that began.
func (s *Site) current(node lifecycle.NodeID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.turns[node]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// enter makes a command the one that is carried out; over says that it takes another
// over.
func (s *Site) enter(node lifecycle.NodeID, id string, over bool) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns[node]) > 0 && !over {
		return nil, false
	}
	s.turns[node] = append(s.turns[node], id)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.turns[node] = slices.DeleteFunc(s.turns[node], func(x string) bool { return x == id })
		if len(s.turns[node]) == 0 {
			delete(s.turns, node)
		}
	}, true
}
