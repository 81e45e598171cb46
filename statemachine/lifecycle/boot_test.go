package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// bootWays are lives with nicA's record in each state.
func bootWays(t testing.TB) map[netboot.State]*host {
	t.Helper()
	strict := func(p *lifecycle.Policy) { p.Strict = true }
	return map[netboot.State]*host{
		netboot.Absent:         newHost(t),
		netboot.Discovered:     newHost(t, strict).do(lifecycle.Sighted{MAC: nicA}),
		netboot.Enrolling:      newHost(t).do(lifecycle.Sighted{MAC: nicA}),
		netboot.Enrolled:       installed(t),
		netboot.Decommissioned: newHost(t).do(lifecycle.Sighted{MAC: nicA}, verbOn(nicA, netboot.Decommission)),
	}
}

// BOOT-4, BOOT-5, BOOT-12, EDGE-17, EDGE-19: each operator's verb on each
// state of an unbound record, and on an enrolled one, which is bound. A want is
// a state, a code, or "same".
func TestBootVerbs(t *testing.T) {
	states := []netboot.State{netboot.Absent, netboot.Discovered, netboot.Enrolling, netboot.Enrolled, netboot.Decommissioned}
	for on, want := range map[netboot.Kind][5]string{
		netboot.Enroll:       {"enrolling", "enrolling", "same", "INVALID_STATE", "INVALID_STATE"},
		netboot.Decommission: {"NOT_FOUND", "decommissioned", "decommissioned", "CONFLICT", "same"},
		netboot.Reactivate:   {"NOT_FOUND", "INVALID_STATE", "INVALID_STATE", "INVALID_STATE", "discovered"},
		netboot.Purge:        {"NOT_FOUND", "INVALID_STATE", "INVALID_STATE", "INVALID_STATE", "absent"},
		netboot.SetMode:      {"NOT_FOUND", "discovered", "enrolling", "enrolled", "decommissioned"},
	} {
		for i, from := range states {
			t.Run(string(on)+"/"+string(from), func(t *testing.T) {
				h := bootWays(t)[from]
				in := verbOn(nicA, on)
				in.Mode = netboot.Rescue
				switch w := want[i]; {
				case w == "same":
					h.idles(in).boot(nicA, from)
				case strings.ToUpper(w) == w:
					h.refused(sm.Code(w), in)
				default:
					h.do(in).boot(nicA, netboot.State(w))
				}
			})
		}
	}
}

// BOOT-1, BOOT-19: a sighting moves no record but the discovered one that
// policy admits, and each is judged anew.
func TestSighted(t *testing.T) {
	for from, h := range bootWays(t) {
		was := h.record(nicA)
		switch in := (lifecycle.Sighted{MAC: nicA, Product: netboot.ServerID(uuid)}); from {
		case netboot.Absent:
			h.do(in)
			if b := h.boot(nicA, netboot.Enrolling); b.Product != in.Product || b.Owner != (netboot.Owner{}) {
				t.Errorf("%+v", b)
			}
		default:
			if h.idles(in); h.record(nicA) != was {
				t.Errorf("%s: %+v", from, h.record(nicA))
			}
		}
	}
	h := bootWays(t)[netboot.Discovered]
	h.do(lifecycle.SetPolicy{Call: ops, Policy: admin}, lifecycle.Sighted{MAC: nicA}).boot(nicA, netboot.Enrolling)
}

// BOOT-7, BOOT-19: who is admitted.
func TestAdmission(t *testing.T) {
	for name, c := range map[string]struct {
		allow []string
		tag   string
		spoke bool
		want  netboot.State
	}{
		"an empty list admits all":      {nil, "", false, netboot.Enrolling},
		"a prefix":                      {[]string{"52:54:00"}, "", false, netboot.Enrolling},
		"another prefix":                {[]string{"52:55"}, "", false, netboot.Discovered},
		"the whole MAC":                 {[]string{nicA.String()}, "", false, netboot.Enrolling},
		"a tag in any case":             {[]string{"ABC123"}, "abc123", false, netboot.Enrolling},
		"a tag that inventory lacks":    {[]string{"ABC123"}, "", false, netboot.Discovered},
		"a tag's beginning":             {[]string{"ABC123"}, "ABC", false, netboot.Discovered},
		"a metal machine's UUID or MAC": {nil, "", true, netboot.Discovered},
		"in the list and still spoken":  {[]string{"52"}, "", true, netboot.Discovered},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, func(p *lifecycle.Policy) { p.Allow = c.allow })
			h.do(lifecycle.Sighted{MAC: nicA, Tag: c.tag, Spoken: c.spoke})
			if b := h.boot(nicA, c.want); b.Address.IsValid() != (c.want == netboot.Enrolling) {
				t.Errorf("address %s", b.Address)
			}
			if c.spoke {
				in := verbOn(nicA, netboot.Enroll)
				in.Spoken = true
				h.refused(sm.Conflict, in) // nor by hand (EDGE-17)
			}
		})
	}
}

