package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/metal"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// defaultDriver speaks to a BMC whose driver is not named.
const defaultDriver = "redfish"

// metalView is how a node is reached out of band; nil where it is not.
func (s *Server) metalView(r store.Reader, n *lifecycle.Node) *api.Metal {
	if n.Claims.BMC == "" {
		return nil
	}
	m := &n.Metal
	v := &api.Metal{BMC: m.BMC, System: m.System, Driver: m.Driver, Trust: trustWord(&m.Trust), Pin: m.Trust.Pin, Options: m.Options,
		CredentialsSet: m.Credentials != "", Serviced: s.Agent != nil && s.Agent.Serves(m) == nil}
	for _, a := range m.Addresses {
		v.Addresses = append(v.Addresses, a.String())
	}
	if p, ok := control.PowerOf(r, n.ID); ok {
		v.Power = api.PowerSeen{State: p.State, At: p.At, Error: p.Error}
	}
	return v
}

func trustWord(t *lifecycle.Trust) string {
	switch {
	case t.CA != "":
		return "ca"
	case t.Pin != "":
		return "pin"
	case t.FirstUse:
		return "first-use"
	case t.Insecure:
		return "insecure"
	}
	return "roots"
}

// parseMetal reads what an enroll names, but for inline credentials.
func (s *Server) parseMetal(in *api.EnrollMetal) (m lifecycle.Metal, err error) {
	b := &in.Body
	m = lifecycle.Metal{BMC: b.BMC, System: b.System, Driver: b.Driver, Options: string(b.Options), Credentials: b.Credentials,
		Trust: lifecycle.Trust{CA: b.CA, Pin: b.Pin, FirstUse: b.FirstUse, Insecure: b.Insecure}}
	if m.Options == "null" {
		m.Options = ""
	}
	if m.Driver == "" {
		m.Driver = defaultDriver
	}
	all, err := macs("body.macs", b.MACs)
	if err != nil {
		return m, err
	}
	for _, x := range all {
		m.MACs = append(m.MACs, netboot.MAC(x))
	}
	if b.Product != "" {
		if m.Server, err = serverID(b.Product); err != nil {
			return m, err
		}
	}
	for _, text := range b.Addresses {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return m, invalid("body.addresses", "IP addresses")
		}
		m.Addresses = append(m.Addresses, a)
	}
	if s.Agent == nil {
		return m, refused("INVALID_CONFIG", "no site agent runs here, so that no driver can check the BMC (MACH-6)", "run an ingotd with drivers")
	}
	return m, s.Agent.Check(&m)
}

// metalEnroll makes a node by its BMC (PROV-17).
func (s *Server) metalEnroll(ctx context.Context, in *api.EnrollMetal) (api.NodeChanged, error) {
	c, err := s.call(ctx, api.MetalEnroll, in.Change, in)
	if err != nil {
		return api.NodeChanged{}, err
	}
	m, err := s.parseMetal(in)
	if err != nil {
		return api.NodeChanged{}, err
	}
	id, err := s.draw.NodeID()
	if err != nil {
		return api.NodeChanged{}, err
	}
	// One at a time: a call that is refused forgets what it kept, which must not be
	// what another of the same request has committed to.
	s.enrolling.Lock()
	defer s.enrolling.Unlock()
	node, err := s.requested(ctx, in.Body.RequestID)
	if err != nil {
		return api.NodeChanged{}, err
	}
	if node == "" {
		err = s.sole(ctx, &m)
	}
	if err != nil {
		return api.NodeChanged{}, err
	}
	kept, err := s.keep(ctx, in, &m, c, node != "")
	if err != nil {
		return api.NodeChanged{}, err
	}
	done, err := s.Door.Do(ctx, c, enrollTarget(node, &m), func(l *control.Look) (lifecycle.Input, error) {
		return lifecycle.EnrollMetal{Call: by(ctx, in.Change), NewID: id, Request: in.Body.RequestID, World: l.World, Found: claimants(l, in.Body.RequestID, &m), Metal: m}, nil
	})
	if err != nil || done.Replayed {
		err = s.forget(ctx, kept, err)
	}
	if err != nil {
		return api.NodeChanged{}, err
	}
	return s.enrolled(ctx, in, &m, done)
}

// enrolled is the answer. A call that was made before is answered by its claim.
func (s *Server) enrolled(ctx context.Context, in *api.EnrollMetal, m *lifecycle.Metal, done control.Done) (api.NodeChanged, error) {
	out := api.NodeChanged{Outcome: outcome(in.Change, done)}
	err := s.Door.Store().View(ctx, func(r store.Reader) error {
		n := &done.Next.Node
		if done.Replayed {
			id, _ := r.Get(lifecycle.RowBy + "bmc/" + m.Claim())
			st, err := s.node(r, string(id))
			if err != nil {
				return err
			}
			n = &st.Node
		}
		out.Node = s.nodeView(r, n)
		return nil
	})
	return out, err
}

// requested is the live node that a request made before.
func (s *Server) requested(ctx context.Context, request string) (id lifecycle.NodeID, err error) {
	if request == "" {
		return "", nil
	}
	err = s.Door.Store().View(ctx, func(r store.Reader) error {
		raw, _ := r.Get(lifecycle.RowBy + "request/" + request)
		id = lifecycle.NodeID(raw)
		return nil
	})
	return id, err
}

