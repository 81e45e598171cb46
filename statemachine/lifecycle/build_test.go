package lifecycle_test

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// bgen draws inputs for a state: mostly ones that make sense there, some that
// do not.
type bgen struct {
	*rapid.T
	s     *lifecycle.State
	now   time.Time
	drawn uint16 // secrets drawn so far
}

// bone draws one of few.
func bone[V any](g *bgen, of ...V) V { return of[rapid.IntRange(0, len(of)-1).Draw(g.T, "of")] }

// rare is true once in n.
func (g *bgen) rare(n int) bool { return rapid.IntRange(1, n).Draw(g.T, "rare") == n }

// epoch is the current one, most of the time.
func (g *bgen) epoch(current uint64) uint64 {
	if !g.rare(4) {
		return current
	}
	return bone(g, 0, current-1, current+1, g.s.Site.Epoch+1, 1<<63)
}

// secret is a hash that no other draw of the run gives.
func (g *bgen) secret() registration.Hash {
	g.drawn++
	return registration.Hash{0xdd, byte(g.drawn >> 8), byte(g.drawn)}
}

func (g *bgen) name() string {
	sum := g.secret()
	return "n" + string('a'+rune(sum[1])) + string('0'+rune(sum[2]/10)) + string('0'+rune(sum[2]%10))
}

// presented is the hash itself, most of the time.
func (g *bgen) presented(h registration.Hash) registration.Hash {
	if g.rare(6) {
		return g.secret()
	}
	return h
}

func (g *bgen) call() lifecycle.Call {
	c := lifecycle.Call{By: "ops", Operator: true}
	if g.rare(8) {
		c = bone(g, lifecycle.Call{}, lifecycle.Call{By: "key"}, lifecycle.Call{By: "ops", Version: 1, Operator: true},
			lifecycle.Call{By: "ops", Operator: true, Version: g.s.Node.Version, Reason: "why"})
	}
	return c
}

func (g *bgen) world() lifecycle.World {
	w := idle
	w.Off = bone(g, true, true, false)
	if !g.rare(4) {
		return w
	}
	switch rapid.IntRange(0, 7).Draw(g.T, "world") {
	case 0:
		w.Missing = "placement"
	case 1:
		w.Open, w.Live = 2, 1
	case 2:
		w.Tenant = 1
	case 3:
		w.Agentless = true
	case 4:
		w.Quorum = 2
	case 5:
		w.Staged = nil
	case 6:
		w.Migrations = 1
	default:
		w = lifecycle.World{}
	}
	return w
}

func (g *bgen) mac() netboot.MAC {
	if g.rare(20) {
		return bone(g, netboot.MAC{}, netboot.MAC{1, 2, 3, 4, 5, 6})
	}
	return bone(g, nicA, nicB)
}

func (g *bgen) newID() lifecycle.NodeID {
	if g.rare(20) {
		return "node_no"
	}
	return aNode
}

func (g *bgen) server() registration.ServerID {
	if g.rare(12) {
		return bone(g, registration.ServerID{}, uuid.Swapped(), registration.ServerID{9, 8, 7})
	}
	return uuid
}

func (g *bgen) found() []lifecycle.NodeID {
	if g.rare(10) {
		return []lifecycle.NodeID{another}
	}
	return nil
}

func (g *bgen) inventory() registration.Inventory {
	inv := sysinfo()
	inv.Digest = bone(g, registration.Hash{0x51}, registration.Hash{0x52})
	if g.rare(6) {
		inv.Serials = []string{bone(g, "disk-9", "\xff", "a\nb")}
	}
	return inv
}

func (g *bgen) key(scope string) registration.Key {
	return registration.Key{ID: g.name(), Hash: g.secret(), Scope: scope}
}

func (g *bgen) until() time.Time {
	return g.now.Add(bone(g, time.Hour, time.Hour, time.Minute, 2*time.Hour, -time.Hour))
}

// input draws an input of any kind, every other time from the area that the
// state waits for.
func (g *bgen) input() lifecycle.Input {
	if next := g.next(); next != nil && bone(g, true, false) {
		return next()
	}
	list := [...]func() lifecycle.Input{g.registration, g.setup, g.leave, g.identity, g.boot, g.metal, g.workflow, g.owner, g.schedule, g.site}
	return list[rapid.IntRange(0, len(list)-1).Draw(g.T, "area")]()
}