// BOOT-19: a record that kept an address keeps it.
func TestAddressIsKept(t *testing.T) {
	h := newHost(t).do(lifecycle.Sighted{MAC: nicA}, lifecycle.Sighted{MAC: nicB})
	was := h.record(nicB)
	free := h.Site.Pool.Count()
	h.do(verbOn(nicB, netboot.Decommission), verbOn(nicB, netboot.Reactivate))
	if b := h.boot(nicB, netboot.Discovered); b.Address != was.Address || b.Networking != was.Networking {
		t.Errorf("%+v, was %+v", b, was)
	}
	h.do(lifecycle.Sighted{MAC: nicB}).boot(nicB, netboot.Enrolling)
	if h.record(nicB).Address != was.Address || h.Site.Pool.Count() != free {
		t.Errorf("%+v; %d free, were %d", h.record(nicB), h.Site.Pool.Count(), free)
	}
	h.do(verbOn(nicB, netboot.Decommission), verbOn(nicB, netboot.Purge))
	if h.Site.Pool.Count() != free+1 {
		t.Error("purge did not free the address")
	}
}

// BOOT-4, EDGE-20: reactivate clears every binding.
func TestReactivate(t *testing.T) {
	h := installed(t).do(lifecycle.Disable{Call: ops}, lifecycle.DeleteRow{Call: ops, World: idle})
	h.boot(nicA, netboot.Decommissioned)
	h.do(verbOn(nicA, netboot.Reactivate))
	if b := h.boot(nicA, netboot.Discovered); b.Owner != (netboot.Owner{}) || b.Image != "" || b.Candidate != "" || !b.Address.IsValid() {
		t.Errorf("%+v", b)
	}
}

// BOOT-16, EDGE-19: discovered records are bounded; the oldest that never held
// an address makes room, and where none can, the sighting stays a ledger's.
func TestEviction(t *testing.T) {
	few := func(p *lifecycle.Policy) { p.Strict, p.MaxDiscovered = true, 2 }
	third := netboot.MAC{0x52, 0x54, 0, 0, 0, 0xc}
	full := func() *host { return newHost(t, few).do(lifecycle.Sighted{MAC: nicA}, lifecycle.Sighted{MAC: nicB}) }

	h := full().do(lifecycle.Sighted{MAC: third, Oldest: nicA})
	h.boot(nicA, netboot.Absent)
	h.boot(nicB, netboot.Discovered)
	if h.boot(third, netboot.Discovered); h.Site.Discovered != 2 || len(h.Node.NICs) != 2 {
		t.Errorf("%d discovered, records %+v", h.Site.Discovered, h.Node.NICs)
	}
	full().idles(lifecycle.Sighted{MAC: third}).boot(third, netboot.Absent)
	full().idles(lifecycle.Sighted{MAC: third, Oldest: third}).boot(third, netboot.Absent)

	h = full() // the oldest holds an address
	h.do(verbOn(nicA, netboot.Enroll), verbOn(nicA, netboot.Decommission), verbOn(nicA, netboot.Reactivate))
	h.idles(lifecycle.Sighted{MAC: third, Oldest: nicA}).boot(nicA, netboot.Discovered)

	h = full() // a known one needs no room
	h.idles(lifecycle.Sighted{MAC: nicA, Oldest: nicB}).boot(nicB, netboot.Discovered)
	h.do(lifecycle.SetPolicy{Call: ops, Policy: admin}, lifecycle.Sighted{MAC: nicA})
	if h.Site.Discovered != 1 {
		t.Errorf("%d discovered after an admission", h.Site.Discovered)
	}
}

// entry is a boot entry of the attempt that holds the machine.
func (h *host) entry(mac netboot.MAC) lifecycle.SetEntry {
	return lifecycle.SetEntry{Epoch: lifecycle.SlotOf(&h.Node).Epoch, MAC: mac, Image: "ramdisk", Args: "quiet"}
}

