package host

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// A Link is a network interface as the kernel shows it.
type Link struct {
	Name      string
	Index     int
	MAC       string // in lower case, with colons
	Loopback  bool
	Up        bool // by its administrator
	Carrier   bool // something is at the other end of the cable
	Addresses []netip.Prefix
}

// Wanted is the network that a machine's boot script gives it.
type Wanted struct {
	MAC     string       // of the interface
	Address netip.Prefix // IPv4; invalid: the interface is left alone
	Gateway netip.Addr   // of the default route; invalid: none
}

// A Step is one change of the network: a link goes up, or takes an address, or gets the
// default route.
type Step struct {
	Link    string
	Index   int
	Address netip.Prefix // valid: the step of an address
	Gateway netip.Addr   // valid: the step of a route
	OnLink  bool         // the gateway is on the link, though no address says so
}

// Decide is what is to be done next so that the network is what is wanted, and what
// then still lacks: nil, or *NoLink, *TwoLinks or *NoCarrier, which may pass. The route
// comes last, once there is a carrier.
func Decide(seen []Link, w Wanted) (steps []Step, lacks error) {
	for _, l := range seen {
		if l.Loopback && !l.Up {
			steps = append(steps, Step{Link: l.Name, Index: l.Index})
		}
	}
	if !w.Address.IsValid() {
		return steps, nil
	}
	l, err := find(seen, w.MAC)
	if err != nil {
		return steps, err
	}
	if !l.Up {
		steps = append(steps, Step{Link: l.Name, Index: l.Index})
	}
	if !slices.Contains(l.Addresses, w.Address) {
		steps = append(steps, Step{Link: l.Name, Index: l.Index, Address: w.Address})
	}
	if !l.Up || !l.Carrier {
		return steps, &NoCarrier{Link: l.Name}
	}
	if w.Gateway.IsValid() {
		steps = append(steps, Step{Link: l.Name, Index: l.Index, Gateway: w.Gateway, OnLink: !w.Address.Contains(w.Gateway)})
	}
	return steps, nil
}

// find is the link with a MAC.
func find(seen []Link, mac string) (Link, error) {
	var found Link
	lacks := &NoLink{MAC: mac}
	for _, l := range seen {
		switch {
		case l.Loopback:
		case l.MAC != mac:
			lacks.Seen = append(lacks.Seen, l.Name+" "+l.MAC)
		case found.Name != "":
			return Link{}, &TwoLinks{MAC: mac, Links: [2]string{found.Name, l.Name}}
		default:
			found = l
		}
	}
	if found.Name == "" {
		return Link{}, lacks
	}
	return found, nil
}

// A Network sets up the network of a machine whose first process this is.
type Network struct {
	Links    func() ([]Link, error)
	Do       func(Step) error
	Now      func() time.Time
	Log      *slog.Logger
	Patience time.Duration // for what passes: an interface that appears, a carrier; default 30s
}

// Configure sets up what the agent's settings say. The error is *agent.Invalid, or Up's.
func (n Network) Configure(ctx context.Context, c agent.Config) error {
	switch {
	case c.Address.IsValid() && c.MAC == "":
		return &agent.Invalid{What: "ingot.mac", Why: "is missing, and ingot.address does not say of which interface it is"}
	case c.Address.IsValid() && c.Gateway == c.Address.Addr(): // which the kernel takes, and then reaches nobody
		return &agent.Invalid{What: "ingot.gateway", Why: "is this machine's own address"}
	}
	return n.Up(ctx, Wanted{MAC: c.MAC, Address: c.Address, Gateway: c.Gateway})
}

// How often the interfaces are looked at, and how long nothing is said of what lacks: a
// cable needs some seconds.
const (
	linkPoll  = 100 * time.Millisecond
	linkQuiet = 5 * time.Second
)

// Up does what Decide says until nothing lacks. It may be called again: what is done
// stays, and MTUs are left alone. The error is *Unset, or what lacked for too long.
func (n Network) Up(ctx context.Context, w Wanted) error {
	patience := cmp.Or(n.Patience, 30*time.Second)
	began, told := n.Now(), false
	for {
		lacks, err := n.once(w)
		if err != nil || lacks == nil {
			return err
		}
		waited := n.Now().Sub(began)
		if waited >= patience || !pause.For(ctx, linkPoll) {
			return lacks
		}
		if waited > linkQuiet && !told {
			told = true
			n.Log.Warn("the network is waited for", "up_to", patience.String(), "lacks", lacks)
		}
	}
}

// once looks, and takes the steps that are next.
func (n Network) once(w Wanted) (lacks, err error) {
	seen, err := n.Links()
	if err != nil {
		return nil, &Unset{"the network interfaces cannot be listed", err}
	}
	steps, lacks := Decide(seen, w)
	for _, s := range steps {
		if err := n.Do(s); err != nil {
			return nil, &Unset{s.Link + ": " + s.String(), err}
		}
		n.Log.Info("network", "link", s.Link, "step", s.String())
	}
	return lacks, nil
}

// String says what the step is.
func (s Step) String() string {
	switch {
	case s.Address.IsValid():
		return "address " + s.Address.String()
	case s.Gateway.IsValid():
		return "default route by " + s.Gateway.String()
	}
	return "up"
}
