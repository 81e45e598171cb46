package lifecycle_test

import (
	"slices"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// ways are lives that end in each registration state.
func ways(t testing.TB) map[registration.State]*host {
	t.Helper()
	return map[registration.State]*host{
		registration.Absent: newHost(t), registration.Pending: pending(t), registration.Approved: approved(t),
		registration.Disabled: disabled(t), registration.AwaitingSetup: awaiting(t), registration.SettingUp: settingUpHost(t),
	}
}

// each runs a check on a fresh life in each registration state.
func each(t *testing.T, check func(h *host, s registration.State)) {
	for s := range ways(t) {
		t.Run(string(s), func(t *testing.T) { check(ways(t)[s], s) })
	}
}

// REG-2, REG-3, REG-4, EDGE-17: what an anonymous register does in each state.
func TestRegister(t *testing.T) {
	want := map[registration.State]struct {
		to   registration.State
		code sm.Code
	}{
		registration.Absent:        {to: registration.Pending},
		registration.Pending:       {to: registration.Pending},
		registration.Disabled:      {to: registration.Pending},
		registration.Approved:      {code: sm.Conflict},
		registration.AwaitingSetup: {code: sm.Conflict},
		registration.SettingUp:     {code: sm.Conflict},
	}
	each(t, func(h *host, s registration.State) {
		if want[s].code != "" {
			h.refused(want[s].code, h.register())
			return
		}
		nics := len(h.Node.NICs)
		in := h.register()
		h.do(in).reg(want[s].to)
		if r := h.Node.Reg; r.Code != in.Code || r.Poll != in.Poll || r.Bound != (registration.Key{}) || r.Waiting != "" {
			h.t.Errorf("the row has %+v", r)
		}
		if len(h.Node.NICs) != nics {
			h.t.Error("a register made a boot record (REG-2)")
		}
		if !h.Node.Live() || h.Node.Claims.Server != uuid {
			h.t.Errorf("the machine is no node with its UUID: %+v (MACH-1)", h.Node)
		}
	})
}

// REG-3: re-arming clears the old approval, keeps that there was one, and no
// window takes the row.
func TestRearm(t *testing.T) {
	h := installed(t)
	old := h.Node.Reg.Bound
	h.do(lifecycle.Disable{Call: ops}, h.window(lifecycle.AutoApproveWindow, time.Hour, 0))
	h.do(h.register()).reg(registration.Pending)
	h.do(h.register()).reg(registration.Pending) // and not at the second time either
	if r := h.Node.Reg; !r.Rearmed || !r.OnceApproved || r.Image != "" || r.Plan.Digest != (registration.Hash{}) {
		t.Errorf("re-armed row: %+v", r)
	}
	h.do(h.approve()).reg(registration.Approved)
	if h.Node.Reg.Bound == old || h.Node.Reg.Bound.ID == "" {
		t.Error("the old key lives on")
	}
}

// REG-4: on a pending row the old code and token are void.
func TestRegisterAgain(t *testing.T) {
	h := pending(t)
	old := h.approve()
	token := h.Node.Reg.Poll.Hash
	in := h.register()
	in.Inventory.Digest = registration.Hash{0x52}
	h.do(in)
	if h.Node.Reg.Inventory.Digest != in.Inventory.Digest {
		t.Error("sysinfo was not replaced")
	}
	h.refused(sm.InvalidInput, old)
	h.do(h.approve())
	h.refused(sm.Unauthenticated, lifecycle.Acknowledge{Token: token})
}

// REG-14, EDGE-16, EDGE-17: the code approves, once, within its hour.
func TestApprove(t *testing.T) {
	t.Run("right", func(t *testing.T) {
		h := pending(t)
		in := h.approve()
		h.do(in).reg(registration.Approved).told("registration.approved", lifecycle.KeyMade)
		if r := h.Node.Reg; r.Bound != in.Bound || r.ApprovedAt != h.now || r.Code != (registration.Expiring{}) {
			t.Errorf("approved row: %+v", r)
		}
	})
	t.Run("wrong", func(t *testing.T) {
		h := pending(t)
		in := h.approve()
		in.Hash[3]++
		h.refused(sm.InvalidInput, in)
		in.Hash = registration.Hash{}
		h.refused(sm.InvalidInput, in)
	})
	t.Run("expired", func(t *testing.T) {
		h := pending(t)
		in := h.approve()
		h.wait(time.Hour).refused(sm.InvalidInput, in)
		h.reg(registration.Pending).do(h.register())
		h.do(h.approve()).reg(registration.Approved)
	})
	t.Run("a re-arm's code is new", func(t *testing.T) {
		h := pending(t)
		in := h.approve()
		h.do(in, lifecycle.Disable{Call: ops}, h.register()).refused(sm.InvalidInput, in)
	})
	t.Run("elsewhere", func(t *testing.T) {
		for s, code := range map[registration.State]sm.Code{registration.Absent: sm.NotFound, registration.Approved: sm.InvalidState,
			registration.Disabled: sm.InvalidState, registration.AwaitingSetup: sm.InvalidState, registration.SettingUp: sm.InvalidState} {
			h := ways(t)[s]
			in := h.approve()
			in.Hash = registration.Hash{0x77}
			h.refused(code, in)
		}
	})
}

func TestApproveRepeated(t *testing.T) {
	h := pending(t)
	in := h.approve()
	h.do(in)
	again := in
	again.Bound = h.key(lifecycle.ScopeAgent)
	h.wait(time.Hour - time.Second).idles(again)
	other := again
	other.By = "else@example.org"
	h.refused(sm.InvalidState, other)
	h.wait(time.Second).refused(sm.InvalidState, again)
}

// REG-6: the plaintext waits for its poll, is gone once the agent has it, and
// a key that nobody took is revoked at the token's end.
func TestKeyDelivery(t *testing.T) {
	h := approved(t)
	token := h.Node.Reg.Poll.Hash
	if h.Node.Reg.Waiting == "" {
		t.Fatal("no key waits")
	}
	h.refused(sm.Unauthenticated, lifecycle.Acknowledge{Token: registration.Hash{1}})
	h.do(lifecycle.Acknowledge{Token: token})
	if h.Node.Reg.Waiting != "" {
		t.Error("the plaintext outlived its acknowledgement")
	}
	h.refused(sm.Unauthenticated, lifecycle.Acknowledge{Token: token})
	h.wait(48*time.Hour).refused(sm.Conflict, lifecycle.Expire{})
	if h.Node.Reg.Bound.ID == "" {
		t.Error("an acknowledged key lapsed")
	}
}

func TestKeyUsedIsDelivered(t *testing.T) {
	h := approved(t)
	h.do(lifecycle.Refresh{Key: h.Node.Reg.Bound.Hash, Inventory: sysinfo()})
	if r := h.Node.Reg; r.Waiting != "" || r.Poll != (registration.Expiring{}) {
		t.Errorf("the plaintext outlived the key's use: %+v", r)
	}
}

func TestKeyLapses(t *testing.T) {
	h := approved(t)
	id, hash := h.Node.Reg.Bound.ID, h.Node.Reg.Bound.Hash
	at, in, ok := lifecycle.Due(&h.Node)
	if want := dawn.Add(time.Hour); !ok || !at.Equal(want) {
		t.Fatalf("due %s, %t; want %s", at, ok, want)
	}
	h.refused(sm.Conflict, in)
	h.wait(time.Hour).do(in).reg(registration.Approved)
	if got := h.revoked(); len(got) != 1 || got[0] != id {
		t.Errorf("revoked %v, want %s", got, id)
	}
	h.refused(sm.Unauthenticated, lifecycle.Refresh{Key: hash, Inventory: sysinfo()})
	if _, _, due := lifecycle.Due(&h.Node); due {
		t.Error("still due")
	}
	// Disable plus register is the way back.
	h.do(lifecycle.Disable{Call: ops}, h.register())
	h.do(h.approve()).reg(registration.Approved)
}

// REG-7: an open window approves an absent or pending row and gives the key
// away in one commit.
func TestAutoApprove(t *testing.T) {
	for name, make := range map[string]func(testing.TB) *host{"absent": func(t testing.TB) *host { return newHost(t) }, "pending": pending} {
		t.Run(name, func(t *testing.T) {
			h := make(t).do(newHost(t).window(lifecycle.AutoApproveWindow, time.Hour, 1))
			in := h.register()
			h.do(in).reg(registration.Approved)
			if r := h.Node.Reg; r.Bound != in.Bound || r.Waiting != in.Waiting || r.Code != (registration.Expiring{}) || r.Poll != in.Poll {
				t.Errorf("row: %+v", r)
			}
			if h.Site.AutoApprove.Slots != 0 {
				t.Errorf("%d slots left", h.Site.AutoApprove.Slots)
			}
		})
	}
	t.Run("ended", func(t *testing.T) {
		h := newHost(t)
		h.do(h.window(lifecycle.AutoApproveWindow, time.Hour, 1)).wait(time.Hour)
		h.do(h.register()).reg(registration.Pending)
		if h.Site.AutoApprove.Slots != 1 {
			t.Error("a closed window lost a slot")
		}
	})
	t.Run("closed", func(t *testing.T) {
		h := newHost(t)
		h.do(h.window(lifecycle.AutoApproveWindow, time.Hour, 1), lifecycle.SetWindow{Call: ops, Kind: lifecycle.AutoApproveWindow}).told(lifecycle.WindowClosed)
		h.do(h.register()).reg(registration.Pending)
	})
	t.Run("a live machine takes no slot", func(t *testing.T) {
		h := approved(t)
		h.do(h.window(lifecycle.AutoApproveWindow, time.Hour, 1)).refused(sm.Conflict, h.register())
	})
}

// REG-8: what an announce does in each state; it never fails a relaying booter
// over a row that is not its own.
func TestAnnounce(t *testing.T) {
	each(t, func(h *host, s registration.State) {
		in := h.announce()
		in.Inventory.Digest = registration.Hash{0x53}
		switch s {
		case registration.Absent:
			h.do(in).reg(registration.AwaitingSetup)
			if f := h.Node.Reg.Fields(); f != registration.FieldAgentKey {
				h.t.Errorf("the row has {%s}", registration.Table.FieldNames(f))
			}
		case registration.AwaitingSetup:
			h.do(in).reg(s).told(lifecycle.InventoryChanged)
		default:
			h.idles(in).reg(s)
		}
		got := h.Node.Reg.Inventory.Digest == in.Inventory.Digest
		if refreshed := s == registration.Absent || s == registration.AwaitingSetup; got != refreshed {
			h.t.Errorf("refreshed: %t, want %t", got, refreshed)
		}
	})
}

// REG-8: each part of a row that awaits setup is refreshed; the same again is
// a ledger's, and no commit.
func TestAnnounceAgain(t *testing.T) {
	h := awaiting(t)
	h.idles(h.announce())
	in := h.announce()
	in.Inventory.Seen = []registration.MAC{registration.MAC(nicB)} // as many, but others
	h.do(in)
	if h.Node.Reg.Inventory.Seen[0] != registration.MAC(nicB) {
		t.Error("the MACs that the session was seen with were not refreshed (SET-18)")
	}
	in.AgentKey = registration.Hash{0xa7}
	h.do(in)
	if h.Node.Reg.AgentKey != in.AgentKey {
		t.Error("the agent key was not refreshed (SET-17)")
	}
}

// REG-9, EDGE-13: placeholders and foreign routing make no row.
func TestAnnounceRefusesPlaceholders(t *testing.T) {
	ones := registration.ServerID{}
	for i := range ones {
		ones[i] = 0xff
	}
	if id, err := registration.ParseServerID("03000200-0400-0500-0006-000700080009"); err == nil {
		t.Errorf("the placeholder was parsed as %s", id)
	}
	shipped := registration.ServerID{3, 0, 2, 0, 4, 0, 5, 0, 0, 6, 0, 7, 0, 8, 0, 9}
	for _, id := range []registration.ServerID{{}, ones, shipped, shipped.Swapped()} {
		h := newHost(t)
		in, reg := h.announce(), h.register()
		in.Routing, in.Server, reg.Server = id, id, id
		h.refused(sm.InvalidInput, in)
		h.refused(sm.InvalidInput, reg)
	}
	h := newHost(t)
	in := h.announce()
	in.Routing[15]++
	h.refused(sm.InvalidInput, in)
}

// EDGE-13: one row whatever the byte order; another machine's UUID never
// rewrites it (MACH-1).
func TestByteOrders(t *testing.T) {
	h := pending(t)
	in := h.register()
	in.Server = uuid.Swapped()
	h.do(in).reg(registration.Pending)
	in.Server[7]++
	h.refused(sm.Conflict, in)
	h = awaiting(t)
	ann := h.announce()
	ann.Server, ann.Routing = uuid.Swapped(), uuid.Swapped()
	h.do(ann).reg(registration.AwaitingSetup)
	ann.Server[7]++
	ann.Routing[7]++
	h.refused(sm.Conflict, ann)
}

// REG-10, EDGE-12: a strict site admits new UUIDs only in an open window, and
// its slots go to those alone.
func TestStrict(t *testing.T) {
	strict := func(p *lifecycle.Policy) { p.Strict = true }
	h := newHost(t, strict)
	h.refused(sm.Denied, h.announce())
	h.do(h.register()).reg(registration.Pending) // register keeps its claim code

	h = newHost(t, strict)
	h.do(h.window(lifecycle.EnrollWindow, time.Hour, 1), h.announce()).reg(registration.AwaitingSetup)
	if h.Site.Enroll.Slots != 0 {
		t.Error("no slot was taken")
	}
	h.do(h.window(lifecycle.EnrollWindow, time.Hour, 1)).idles(h.announce()) // a known UUID takes none
	if h.Site.Enroll.Slots != 1 {
		t.Error("a known UUID took a slot")
	}

	h = newHost(t, strict)
	h.do(h.window(lifecycle.EnrollWindow, time.Hour, 3)).wait(time.Hour).refused(sm.Denied, h.announce())
	h.do(h.window(lifecycle.AutoApproveWindow, time.Hour, 3)).refused(sm.Denied, h.announce())

	h = newHost(t) // without strict mode a window lends nothing
	h.do(h.window(lifecycle.EnrollWindow, time.Hour, 1), h.announce())
	if h.Site.Enroll.Slots != 1 {
		t.Error("a site that admits all took a slot")
	}
}

// REG-10: strangers are bounded, and so is each.
func TestStrangersAreBounded(t *testing.T) {
	few := func(p *lifecycle.Policy) { p.MaxUnapproved = 1 }
	h := newHost(t, few).do(newHost(t).register())
	site := h.Site
	if site.Unapproved != 1 {
		t.Fatalf("%d unapproved rows, want 1", site.Unapproved)
	}
	second := newHost(t, few)
	second.Site = site
	second.refused(sm.RateLimited, second.register())
	second.refused(sm.RateLimited, second.announce())
	h.do(h.register()) // a known UUID is no stranger
	h.do(h.approve())
	second.Site = h.Site
	second.do(second.announce()).reg(registration.AwaitingSetup)

	h = pending(t)
	in := h.register()
	in.Recent = lifecycle.MaxReregister
	h.refused(sm.RateLimited, in)
}

// REG-10: the count of rows never approved follows every way out.
func TestUnapprovedIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		h    *host
		want int
	}{
		"pending": {pending(t), 1}, "approved": {approved(t), 0}, "disabled": {disabled(t), 0}, "awaiting": {awaiting(t), 1},
		"setting up": {settingUpHost(t), 1}, "installed": {installed(t), 0},
		"deleted":                {awaiting(t).do(lifecycle.DeleteRow{Call: ops}), 0},
		"disabled before":        {pending(t).do(lifecycle.Disable{Call: ops}), 1},
		"disabled, then gone":    {pending(t).do(lifecycle.Disable{Call: ops}, lifecycle.DeleteRow{Call: ops}), 0},
		"reset after approval":   {disabled(t).do(lifecycle.FactoryReset{Call: ops, World: idle}), 0},
		"approved by a window":   {newHost(t).do(newHost(t).window(lifecycle.AutoApproveWindow, time.Hour, 0), newHost(t).register()), 0},
		"its setup has failed":   {func() *host { h := drained(t); return h.do(h.ended(false)) }(), 1},
		"re-armed once approved": {func() *host { h := disabled(t); return h.do(h.register()) }(), 0},
	} {
		if c.h.Site.Unapproved != c.want {
			t.Errorf("%s: %d unapproved, want %d", name, c.h.Site.Unapproved, c.want)
		}
	}
}

