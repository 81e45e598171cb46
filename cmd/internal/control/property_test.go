package control_test

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// model is a site of a few machines as values. Each machine has one NIC.
type model struct {
	site   lifecycle.Site
	nodes  []lifecycle.Node // without boot records
	boots  []netboot.Record
	graves []lifecycle.Node
	drawn  int
}

const machines = 3

func newModel() *model {
	m := &model{}
	for i := range machines {
		m.nodes, m.boots = append(m.nodes, lifecycle.Fresh()), append(m.boots, netboot.New(mac(i)))
	}
	return m
}

func uuidOf(i int) registration.ServerID { return registration.ServerID{0xde, 0xad, byte(i), 15: 7} }

func (m *model) hash() registration.Hash {
	m.drawn++
	return registration.Hash{0xaa, byte(m.drawn >> 8), byte(m.drawn)}
}

func (m *model) key(scope string) registration.Key {
	h := m.hash()
	return registration.Key{ID: fmt.Sprintf("k%d", m.drawn), Hash: h, Scope: scope}
}

func (m *model) id() lifecycle.NodeID {
	m.drawn++
	return lifecycle.NodeID(fmt.Sprintf("node_%026d", m.drawn))
}

func inventory(i int) registration.Inventory {
	nic := []registration.MAC{registration.MAC(mac(i))}
	return registration.Inventory{Digest: registration.Hash{7, byte(i)}, MACs: nic, Seen: nic, Serials: []string{fmt.Sprint("S", i)}}
}

// by says how the door is to find the machine.
type by int

const (
	byServer by = iota
	byNode
	byMAC
	bySite
)

// target is how the door is asked, and state what it has to find.
func (m *model) target(i int, how by) (control.Target, lifecycle.State) {
	n, b := m.nodes[i], m.boots[i]
	owned := n.ID != "" && b.Owner.Node == string(n.ID) && b.State != netboot.Decommissioned
	s := lifecycle.State{Node: lifecycle.Fresh(), Site: m.site}
	var t control.Target
	switch how {
	case bySite:
		return t, s
	case byMAC:
		t.MAC = mac(i)
		if owned {
			s.Node = n
		}
	case byNode:
		t.Node, s.Node = n.ID, n
	default:
		t.Server, s.Node = uuidOf(i), n
	}
	nic := registration.MAC(mac(i))
	announced := slices.Contains(s.Node.Reg.Inventory.MACs, nic) || slices.Contains(s.Node.Reg.Plan.MACs, nic)
	if b.State != netboot.Absent && (how == byMAC || owned || announced) {
		s.Node.NICs = []netboot.Record{b}
	}
	return t, s
}

// put takes the next state back into its parts.
func (m *model) put(i int, how by, was, next lifecycle.State) {
	m.site = next.Site
	if how == bySite {
		return
	}
	reached := len(was.Node.NICs)+len(next.Node.NICs) > 0
	if reached {
		m.boots[i] = netboot.New(mac(i))
		for _, b := range next.Node.NICs {
			m.boots[i] = b
		}
	}
	n := next.Node
	n.NICs = nil
	if how == byMAC && was.Node.ID == "" {
		return
	}
	if n.ID != "" && !n.Live() {
		grave, row := n, lifecycle.Fresh()
		row.Reg, grave.Reg = n.Reg, lifecycle.Fresh().Reg
		m.graves, n = append(m.graves, grave), row
	}
	m.nodes[i] = n
}

// rows are what a store has to hold.
func (m *model) rows() map[string]string {
	all := map[string]string{}
	add := func(n lifecycle.Node) {
		for k, v := range lifecycle.NodeRows(n) {
			all[k] = string(v)
		}
	}
	for i := range m.nodes {
		n := m.nodes[i]
		add(n)
		add(lifecycle.Node{NICs: []netboot.Record{m.boots[i]}})
	}
	for _, n := range m.graves {
		add(n)
	}
	for k, v := range lifecycle.SiteRows(m.site) {
		all[k] = string(v)
	}
	return all
}