// next is the area that may move the state on.
func (g *bgen) next() func() lifecycle.Input {
	n := &g.s.Node
	switch slot := lifecycle.SlotOf(n); slot.Holder {
	case lifecycle.Setup:
		return g.setup
	case lifecycle.Workflow:
		return g.workflow
	case lifecycle.OwnerRun, lifecycle.Retirement:
		return g.owner
	}
	switch {
	case n.Reg.State == registration.Pending, n.Reg.Waiting != "":
		return g.registration
	case n.Reg.State == registration.AwaitingSetup:
		return g.setup
	case n.Claims.Device != "":
		return g.owner
	case n.Claims.BMC != "":
		return g.metal
	}
	return nil
}

func (g *bgen) registration() lifecycle.Input {
	r := &g.s.Node.Reg
	switch rapid.IntRange(0, 5).Draw(g.T, "registration") {
	case 0:
		return lifecycle.Register{NewID: g.newID(), Server: g.server(), Inventory: g.inventory(), Bound: g.key("agent"), Waiting: "sealed-key",
			Code: registration.Expiring{Hash: g.secret(), Until: g.until()}, Poll: registration.Expiring{Hash: g.secret(), Until: g.until()}, Recent: bone(g, 0, 0, 10)}
	case 1:
		return lifecycle.Announce{NewID: g.newID(), Routing: uuid, Server: g.server(), Inventory: g.inventory(), AgentKey: bone(g, agentKey, agentKey, registration.Hash{7}, registration.Hash{})}
	case 2:
		return lifecycle.Approve{Call: g.call(), Hash: g.presented(r.Code.Hash), Bound: g.key("agent"), Waiting: "sealed-key"}
	case 3:
		return lifecycle.Refresh{Key: g.presented(r.Bound.Hash), Inventory: g.inventory()}
	case 4:
		return lifecycle.Acknowledge{Token: g.presented(r.Poll.Hash)}
	}
	return lifecycle.Configure{Call: g.call(), Settings: registration.Settings{Labels: bone(g, nil, map[string]string{"rack": "1"}, map[string]string{"ingot.dev/x": "1"}), Reservoir: bone(g, uint64(0), 1<<30), RootHash: bone(g, registration.Sealed(""), "$6$x")}}
}

func (g *bgen) setup() lifecycle.Input {
	r := &g.s.Node.Reg
	switch rapid.IntRange(0, 3).Draw(g.T, "setup") {
	case 0:
		plan := registration.Plan{Digest: registration.Hash{9}, Inventory: r.Inventory.Digest, Serials: bone(g, []string{"disk-1"}, []string{"disk-1"}, []string{"disk-7"}), Hostname: bone(g, "m1", "m1", "m1", "-m")}
		mint := lifecycle.Mint{Bound: g.key("agent"), Tickets: [3]registration.Key{g.key("ticket"), g.key("ticket"), g.key("ticket")}, Sealed: "sealed-bundle"}
		return lifecycle.ApproveSetup{Call: g.call(), World: g.world(), Shown: g.presented(plan.Digest), AgentKey: g.presented(r.AgentKey), MACs: covered(r), Realized: plan, Mint: mint}
	case 1:
		return lifecycle.Drain{Epoch: g.epoch(r.Epoch), AgentKey: bone(g, r.AgentKey, r.AgentKey, registration.Hash{7}), Held: !g.rare(5)}
	}
	return lifecycle.SetupReport{Epoch: g.epoch(r.Epoch), OK: bone(g, true, true, false), Why: bone(g, "", "zpool", "\xff\xfe")}
}

func (g *bgen) leave() lifecycle.Input {
	switch rapid.IntRange(0, 4).Draw(g.T, "leave") {
	case 0:
		return lifecycle.Disable{Call: g.call()}
	case 1:
		return lifecycle.FactoryReset{Call: g.call(), World: g.world(), NewID: g.newID()}
	case 2:
		return lifecycle.DeleteRow{Call: g.call(), World: g.world()}
	case 3:
		return lifecycle.DeleteNode{Call: g.call(), World: g.world(), Gone: bone(g, true, false)}
	}
	return lifecycle.RevokeIdentity{Call: g.call()}
}

