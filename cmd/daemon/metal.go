package daemon

import (
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/metal"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// begetAgent makes ingotd the agent of its own site, where it has drivers and writes.
func (r *run) begetAgent() {
	if len(r.Drivers) == 0 || r.reads() {
		return
	}
	r.agent = metal.New(metal.Config{Door: r.door, Drivers: r.Drivers, Secrets: r.Resolvers, Log: r.Log})
}

// world is what the parts of the control plane know of a node.
func (r *run) world(rd store.Reader, n *lifecycle.Node) lifecycle.World {
	w := control.Staged(rd, n)
	if r.agent != nil {
		r.agent.World(&w, n)
		w.Off = control.IsOff(rd, n, r.Now())
	}
	return w
}

// asAgent is nil where there is none, also as an interface.
func (r *run) asAgent() metal.Agent {
	if r.agent == nil {
		return nil
	}
	return r.agent
}