// inputs are what may happen to machine i, whether or not it is legal.
func (m *model) inputs(i int, now time.Time) map[string]struct {
	how by
	in  lifecycle.Input
} {
	n := &m.nodes[i]
	reg := &n.Reg
	hour := now.Add(time.Hour)
	world := lifecycle.World{Staged: []string{"enrol"}}
	plan := registration.Plan{Digest: registration.Hash{9}, Inventory: inventory(i).Digest, Serials: inventory(i).Serials, Hostname: "n1"}
	mint := lifecycle.Mint{Bound: m.key(lifecycle.ScopeAgent), Sealed: "sealed", Tickets: [3]registration.Key{m.key(lifecycle.ScopeTicket), m.key(lifecycle.ScopeTicket), m.key(lifecycle.ScopeTicket)}}
	type one = struct {
		how by
		in  lifecycle.Input
	}
	return map[string]one{
		"register": {byServer, lifecycle.Register{NewID: m.id(), Server: uuidOf(i), Inventory: inventory(i), Code: registration.Expiring{Hash: m.hash(), Until: hour},
			Poll: registration.Expiring{Hash: m.hash(), Until: hour}, Bound: m.key(lifecycle.ScopeAgent), Waiting: "w"}},
		"announce":      {byServer, lifecycle.Announce{NewID: m.id(), Routing: uuidOf(i), Server: uuidOf(i), Inventory: inventory(i), AgentKey: registration.Hash{5}}},
		"another key":   {byServer, lifecycle.Announce{NewID: m.id(), Routing: uuidOf(i), Server: uuidOf(i), Inventory: inventory(i), AgentKey: registration.Hash{6}}},
		"approve":       {byServer, lifecycle.Approve{Call: ada, Hash: reg.Code.Hash, Bound: m.key(lifecycle.ScopeAgent), Waiting: "w"}},
		"acknowledge":   {byServer, lifecycle.Acknowledge{Token: reg.Poll.Hash}},
		"approve setup": {byServer, lifecycle.ApproveSetup{Call: ada, World: world, Shown: plan.Digest, AgentKey: reg.AgentKey, MACs: inventory(i).MACs, Realized: plan, Mint: mint}},
		"drain":         {byServer, lifecycle.Drain{Epoch: reg.Epoch, AgentKey: reg.AgentKey, Held: true}},
		"complete":      {byServer, lifecycle.SetupReport{Epoch: reg.Epoch, OK: true}},
		"fail":          {byServer, lifecycle.SetupReport{Epoch: reg.Epoch, Why: "x"}},
		"refresh":       {byServer, lifecycle.Refresh{Key: reg.Bound.Hash, Inventory: inventory(i)}},
		"disable":       {byServer, lifecycle.Disable{Call: ada}},
		"reset":         {byServer, lifecycle.FactoryReset{Call: ada, World: world, NewID: m.id()}},
		"delete row":    {byServer, lifecycle.DeleteRow{Call: ada, World: world}},
		"configure":     {byServer, lifecycle.Configure{Call: ada, Settings: registration.Settings{Reservoir: uint64(m.drawn)}}},
		"delete node":   {byNode, lifecycle.DeleteNode{Call: ada, World: world}},
		"session":       {byNode, lifecycle.SessionOpened{Epoch: uint64(m.drawn), Gateway: "g"}},
		"cordon":        {byNode, lifecycle.Schedule{Call: ada, On: "cordon"}},
		"drain node":    {byNode, lifecycle.Schedule{Call: ada, On: "drain"}},
		"uncordon":      {byNode, lifecycle.Schedule{Call: ada, On: "uncordon"}},
		"revoke":        {byNode, lifecycle.RevokeIdentity{Call: ada}},
		"expire":        {byNode, lifecycle.Expire{}},
		"sight":         {byMAC, lifecycle.Sighted{MAC: mac(i)}},
		"rescue":        {byMAC, lifecycle.BootVerb{Call: ada, On: netboot.SetMode, MAC: mac(i), Mode: netboot.Rescue}},
		"enroll":        {byMAC, lifecycle.BootVerb{Call: ada, On: netboot.Enroll, MAC: mac(i)}},
		"decommission":  {byMAC, lifecycle.BootVerb{Call: ada, On: netboot.Decommission, MAC: mac(i)}},
		"reactivate":    {byMAC, lifecycle.BootVerb{Call: ada, On: netboot.Reactivate, MAC: mac(i)}},
		"purge":         {byMAC, lifecycle.BootVerb{Call: ada, On: netboot.Purge, MAC: mac(i)}},
		"window":        {bySite, lifecycle.SetWindow{Call: ada, Kind: lifecycle.AutoApproveWindow, Window: lifecycle.Window{End: hour, Budget: true, Slots: 2}}},
		"close":         {bySite, lifecycle.SetWindow{Call: ada, Kind: lifecycle.AutoApproveWindow}},
		"policy": {bySite, lifecycle.SetPolicy{Call: ada, Policy: lifecycle.Policy{Network: netip.MustParsePrefix("10.0.0.0/29"), Enrollment: "enrol", Strict: !m.site.Policy.Strict},
			Reserved: m.reserved()}},
	}
}