// REG-15: the bound key refreshes its own approved row; no other key does.
func TestRefresh(t *testing.T) {
	h := approved(t)
	in := lifecycle.Refresh{Key: h.Node.Reg.Bound.Hash, Inventory: sysinfo()}
	in.Inventory.Digest = registration.Hash{0x54}
	h.do(in)
	if h.Node.Reg.Inventory.Digest != in.Inventory.Digest {
		t.Error("sysinfo was not refreshed")
	}
	h.idles(in)
	in.Key[0]++
	h.refused(sm.Unauthenticated, in)
	for _, s := range []registration.State{registration.Absent, registration.Pending, registration.Disabled, registration.AwaitingSetup} {
		ways(t)[s].refused(sm.Unauthenticated, lifecycle.Refresh{Inventory: sysinfo()}) // no key is no key of anybody
	}
}

// REG-16: settings move no state, and the same settings are no change.
func TestConfigure(t *testing.T) {
	set := lifecycle.Configure{Call: ops, Settings: registration.Settings{Labels: map[string]string{"rack": "a7"}, Reservoir: 8 << 30, RootHash: "$6$salt$hash"}}
	each(t, func(h *host, s registration.State) {
		if s == registration.Absent {
			h.refused(sm.NotFound, set)
			return
		}
		h.do(set).reg(s).told(lifecycle.SettingsChanged, lifecycle.NodeLabeled).idles(set)
		other := set
		other.Settings.Reservoir++
		if h.do(other).told(lifecycle.SettingsChanged); slices.ContainsFunc(h.facts, func(f lifecycle.Fact) bool { return f.Name == lifecycle.NodeLabeled }) {
			h.t.Errorf("labels that stayed are told: %v", h.facts)
		}
		h.do(lifecycle.Configure{Call: ops})
		if s := h.Node.Reg.Settings; len(s.Labels) != 0 || s.Reservoir != 0 || s.RootHash != "" {
			h.t.Errorf("not cleared: %+v", s)
		}
	})
}