func (g *bgen) identity() lifecycle.Input {
	n := &g.s.Node
	live := "none"
	if len(n.Identity.Live) > 0 {
		live = n.Identity.Live[0]
	}
	switch rapid.IntRange(0, 6).Draw(g.T, "identity") {
	case 0:
		claims := lifecycle.Claims{EK: bone(g, "", "ek-1", "ek-1", "ek-2"), HardwareKey: bone(g, "", "hw-1", "\xff"), Server: bone(g, uuid, registration.ServerID{}, uuid.Swapped(), registration.ServerID{9})}
		return lifecycle.Join{NewID: g.newID(), Found: g.found(), Claims: claims, Certificate: bone(g, g.name(), g.name(), live)}
	case 1:
		return lifecycle.Renew{Generation: g.epoch(n.Identity.Generation), Serial: bone(g, live, live, "none"), Next: bone(g, g.name(), g.name(), live, "")}
	case 2:
		return lifecycle.SessionOpened{Epoch: bone(g, n.Conn.Session+1, n.Conn.Session+1, n.Conn.Session, 0), Gateway: "gw"}
	case 3:
		return lifecycle.SessionClosed{Epoch: g.epoch(n.Conn.Session)}
	case 4:
		return lifecycle.Judged{Session: g.epoch(n.Conn.Session), Link: bone(g, lifecycle.Disconnected, lifecycle.Unreachable, lifecycle.Lost, lifecycle.Connected, ""), MayLose: bone(g, true, false)}
	}
	if g.rare(2) {
		return lifecycle.Quarantine{Certificate: live}
	}
	return lifecycle.BeginAcceptance{}
}

func (g *bgen) boot() lifecycle.Input {
	switch rapid.IntRange(0, 4).Draw(g.T, "boot") {
	case 0:
		return lifecycle.Sighted{MAC: g.mac(), Product: netboot.ServerID(uuid), Spoken: g.rare(4), Oldest: bone(g, netboot.MAC{}, nicA, nicB)}
	case 1:
		on := bone(g, netboot.Enroll, netboot.Decommission, netboot.Reactivate, netboot.Purge, netboot.SetMode, netboot.Admit)
		return lifecycle.BootVerb{Call: g.call(), On: on, MAC: g.mac(), Mode: bone(g, netboot.Normal, netboot.Rescue, "loud"), Spoken: g.rare(5)}
	case 2:
		return lifecycle.SetEntry{Epoch: g.epoch(lifecycle.SlotOf(&g.s.Node).Epoch), MAC: g.mac(), Image: bone(g, "ramdisk", "ramdisk", "../x"), Args: "quiet"}
	case 3:
		p := lifecycle.Proposal{MAC: g.mac(), Cycled: !g.rare(6), Late: g.rare(6), SecondMAC: g.rare(6), SecondOwner: g.rare(6), Trusted: bone(g, true, false)}
		return lifecycle.Propose{Proposal: p}
	}
	return lifecycle.ConfirmMAC{Call: g.call(), MAC: g.mac()}
}