// enrollTarget is the machine that an enroll may be about: the one of its request, or
// of its UUID.
func enrollTarget(node lifecycle.NodeID, m *lifecycle.Metal) control.Target {
	t := control.Target{MACs: m.MACs, Rowless: true}
	if node != "" {
		t.Node = node
	} else {
		t.Server = m.Server
	}
	return t
}

// claimants are the live nodes that have a claim of an enroll.
func claimants(r store.Reader, request string, m *lifecycle.Metal) (all []lifecycle.NodeID) {
	add := func(id lifecycle.NodeID) {
		if id != "" && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	by := map[string]string{"request/": request, "bmc/": m.Claim()}
	if m.Server != (registration.ServerID{}) {
		by["server/"] = m.Server.Key().String()
	}
	for _, kind := range []string{"request/", "bmc/", "server/"} {
		if by[kind] != "" {
			raw, _ := r.Get(lifecycle.RowBy + kind + by[kind])
			add(lifecycle.NodeID(raw))
		}
	}
	for _, mac := range m.MACs {
		add(ownerOf(r, mac))
	}
	return all
}

// ownerOf is the live node that has a boot record.
func ownerOf(r store.Reader, mac netboot.MAC) lifecycle.NodeID {
	raw, ok := r.Get(lifecycle.RowBoot + mac.String())
	var row struct{ Record netboot.Record }
	if !ok || json.Unmarshal(raw, &row) != nil || row.Record.State == netboot.Decommissioned {
		return ""
	}
	return lifecycle.NodeID(row.Record.Owner.Node)
}

// keep hands inline credentials to the broker, ahead of any write, and puts their
// reference into m.
func (s *Server) keep(ctx context.Context, in *api.EnrollMetal, m *lifecycle.Metal, c control.Call, known bool) (secrets.Kept, error) {
	b := &in.Body
	switch inline := b.Username != "" || b.Password != ""; {
	case !inline || known: // a repeat is answered by the node that there is
		return secrets.Kept{}, nil
	case b.Credentials != "":
		return secrets.Kept{}, invalid("body.credentials", "a reference, or a username and password, not both")
	case b.Username == "" || b.Password == "":
		return secrets.Kept{}, invalid("body.password", "a username and a password")
	case s.Broker == secrets.Broker{}:
		return secrets.Kept{}, &secrets.NoBroker{}
	}
	password, err := secrets.NewPassword(b.Password.Show())
	if err != nil {
		return secrets.Kept{}, err
	}
	name, err := s.secretName(in, c)
	if err != nil {
		return secrets.Kept{}, err
	}
	if in.DryRun {
		m.Credentials = secrets.Ref{Kind: secrets.KindStore, Name: name}.String()
		return secrets.Kept{}, nil
	}
	kept, err := s.keepNew(ctx, name, b.Username, password)
	m.Credentials = kept.Ref.String()
	return kept, err
}

// secretName is the same for repeats of one request, so that a crash between the
// broker and the commit leaves nothing that the repeat does not find.
func (s *Server) secretName(in *api.EnrollMetal, c control.Call) (string, error) {
	seed := "request\x00" + in.Body.RequestID
	if in.Body.RequestID == "" {
		seed = "key\x00" + c.Actor + "\x00" + c.Key
		if c.Key == "" {
			return s.draw.ID("bmc_")
		}
	}
	mac := s.digest.MAC([]byte("metal.enroll\x00" + seed))
	return "bmc_" + hex.EncodeToString(mac[:13]), nil
}

// forget takes back what a call that came to nothing kept. Where the commit's
// outcome is unknown it stays: a node may refer to it.
func (s *Server) forget(ctx context.Context, kept secrets.Kept, err error) error {
	if _, unknown := errors.AsType[*store.Unknown](err); unknown || kept.Ref == (secrets.Ref{}) {
		return err
	}
	if lost := s.Broker.Forget(context.WithoutCancel(ctx), kept); lost != nil {
		s.Log.Warn("credentials that no node refers to are kept", "reference", kept.Ref.String(), "error", lost, "next", "delete them")
	}
	return err
}

func (s *Server) metalAbort(ctx context.Context, in *api.NodeChange) (api.NodeChanged, error) {
	return s.nodeVerb(ctx, api.MetalAbort, *in, in, func(l *control.Look) lifecycle.Input {
		return lifecycle.Verb{Call: by(ctx, in.Change), On: provision.Abort, World: l.World}
	})
}

// confirmMAC is JOINT-10.
func (s *Server) confirmMAC(ctx context.Context, in *api.ConfirmMAC) (api.NodeChanged, error) {
	m, err := mac(in.Body.MAC)
	if err != nil {
		return api.NodeChanged{}, invalid("body.mac", "a MAC address")
	}
	return s.nodeVerbOn(ctx, api.MetalConfirm, in.NodeChange, in, []netboot.MAC{m}, func(*control.Look) lifecycle.Input {
		return lifecycle.ConfirmMAC{Call: by(ctx, in.Change), MAC: m}
	})
}

// agentOf is a node with a BMC, and what reaches it.
func (s *Server) agentOf(n *lifecycle.Node) error {
	switch {
	case !n.Live():
		return absent("node", "ingot node list")
	case n.Claims.BMC == "":
		return refused("NOT_FOUND", "the node has no BMC binding (PROV-14)", "enroll the machine by its BMC first")
	case s.Agent == nil:
		return refused("INVALID_STATE", "no site agent serves the node (PROV-7)", "run an ingotd with drivers")
	}
	return s.Agent.Serves(&n.Metal)
}

var _ metal.Agent = (*metal.Site)(nil)