// BOOT-14, EDGE-19: the holder's entry takes an address and a binding, and
// goes with its attempt, however that ends; the address is kept.
func TestBootEntry(t *testing.T) {
	for name, end := range map[string]func(*host){
		"success":  func(h *host) { h.do(h.reported(true)) },
		"failure":  func(h *host) { h.do(h.reported(false)) },
		"abort":    func(h *host) { h.do(verb(provision.Abort)) },
		"deadline": func(h *host) { at, in, _ := lifecycle.Due(&h.Node); h.now = at; h.do(in) },
		"takeover": func(h *host) { h.do(verb(provision.Retire)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t).do(lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: lifecycle.Metal{BMC: "10.9.0.1", MACs: []netboot.MAC{nicA}}})
			h.do(h.entry(nicA)).idles(h.entry(nicA))
			b := h.boot(nicA, netboot.Discovered)
			if !b.Address.IsValid() || b.Entry.Image != "ramdisk" || b.Owner.Node != string(aNode) {
				t.Fatalf("%+v", b)
			}
			h.idles(lifecycle.Sighted{MAC: nicA}) // auto-enroll passes by it
			end(h)
			if is := h.record(nicA); is.Entry != (netboot.Entry{}) || is.Address != b.Address || is.Owner != b.Owner {
				t.Errorf("after the end: %+v", is)
			}
		})
	}
	h := enrolledMetal(t)
	h.do(h.entry(nicB)).told("boot.discovered") // an absent MAC: created and bound
	if b := h.boot(nicB, netboot.Discovered); b.Owner.Node != string(aNode) {
		t.Errorf("%+v", b)
	}
	in := h.entry(nicA)
	in.Epoch++
	h.refused(sm.Conflict, in)
	in = h.entry(nicA)
	in.Image = "../x"
	h.refused(sm.InvalidInput, in)
	ready(t).refused(sm.Conflict, lifecycle.SetEntry{MAC: nicA, Image: "ramdisk"}) // nobody holds it
	pending(t).refused(sm.Conflict, lifecycle.SetEntry{Epoch: 1, MAC: nicA, Image: "ramdisk"})
	newHost(t).refused(sm.NotFound, lifecycle.SetEntry{Epoch: 1, MAC: nicA, Image: "ramdisk"})
}

// BOOT-14, EDGE-17: where no entry may be.
func TestBootEntryRefused(t *testing.T) {
	h := enrolledMetal(t)
	for name, c := range map[string]struct {
		code sm.Code
		b    netboot.Record
	}{
		"decommissioned": {sm.InvalidState, netboot.Record{At: netboot.At{State: netboot.Decommissioned}, MAC: nicB}},
		"another's":      {sm.Conflict, netboot.Record{At: netboot.At{State: netboot.Discovered}, MAC: nicB, Owner: netboot.Owner{Node: string(another)}}},
		"a candidate":    {sm.Conflict, netboot.Record{At: netboot.At{State: netboot.Discovered}, MAC: nicB, Candidate: string(aNode)}},
	} {
		t.Run(name, func(t *testing.T) {
			m := *h
			m.t, m.Node.NICs = t, append(slices.Clip(h.Node.NICs), c.b)
			m.refused(c.code, m.entry(nicB))
		})
	}
	empty := *h
	empty.Site.Pool.Free = nil
	empty.refused(sm.Unavailable, empty.entry(nicA))
	empty.refused(sm.Unavailable, verbOn(nicB, netboot.Enroll))
}

// byUUID is a metal machine that waits for its MAC.
func byUUID(t testing.TB) *host {
	t.Helper()
	return newHost(t).do(lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: lifecycle.Metal{BMC: "10.9.0.1", Server: uuid}},
		lifecycle.Sighted{MAC: nicA, Product: netboot.ServerID(uuid), Spoken: true})
}