func (g *bgen) metal() lifecycle.Input {
	switch rapid.IntRange(0, 7).Draw(g.T, "metal") {
	case 0:
		m := lifecycle.Metal{BMC: "10.9.0.1", MACs: bone(g, nil, []netboot.MAC{g.mac()}, []netboot.MAC{nicA, nicB}), Server: bone(g, uuid, registration.ServerID{}, g.server()),
			ReportsMACs: g.rare(3), Credentials: bone(g, "", "secret://bmc/1", "hunter2"), Options: bone(g, "", `{"port":623}`, `{"a":[{"Password":1}]}`), Addresses: bone(g, nil, []netip.Addr{{}, netip.IPv6Loopback()})}
		return lifecycle.EnrollMetal{Call: g.call(), NewID: g.newID(), Request: bone(g, "", "req-1"), Found: g.found(), Metal: m}
	case 1:
		return lifecycle.Power{Call: g.call(), World: g.world(), Request: bone(g, "p-1", "p-2", ""), Action: bone(g, "on", "cycle", "kick")}
	case 2:
		if g.rare(2) {
			return lifecycle.CommandBegun{ID: bone(g, "p-1", "p-2", "p-3")}
		}
		return lifecycle.CommandDone{ID: bone(g, "p-1", "p-2", "p-3"), Result: "ok"}
	}
	v := lifecycle.Verb{Call: g.call(), World: g.world(), Wipe: bone(g, provision.Wipe(""), "", provision.WipeNone, provision.SecureErase, "burn")}
	v.On = bone(g, provision.Manage, provision.Inspect, provision.Provide, provision.Deploy, provision.Deploy, provision.Undeploy, provision.ToRescue,
		provision.Unrescue, provision.Abort, provision.Recover, provision.Recover, provision.Retire, provision.Adopt, provision.Join)
	if v.On != provision.Undeploy && !g.rare(10) {
		v.Wipe = ""
	}
	if v.On == provision.Deploy {
		v.Profile = provision.Profile{ID: "debian", Version: uint64(bone(g, 3, 3, 0)), Role: "worker"}
	}
	return v
}

func (g *bgen) workflow() lifecycle.Input {
	n := &g.s.Node
	if g.rare(3) {
		e := lifecycle.WipeEvidence{Epoch: g.epoch(n.Prov.Epoch), Generation: g.epoch(n.Identity.Generation), Signed: !g.rare(8), Digest: provision.Hash{byte(g.drawn), 2}}
		for _, serial := range n.Inventory.Serials {
			e.Disks = append(e.Disks, lifecycle.DiskWipe{Serial: serial, Result: bone(g, "done", "done", "done", "frozen")})
		}
		return e
	}
	r := lifecycle.Report{Epoch: g.epoch(n.Prov.Epoch), OK: !g.rare(4), World: g.world(), Why: bone(g, "", "broke", "\xff")}
	found := lifecycle.Inspection{Server: g.server(), MACs: []netboot.MAC{nicA, nicB},
		Inventory: lifecycle.Inventory{Digest: provision.Hash{1}, Serials: bone(g, []string{"disk-1"}, []string{"disk-1", "disk-2"}, nil, []string{"\xff"}, []string{""})}}
	if n.Prov.State == provision.Retiring && n.Inventory.Digest == (provision.Hash{}) && bone(g, true, false) {
		return lifecycle.Inspected{Epoch: g.epoch(n.Prov.Epoch), Inspection: found}
	}
	if !g.rare(4) {
		r.Inspected = &found
	}
	return r
}

func (g *bgen) owner() lifecycle.Input {
	n := &g.s.Node
	action := bone(g, run.Provision, run.Attest, run.Wipe)
	serial := bone(g, "disk-1", "disk-1", "")
	switch rapid.IntRange(0, 8).Draw(g.T, "owner") {
	case 0:
		return lifecycle.Listed{NewID: g.newID(), Found: g.found(), Device: bone(g, "dev-1", "dev-1", "dev-1", "dev-2", "")}
	case 1:
		return lifecycle.RunRequest{Action: bone(g, action, action, "paint")}
	case 2:
		return lifecycle.RunBegin{World: g.world(), Serial: serial, Pin: !g.rare(4)}
	case 3:
		return lifecycle.RunReport{Epoch: g.epoch(n.Run.Epoch), OK: bone(g, true, false), Why: "disk"}
	case 4:
		if g.rare(5) {
			return lifecycle.RunCancel{}
		}
		return lifecycle.RunFound{On: bone(g, run.FoundRunning, run.FoundSucceeded, run.FoundFailed, run.Begin), Action: bone(g, n.Run.Action, n.Run.Action, action), World: g.world(), Serial: serial, Pin: !g.rare(4), Why: "late"}
	case 5:
		return lifecycle.RetireDevice{Serial: serial, World: g.world()}
	case 7:
		return lifecycle.RunWaits{Why: bone(g, "no serial", "no pin", "\xff")}
	case 6:
		return lifecycle.OffConfirmed{Epoch: g.epoch(lifecycle.SlotOf(n).Epoch), Word: g.rare(4)}
	}
	return lifecycle.RetireReport{On: bone(g, run.Wiped, run.Wiped, run.WipeFailed, run.Evicted, run.Cleaned, run.Decommission), Epoch: g.epoch(n.Run.Retire.Epoch), Why: bone(g, "", "left: pod-1")}
}