// MACH-1, MACH-2: a path that names a known machine adds its axis to that
// node; the IDs stay.
func TestOneNodeByManyPaths(t *testing.T) {
	h := newHost(t)
	h.do(lifecycle.Join{NewID: aNode, Claims: lifecycle.Claims{EK: "ek", Server: uuid}, Certificate: "c1"}).prov(provision.Adopting)
	reg := h.register()
	reg.NewID = another
	h.do(reg).reg(registration.Pending)
	if h.Node.ID != aNode || h.Node.Prov.State != provision.Adopting {
		t.Errorf("node %s in %s", h.Node.ID, h.Node.Prov.State)
	}

	h = approved(t).do(lifecycle.SessionOpened{Epoch: 1, Gateway: "gw"}) // the first session after approval
	if h.prov(provision.Adopting); h.Node.ID != aNode {
		t.Error("the node changed its ID")
	}
	// Before approval no session begins the axis.
	pending(t).refused(sm.Unauthenticated, lifecycle.SessionOpened{Epoch: 1, Gateway: "gw"})

	// A sighting makes no node.
	h = newHost(t).do(lifecycle.Sighted{MAC: nicA})
	if h.Node.ID != "" || h.boot(nicA, netboot.Enrolling).Owner != (netboot.Owner{}) {
		t.Errorf("a sighting made a node or an owner: %+v", h.Node)
	}

	for name, in := range map[string]lifecycle.Input{
		"listed": lifecycle.Listed{NewID: aNode, Found: []lifecycle.NodeID{aNode, another}, Device: "d"},
		"join":   lifecycle.Join{NewID: aNode, Found: []lifecycle.NodeID{another}, Certificate: "c"},
		"enroll": lifecycle.EnrollMetal{Call: ops, Found: []lifecycle.NodeID{another}, Metal: lifecycle.Metal{BMC: "b", ReportsMACs: true}},
	} {
		t.Run(name, func(t *testing.T) { approved(t).refused(sm.Conflict, in) }) // two live nodes are never merged
	}
}

// EDGE-4: whatever leads back to a retired node waits for its delete.
func TestRetiredNodesStayOut(t *testing.T) {
	h := retiredDevice(t).reg(registration.Disabled)
	h.refused(sm.Conflict, h.register())
	h.refused(sm.Conflict, lifecycle.FactoryReset{Call: ops, World: idle})
	h.refused(sm.Conflict, lifecycle.Join{NewID: another, Certificate: "c9"})
	h.do(lifecycle.DeleteNode{Call: ops, World: idle, Gone: true})

	metal := retiredMetal(t)
	metal.refused(sm.Conflict, metal.register())
	metal.idles(metal.announce()) // a booter is told nothing
}
