package daemon

import (
	"context"
	"net"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/metal"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// begetAgent makes ingotd the agent of its own site, where it has drivers and writes.
func (r *run) begetAgent() {
	if r.Drivers == nil || r.reads() {
		return
	}
	r.agent = metal.New(metal.Config{Door: r.door, Drivers: r.Drivers(r.toBMC), Secrets: r.Resolvers, Log: r.Log})
}

// toBMC connects to a BMC, through the booter that the configuration names for it.
func (r *run) toBMC(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if booter := r.Config.BMC.By(host); booter != "" {
		return r.carriers.Dial(ctx, booter, address)
	}
	return r.DialBMC(ctx, network, address)
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

// serveBMCs reaches the site's BMCs until ctx ends, and lets the booters that carry to
// them go once it has logged out.
func (r *run) serveBMCs(ctx context.Context) {
	defer r.carriers.Close()
	r.agent.Run(ctx)
}