func (g *bgen) schedule() lifecycle.Input {
	switch rapid.IntRange(0, 5).Draw(g.T, "schedule") {
	case 0:
		force := time.Time{}
		if g.rare(4) {
			force = g.now.Add(bone(g, time.Hour, -time.Hour, 10000*time.Hour))
		}
		return lifecycle.Schedule{Call: g.call(), On: bone(g, schedule.Cordon, schedule.Uncordon, schedule.Drain, schedule.Reset), Force: force}
	case 1:
		return lifecycle.Drained{World: g.world()}
	case 2:
		c := g.call()
		c.Reason = bone(g, "fan", "fan", "", c.Reason)
		return lifecycle.Maintain{Call: c, Set: bone(g, true, false)}
	case 3:
		return lifecycle.Escalate{Why: bone(g, "twice", "")}
	case 4:
		return lifecycle.Taint{Call: g.call(), Add: bone(g, nil, []string{"a"}, []string{"dedicated=t1"}, []string{"-"}), Remove: bone(g, nil, []string{"a"}, []string{"b", "dedicated=t1"})}
	}
	return lifecycle.Condition{Key: bone(g, "fan", "disk", "draining", "taint:a"), On: bone(g, true, false)}
}

func (g *bgen) site() lifecycle.Input {
	switch rapid.IntRange(0, 3).Draw(g.T, "site") {
	case 0:
		p := admin
		p.Strict, p.ClearBundles, p.MaxDiscovered = g.rare(4), g.rare(3), bone(g, 0, 0, 1)
		p.Enrollment = bone(g, image, image, "", "..")
		if g.rare(3) {
			p.Exclude = []netip.Addr{netip.MustParseAddr("10.7.0.3"), netip.MustParseAddr("10.7.0.9")}
		}
		in := lifecycle.SetPolicy{Call: g.call(), Policy: p}
		for _, b := range g.s.Node.NICs {
			if b.Address.IsValid() {
				in.Reserved = append(in.Reserved, b.Address)
			}
		}
		return in
	case 1:
		return lifecycle.SetWindow{Call: g.call(), Kind: bone(g, lifecycle.AutoApproveWindow, lifecycle.EnrollWindow, "door"),
			Window: bone(g, lifecycle.Window{}, lifecycle.Window{End: g.now.Add(time.Hour), Slots: 1, Budget: true}, lifecycle.Window{End: g.now.Add(99 * time.Hour)})}
	}
	return lifecycle.Expire{}
}

// binputs are all inputs that there are, by their type. A test holds the list
// to the package's own.
func binputs() []lifecycle.Input {
	return []lifecycle.Input{
		lifecycle.Register{}, lifecycle.Announce{}, lifecycle.Approve{}, lifecycle.Refresh{}, lifecycle.Acknowledge{}, lifecycle.Configure{},
		lifecycle.ApproveSetup{}, lifecycle.Drain{}, lifecycle.SetupReport{}, lifecycle.Disable{}, lifecycle.FactoryReset{}, lifecycle.DeleteRow{},
		lifecycle.DeleteNode{}, lifecycle.RevokeIdentity{}, lifecycle.Join{}, lifecycle.Renew{}, lifecycle.Quarantine{}, lifecycle.SessionOpened{}, lifecycle.SessionClosed{},
		lifecycle.Judged{}, lifecycle.BeginAcceptance{}, lifecycle.Sighted{}, lifecycle.BootVerb{}, lifecycle.SetEntry{}, lifecycle.Propose{},
		lifecycle.ConfirmMAC{}, lifecycle.EnrollMetal{}, lifecycle.PinBMC{}, lifecycle.Power{}, lifecycle.CommandBegun{}, lifecycle.CommandDone{}, lifecycle.Verb{}, lifecycle.Report{},
		lifecycle.WipeEvidence{}, lifecycle.Inspected{}, lifecycle.Listed{}, lifecycle.RunRequest{}, lifecycle.RunBegin{}, lifecycle.RunWaits{}, lifecycle.RunReport{}, lifecycle.RunFound{}, lifecycle.RunCancel{},
		lifecycle.RetireDevice{}, lifecycle.OffConfirmed{}, lifecycle.RetireReport{}, lifecycle.Schedule{}, lifecycle.Drained{}, lifecycle.Maintain{},
		lifecycle.Escalate{}, lifecycle.Taint{}, lifecycle.Condition{}, lifecycle.SetPolicy{}, lifecycle.SetWindow{}, lifecycle.Expire{},
	}
}