// BOOT-11, BOOT-15, BOOT-17, JOINT-10: from sighting to candidate to binding.
func TestConfirmMAC(t *testing.T) {
	propose := lifecycle.Propose{Proposal: lifecycle.Proposal{MAC: nicA, Cycled: true}}
	confirm := lifecycle.ConfirmMAC{Call: ops, MAC: nicA}

	h := byUUID(t).do(propose).told(lifecycle.MACDiscovered)
	if b := h.boot(nicA, netboot.Discovered); b.Candidate != string(aNode) || b.Owner != (netboot.Owner{}) {
		t.Errorf("candidate: %+v", b)
	}
	h.idles(lifecycle.Sighted{MAC: nicA}) // never admitted before it is confirmed
	h.refused(sm.Conflict, h.entry(nicA))
	h.refused(sm.Conflict, verbOn(nicA, netboot.Enroll))
	h.do(confirm)
	if i := slices.IndexFunc(h.facts, func(f lifecycle.Fact) bool { return f.Name == lifecycle.MACConfirmed }); i < 0 || h.facts[i].MAC != nicA || h.facts[i].Why != "the candidate" {
		t.Errorf("facts %v", h.facts)
	}
	if b := h.boot(nicA, netboot.Discovered); b.Owner.Node != string(aNode) || b.Candidate != "" {
		t.Errorf("bound: %+v", b)
	}
	h.refused(sm.InvalidState, confirm) // it has MACs now
	h.do(h.entry(nicA))

	h = byUUID(t) // any MAC that the operator knows
	h.do(lifecycle.ConfirmMAC{Call: ops, MAC: nicB}).told(lifecycle.MACConfirmed).boot(nicB, netboot.Discovered)
	h.do(lifecycle.Sighted{MAC: nicB}).boot(nicB, netboot.Discovered) // a metal machine's MAC stays silent

	trusted := propose
	trusted.Trusted = true
	h = byUUID(t).do(trusted)
	if b := h.boot(nicA, netboot.Discovered); b.Owner.Node != string(aNode) || b.Candidate != "" {
		t.Errorf("trusted network: %+v", b)
	}
	for name, edit := range map[string]func(*lifecycle.Propose){
		"not cycled": func(p *lifecycle.Propose) { p.Cycled = false }, "late": func(p *lifecycle.Propose) { p.Late = true },
		"a second MAC": func(p *lifecycle.Propose) { p.SecondMAC = true }, "a second machine": func(p *lifecycle.Propose) { p.SecondOwner = true },
		"trusted and late": func(p *lifecycle.Propose) { p.Trusted, p.Late = true, true },
	} {
		t.Run(name, func(t *testing.T) { in := propose; edit(&in); byUUID(t).refused(sm.Conflict, in) })
	}
	byUUID(t).refused(sm.NotFound, lifecycle.Propose{Proposal: lifecycle.Proposal{MAC: nicB, Cycled: true}}) // never seen
}

// BOOT-17, EDGE-20: what confirm-mac and metal enroll refuse.
func TestBindingRefused(t *testing.T) {
	for name, c := range map[string]struct {
		code sm.Code
		b    netboot.Record
	}{
		"another machine's":       {sm.Conflict, netboot.Record{At: netboot.At{State: netboot.Discovered}, Owner: netboot.Owner{Node: string(another)}}},
		"another's, enrolled":     {sm.Conflict, netboot.Record{At: netboot.At{State: netboot.Enrolled}, Owner: netboot.Owner{Node: string(another)}, Image: image}},
		"enrolling, and nobody's": {sm.Conflict, netboot.Record{At: netboot.At{State: netboot.Enrolling}}},
		"enrolled, and nobody's":  {sm.Conflict, netboot.Record{At: netboot.At{State: netboot.Enrolled}, Image: image}},
		"decommissioned":          {sm.InvalidState, netboot.Record{At: netboot.At{State: netboot.Decommissioned}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.b.MAC = nicB
			h := byUUID(t)
			h.Node.NICs = append(slices.Clip(h.Node.NICs), c.b)
			h.refused(c.code, lifecycle.ConfirmMAC{Call: ops, MAC: nicB})
			m := newHost(t)
			m.Node.NICs = []netboot.Record{c.b}
			m.refused(c.code, lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: lifecycle.Metal{BMC: "b", MACs: []netboot.MAC{nicB}}})
		})
	}
	newHost(t).refused(sm.NotFound, lifecycle.ConfirmMAC{Call: ops, MAC: nicA})
	approved(t).refused(sm.NotFound, lifecycle.ConfirmMAC{Call: ops, MAC: nicA}) // no BMC binding
	retiredMetal(t).refused(sm.InvalidState, lifecycle.ConfirmMAC{Call: ops, MAC: nicB})
}

// BOOT-5: mode rescue moves no state, and stays until it is set back.
func TestRescueMode(t *testing.T) {
	in := verbOn(nicA, netboot.SetMode)
	in.Mode = netboot.Rescue
	h := installed(t).do(in).idles(in)
	h.do(lifecycle.Disable{Call: ops}, lifecycle.FactoryReset{Call: ops, World: idle})
	if b := h.boot(nicA, netboot.Enrolling); b.Mode != netboot.Rescue {
		t.Errorf("mode %q", b.Mode)
	}
	in.Mode = netboot.Normal
	if h.do(in); h.record(nicA).Mode != netboot.Normal {
		t.Errorf("mode %q", h.record(nicA).Mode)
	}
	in.Mode = "party"
	h.refused(sm.InvalidInput, in)
	h.reg(registration.AwaitingSetup)
}