func (m *model) reserved() []netip.Addr {
	var all []netip.Addr
	for _, b := range m.boots {
		if b.Address.IsValid() {
			all = append(all, b.Address)
		}
	}
	return all
}

// Whatever happens to several machines of one site, the door does what stepping the
// same values does: the same answers, and after each exactly the rows of those values,
// index rows and counts included.
func TestDoorIsAStepOfValues(t *testing.T) {
	took := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		now := noon
		st := storetest.Hostile(storetest.Memory("lab"))
		defer func() { _ = st.Close() }()
		door := control.New(control.Config{Store: st, Now: func() time.Time { return now }})
		m := newModel()
		m.step(rt, door, 0, "policy", now)
		for range rapid.IntRange(20, 80).Draw(rt, "steps") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, 0, 0, 0, time.Second, time.Second, time.Second, time.Minute, 10 * time.Minute, time.Hour}).Draw(rt, "later"))
			i := rapid.IntRange(0, machines-1).Draw(rt, "machine")
			names := m.moving(i, now, rapid.Bool().Draw(rt, "moving"))
			name := rapid.SampledFrom(names).Draw(rt, "input")
			if m.step(rt, door, i, name, now) {
				took[name]++
			}
		}
	})
	if testing.Short() {
		return // too few runs to meet every input
	}
	for name := range newModel().inputs(0, noon) {
		if took[name] == 0 {
			t.Errorf("%q never did anything", name)
		}
	}
}

// moving are the inputs that would change something, or all of them.
func (m *model) moving(i int, now time.Time, only bool) []string {
	all := m.inputs(i, now)
	names := slices.Sorted(maps.Keys(all))
	if !only {
		return names
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		if all[name].how == byNode && m.nodes[i].ID == "" {
			return true
		}
		_, s := m.target(i, all[name].how)
		out, err := lifecycle.Step(s, all[name].in, now)
		return err != nil || len(out.Facts) == 0
	})
	for _, rare := range []string{"approve setup", "drain", "complete", "fail", "refresh", "session", "delete node"} { // the long way of a setup
		if slices.Contains(names, rare) {
			names = append(names, rare, rare, rare, rare)
		}
	}
	return append(names, "sight")
}

// step does one input both ways, and reports whether it changed anything.
func (m *model) step(t *rapid.T, door *control.Door, i int, name string, now time.Time) bool {
	ask := m.inputs(i, now)[name]
	if ask.how == byNode && m.nodes[i].ID == "" {
		return false
	}
	target, s := m.target(i, ask.how)
	want, wantErr := lifecycle.Step(s, ask.in, now)
	done, err := door.Do(t.Context(), control.Call{Actor: "ada"}, target, control.Just(ask.in))
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("%s: the door says %v, the step %v", name, err, wantErr)
	}
	changed := err == nil && len(want.Facts) > 0
	if changed {
		m.put(i, ask.how, s, want.Next)
	}
	if len(done.Facts) != len(want.Facts) && err == nil {
		t.Fatalf("%s: the door tells %v, the step %v", name, done.Facts, want.Facts)
	}
	m.compare(t, name, door)
	return changed
}

// compare wants the store's rows to be those of the values.
func (m *model) compare(t *rapid.T, name string, door *control.Door) {
	want := m.rows()
	err := door.Store().View(t.Context(), func(r store.Reader) error {
		for _, prefix := range []string{lifecycle.RowNode, lifecycle.RowRegistration, lifecycle.RowBoot, lifecycle.RowSite, lifecycle.RowBy, lifecycle.RowDue} {
			for key, val := range r.Range(prefix, strings.TrimSuffix(prefix, "/")+"0") {
				if w, ok := want[key]; !ok || w != string(val) {
					return fmt.Errorf("after %s the row %s is %s, want %q", name, key, val, w)
				}
				delete(want, key)
			}
		}
		for key := range want {
			return fmt.Errorf("after %s the row %s is missing", name, key)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