func btype(in lifecycle.Input) string { return reflect.TypeOf(in).Name() }

// bunnamed is a machine known by its BMC and product UUID alone.
func bunnamed(t testing.TB) *host {
	t.Helper()
	return newHost(t).do(lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: lifecycle.Metal{BMC: "10.9.0.1", Server: uuid}})
}

// bways are lives that end in each state of the provision axis, and in each
// attempt of its stable states. All but absent have a BMC.
func bways() map[string]func(testing.TB) *host {
	return map[string]func(testing.TB) *host{
		"absent": approved,
		"adopting running": func(t testing.TB) *host {
			return bmanaged(installed(t).do(lifecycle.SessionOpened{Epoch: 1, Gateway: "gw"}))
		},
		"adopting red":     func(t testing.TB) *host { h := bway("adopting running", t); return h.do(h.reported(false)) },
		"adopted":          func(t testing.TB) *host { return bmanaged(adopted(t)) },
		"enrolling":        enrolledMetal,
		"inspecting":       func(t testing.TB) *host { h := enrolledMetal(t); return h.do(h.reported(true)) },
		"commissioning":    func(t testing.TB) *host { h := ready(t); return h.do(verb(provision.Provide)) },
		"ready":            ready,
		"deploying":        func(t testing.TB) *host { return ready(t).do(verb(provision.Deploy)) },
		"deployed":         func(t testing.TB) *host { h := bway("deploying", t); return h.do(h.reported(true)) },
		"releasing":        func(t testing.TB) *host { return bway("deployed", t).do(verb(provision.Undeploy)) },
		"rescue booting":   func(t testing.TB) *host { return bway("deployed", t).do(verb(provision.ToRescue)) },
		"rescue up":        func(t testing.TB) *host { h := bway("rescue booting", t); return h.do(h.reported(true)) },
		"rescue returning": func(t testing.TB) *host { return bway("rescue up", t).do(verb(provision.Unrescue)) },
		"retiring":         func(t testing.TB) *host { return ready(t).do(verb(provision.Retire)) },
		"retired":          retiredMetal,
		"failed adopting":  func(t testing.TB) *host { return bexpired("adopting running", t) },
		"failed enrolling": func(t testing.TB) *host { return bexpired("enrolling", t) },
		"failed building":  func(t testing.TB) *host { return bexpired("commissioning", t) },
		"failed deploying": func(t testing.TB) *host { return bexpired("deploying", t) },
		"failed releasing": func(t testing.TB) *host { return bexpired("releasing", t) },
		"failed rescue":    func(t testing.TB) *host { return bexpired("rescue booting", t) },
		"failed retiring":  func(t testing.TB) *host { return bexpired("retiring", t) },
	}
}

func bway(way string, t testing.TB) *host { t.Helper(); return bways()[way](t) }

// bmanaged gives a host that came by a session the BMC of a metal machine.
func bmanaged(h *host) *host { h.Node.Claims.BMC = "10.9.0.1"; return h }

// bexpired lets the open attempt of a way run into its deadline.
func bexpired(way string, t testing.TB) *host {
	t.Helper()
	h := bway(way, t)
	at, in, ok := lifecycle.Due(&h.Node)
	if !ok {
		t.Fatalf("%s has no deadline", way)
	}
	h.now = at
	return h.do(in).prov(provision.Failed)
}

// bstate is the provision state of a way.
func bstate(way string) provision.State {
	state, _, _ := strings.Cut(way, " ")
	return provision.State(state)
}
