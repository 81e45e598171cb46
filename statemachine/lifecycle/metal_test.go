package lifecycle_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// PROV-1, PROV-3, PROV-4, PROV-12, EDGE-21: every verb in every state. What is
// not listed is illegal.
func TestVerbs(t *testing.T) {
	moves := map[provision.Kind]map[string]provision.State{
		provision.Manage:   {"ready": provision.Enrolling},
		provision.Inspect:  {"ready": provision.Inspecting},
		provision.Provide:  {"ready": provision.Commissioning},
		provision.Deploy:   {"ready": provision.Deploying},
		provision.Undeploy: {"deployed": provision.Releasing, "rescue up": provision.Releasing},
		provision.ToRescue: {"deployed": provision.Rescue},
		provision.Unrescue: {"rescue up": provision.Rescue, "rescue returning": provision.Rescue},
		provision.Abort: {"enrolling": provision.Failed, "inspecting": provision.Failed, "commissioning": provision.Failed,
			"deploying": provision.Failed, "releasing": provision.Failed},
		provision.Recover: {"failed adopting": provision.Adopting, "failed enrolling": provision.Enrolling, "failed building": provision.Enrolling,
			"failed deploying": provision.Releasing, "failed releasing": provision.Releasing, "failed rescue": provision.Deployed, "failed retiring": provision.Retiring},
		provision.Retire: {"adopting running": provision.Retiring, "adopting red": provision.Retiring, "adopted": provision.Retiring,
			"enrolling": provision.Retiring, "ready": provision.Retiring, "failed adopting": provision.Retiring, "failed enrolling": provision.Retiring,
			"failed building": provision.Retiring, "failed deploying": provision.Retiring, "failed releasing": provision.Retiring,
			"failed rescue": provision.Retiring, "failed retiring": provision.Retiring},
		provision.Adopt: {"adopting red": provision.Adopting, "adopted": provision.Adopting},
	}
	conflicts := map[provision.Kind]string{provision.Undeploy: "rescue booting, rescue returning", provision.Unrescue: "rescue booting", provision.Adopt: "adopting running"}
	for on := range moves {
		for way, life := range bways() {
			t.Run(string(on)+"/"+way, func(t *testing.T) {
				h := life(t)
				version := h.Node.Version
				to, legal := moves[on][way]
				switch {
				case legal:
					if h.do(verb(on)).prov(to); len(h.facts) > 0 && h.Node.Version != version+1 {
						t.Errorf("version went from %d to %d", version, h.Node.Version)
					}
				case way == "absent":
					h.refused(sm.NotFound, verb(on))
				case strings.Contains(conflicts[on], way):
					h.refused(sm.Conflict, verb(on))
				default:
					err := h.refused(sm.InvalidState, verb(on))
					if err != nil && !strings.Contains(err.Error(), string(bstate(way))) {
						t.Errorf("%v does not name the state (PROV-4)", err)
					}
				}
			})
		}
	}
}

// API-1: the events of a call carry its reason, and a stale version or a bad
// reason stops it.
func TestCallsCarryReasons(t *testing.T) {
	v := verb(provision.Deploy)
	v.Reason = "order 7"
	for _, f := range ready(t).do(v).facts {
		if f.Name == "node.provision.deploying" && f.Why != "order 7" {
			t.Errorf("%+v", f)
		}
	}
	h := ready(t)
	v.Version = h.Node.Version - 1
	h.refused(sm.Conflict, v)
	v.Version = h.Node.Version
	for _, bad := range []string{strings.Repeat("r", 257), "a\nb", "\xff"} {
		v.Reason = bad
		h.refused(sm.InvalidInput, v)
	}
	v.Reason = strings.Repeat("r", 256)
	h.do(v)
	a := verb(provision.Abort)
	a.Reason = "wrong machine"
	h.do(a)
	if got := h.Node.Prov.LastError; got != (provision.Trouble{Code: provision.Aborted, Why: "wrong machine"}) {
		t.Errorf("%+v (PROV-11)", got)
	}
}

// PROV-2, PROV-10, EDGE-10: what success and failure of each attempt lead to.
func TestOutcomes(t *testing.T) {
	for way, want := range map[string]provision.State{
		"adopting running": provision.Adopted, "enrolling": provision.Inspecting, "inspecting": provision.Failed, // without inventory
		"commissioning": provision.Failed, "releasing": provision.Failed, "retiring": provision.Failed, // without evidence
		"deploying": provision.Deployed, "rescue booting": provision.Rescue, "rescue returning": provision.Deployed,
	} {
		t.Run(way+" succeeds", func(t *testing.T) {
			h := bways()[way](t)
			in := h.reported(true)
			in.World.Off = true
			h.do(in).prov(want).idles(in)
		})
		t.Run(way+" fails", func(t *testing.T) {
			h := bways()[way](t)
			in := h.reported(false)
			in.Why = "it broke"
			from := h.Node.Prov.State
			if h.do(in).idles(in); way == "adopting running" {
				h.prov(provision.Adopting) // red: it waits, with its conditions
				return
			}
			h.prov(provision.Failed)
			p, s := h.Node.Prov, h.Node.Sched
			if p.FailedFrom != from || p.LastError.Code != provision.WorkflowFailed || p.LastError.Why != "it broke" || s.Service != schedule.Maintenance {
				t.Errorf("%+v, %+v", p, s)
			}
			h.do(verb(provision.Recover))
			if p := h.Node.Prov; p.FailedFrom != "" || p.LastError != (provision.Trouble{}) || h.Node.Sched.Service != schedule.Maintenance {
				t.Errorf("recovered (PROV-3): %+v, %s", p, h.Node.Sched.Service)
			}
		})
	}
	for _, way := range []string{"adopted", "ready", "deployed", "rescue up", "failed deploying", "retired", "adopting red"} {
		t.Run(way+" has no attempt", func(t *testing.T) {
			h := bways()[way](t)
			in := h.reported(true)
			if in.Epoch++; way == "retired" {
				in.World.Off = true
			}
			h.refused(sm.Conflict, in)
		})
	}
}

// PROV-2, PROV-19: ready and retired need evidence that counts.
func TestWipeEvidence(t *testing.T) {
	wrong := map[string]func(*lifecycle.WipeEvidence){
		"unsigned":          func(e *lifecycle.WipeEvidence) { e.Signed = false },
		"older identity":    func(e *lifecycle.WipeEvidence) { e.Generation++ },
		"no digest":         func(e *lifecycle.WipeEvidence) { e.Digest = provision.Hash{} },
		"a disk is missing": func(e *lifecycle.WipeEvidence) { e.Disks = nil },
		"a disk failed":     func(e *lifecycle.WipeEvidence) { e.Disks[0].Result = "frozen" },
		"a disk says both": func(e *lifecycle.WipeEvidence) {
			e.Disks = append(e.Disks, lifecycle.DiskWipe{Serial: "disk-1", Result: "failed"})
		},
		"another disk instead": func(e *lifecycle.WipeEvidence) { e.Disks[0].Serial = "disk-9" },
	}
	for name, spoil := range wrong {
		t.Run(name, func(t *testing.T) {
			h := bway("releasing", t)
			e := h.wiped()
			spoil(&e)
			h.refused(sm.InvalidInput, e)
			h.do(h.reported(true)).prov(provision.Failed)
			if h.Node.Prov.LastError.Code != provision.UnverifiedWipe {
				t.Errorf("%+v", h.Node.Prov.LastError)
			}
		})
	}
	for _, way := range []string{"commissioning", "releasing", "retiring"} {
		t.Run(way, func(t *testing.T) {
			h := bway(way, t)
			late := h.wiped()
			late.Epoch--
			h.refused(sm.Conflict, late)
			in := h.reported(true)
			in.World.Off = true
			h.do(h.wiped()).idles(h.wiped()).do(in)
			if s := h.Node.Prov.State; s != provision.Ready && s != provision.Retired {
				t.Errorf("%s", s)
			}
			if h.Node.Prov.Proof != (provision.Hash{}) {
				t.Error("the evidence outlived its attempt")
			}
		})
	}
	t.Run("none asked for", func(t *testing.T) {
		h := bway("deployed", t)
		v := verb(provision.Undeploy)
		v.Wipe = provision.WipeNone
		h.do(v)
		if h.Node.Grant.Writing != "" {
			t.Error("a release that wipes nothing may write")
		}
		h.do(h.reported(true)).prov(provision.Ready)
	})
	t.Run("not before off", func(t *testing.T) {
		h := bway("enrolling", t)
		h.Node.Inventory = h.inspected().Inventory
		h.do(verb(provision.Retire))
		h.refused(sm.InvalidInput, h.wiped())
		h.do(lifecycle.OffConfirmed{Epoch: h.Node.Prov.Epoch}).do(h.wiped())
	})
	t.Run("agents gone since", func(t *testing.T) { // what began to wipe must prove it (EDGE-10)
		h := bway("commissioning", t)
		in := h.reported(true)
		in.World.Agentless = true
		h.do(in).prov(provision.Failed)
	})
	t.Run("no agents", func(t *testing.T) {
		h := bway("inspecting", t)
		in := h.reported(true)
		in.Inspected, in.World.Agentless = nil, true
		h.do(in).prov(provision.Commissioning)
		in.Epoch = h.Node.Prov.Epoch
		h.do(in).prov(provision.Ready)
	})
}

// PROV-5, EDGE-21: wipe modes are taken as asked, and never downgraded.
func TestWipeModes(t *testing.T) {
	for asked, want := range map[provision.Wipe]provision.Wipe{"": provision.WipeQuick, provision.WipeNone: provision.WipeNone, provision.SecureErase: provision.SecureErase, provision.CryptoErase: provision.CryptoErase} {
		h := bway("deployed", t)
		v := verb(provision.Undeploy)
		v.Wipe = asked
		h.do(v)
		deadline := provision.ReleasingDeadline
		if want == provision.SecureErase {
			deadline = provision.SecureEraseDeadline
		}
		if p := h.Node.Prov; p.Wipe != want || !p.Deadline.Equal(h.now.Add(deadline)) {
			t.Errorf("%q gives %s until %s", asked, p.Wipe, p.Deadline)
		}
		h.do(verb(provision.Abort), verb(provision.Recover))
		if got := h.Node.Prov.Wipe; got != want {
			t.Errorf("recover made %s of %s", got, want)
		}
	}
	h := bway("failed deploying", t).do(verb(provision.Recover))
	if h.Node.Prov.Wipe != provision.WipeQuick {
		t.Errorf("recover after deploying uses %s", h.Node.Prov.Wipe)
	}
	if h := bway("commissioning", t); h.Node.Prov.Wipe != provision.WipeQuick {
		t.Errorf("commissioning uses %s", h.Node.Prov.Wipe)
	}
	if h := bway("retiring", t); h.Node.Prov.Wipe != provision.CryptoErase {
		t.Errorf("retirement uses %s", h.Node.Prov.Wipe)
	}
	v := verb(provision.Undeploy)
	v.Wipe = "burn"
	bway("deployed", t).refused(sm.InvalidInput, v)
	v = verb(provision.Provide)
	v.Wipe = provision.WipeQuick
	ready(t).refused(sm.InvalidInput, v)
}

// MACH-5, SET-12: the default deadlines, the site's own, and their ends.
func TestDeadlines(t *testing.T) {
	for way, want := range map[string]time.Duration{
		"adopting running": 30 * time.Minute, "enrolling": 15 * time.Minute, "inspecting": 45 * time.Minute, "commissioning": 6 * time.Hour,
		"deploying": 90 * time.Minute, "releasing": 2 * time.Hour, "rescue booting": 30 * time.Minute, "rescue returning": 30 * time.Minute, "retiring": 24 * time.Hour,
	} {
		h := bways()[way](t)
		from := h.Node.Prov.State
		if got := h.Node.Prov.Deadline.Sub(h.now); got != want {
			t.Errorf("%s has %s, want %s", way, got, want)
		}
		h.wait(want-time.Second).refused(sm.Conflict, lifecycle.Expire{})
		h.wait(time.Second).do(lifecycle.Expire{}).prov(provision.Failed).told("node.provision.failed")
		if p := h.Node.Prov; p.FailedFrom != from || p.LastError.Code != provision.Overdue || h.Node.Sched.Service != schedule.Maintenance {
			t.Errorf("%s: %+v", way, p)
		}
	}
	own := newHost(t, func(p *lifecycle.Policy) { p.Deadlines.Enrolling = time.Minute })
	own.do(lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: lifecycle.Metal{BMC: "b", MACs: []netboot.MAC{nicA}}})
	if got := own.Node.Prov.Deadline.Sub(own.now); got != time.Minute {
		t.Errorf("the site's own: %s", got)
	}
	h := bunnamed(t)
	if got := h.Node.Prov.Deadline.Sub(h.now); got != 24*time.Hour {
		t.Errorf("while a MAC awaits confirm-mac: %s", got)
	}
	h.do(verb(provision.Abort), verb(provision.Recover))
	if got := h.Node.Prov.Deadline.Sub(h.now); got != 24*time.Hour {
		t.Errorf("and recovered: %s", got)
	}
	h.do(verb(provision.Abort), lifecycle.ConfirmMAC{Call: ops, MAC: nicA}, verb(provision.Recover))
	if got := h.Node.Prov.Deadline.Sub(h.now); got != 15*time.Minute {
		t.Errorf("with its MAC: %s", got)
	}
}

// PROV-7, EDGE-23: where power verbs are legal, and that they move nothing.
func TestPower(t *testing.T) {
	on := lifecycle.Power{Call: ops, World: idle, Request: "p-1", Action: "cycle"}
	want := map[string]sm.Code{
		"inspecting": sm.InvalidState, "commissioning": sm.InvalidState, "deploying": sm.InvalidState, "releasing": sm.InvalidState,
		"retiring": sm.InvalidState, "rescue booting": sm.InvalidState, "rescue returning": sm.InvalidState,
		"adopting running": sm.Conflict, "enrolling": sm.Conflict,
	}
	for way, life := range bways() {
		t.Run(way, func(t *testing.T) {
			h := life(t)
			if code := want[way]; code != "" {
				h.refused(code, on)
				return
			}
			was := h.Node.Prov
			h.do(on).told(lifecycle.CommandQueued).idles(on)
			if h.Node.Prov != was || len(h.Node.Commands) != 1 || !h.Node.Commands[0].Expires.Equal(h.now.Add(5*time.Minute)) {
				t.Errorf("%+v", h.Node.Commands)
			}
			unserved := on
			unserved.Request, unserved.World.Serviced = "p-2", false
			h.refused(sm.InvalidState, unserved)
			unserved.World.Missing = "the broker"
			h.refused(sm.Unavailable, unserved)
			h.do(lifecycle.CommandDone{ID: "p-1", Result: "on"}).told(lifecycle.CommandEnded).idles(lifecycle.CommandDone{ID: "p-1"})
		})
	}
	h := settingUpHost(t)
	err := h.refused(sm.Conflict, on)
	if d, ok := err.(*lifecycle.Detailed); !ok || d.Holder.Holder != lifecycle.Setup || !strings.Contains(err.Error(), "setting_up") {
		t.Errorf("%v names no holder (MACH-3)", err)
	}
	for _, bad := range []lifecycle.Power{{Call: ops, World: idle, Action: "on"}, {Call: ops, World: idle, Request: "x", Action: "kick"}, {Call: ops, World: idle, Request: "\n", Action: "on"}} {
		ready(t).refused(sm.InvalidInput, bad)
	}
	full := ready(t)
	for i := range lifecycle.MaxCommands {
		full.do(lifecycle.Power{Call: ops, World: idle, Request: strings.Repeat("p", i+1), Action: "on"})
	}
	full.refused(sm.RateLimited, on)
}

// PROV-9, PROV-17, MACH-1, EDGE-13, EDGE-22: what a metal enroll takes.
func TestEnrollMetal(t *testing.T) {
	good := lifecycle.Metal{BMC: "10.9.0.1", MACs: []netboot.MAC{nicA}}
	for name, c := range map[string]struct {
		code sm.Code
		edit func(*lifecycle.EnrollMetal)
	}{
		"no BMC":              {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.BMC = "" }},
		"BMC not UTF-8":       {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.BMC = "\xff" }},
		"nothing to know it":  {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.MACs = nil }},
		"driver reports MACs": {"", func(in *lifecycle.EnrollMetal) { in.Metal.MACs, in.Metal.ReportsMACs = nil, true }},
		"UUID alone":          {"", func(in *lifecycle.EnrollMetal) { in.Metal.MACs, in.Metal.Server = nil, uuid }},
		"placeholder": {sm.InvalidInput, func(in *lifecycle.EnrollMetal) {
			in.Metal.Server = registration.ServerID{3, 0, 2, 0, 4, 0, 5, 0, 0, 6, 0, 7, 0, 8, 0, 9}
		}},
		"plain credentials":    {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.Credentials = "admin:hunter2" }},
		"credential reference": {"", func(in *lifecycle.EnrollMetal) { in.Metal.Credentials = "secret://bmc/1" }},
		"options no object":    {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.Options = "[]" }},
		"options null":         {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.Options = "null" }},
		"options too long":     {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.Options = `{"a":"` + strings.Repeat("x", 1024) + `"}` }},
		"options with secret":  {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.Options = `{"Password":"x"}` }},
		"options with nested":  {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.Options = `{"a":[{"api_key":"x"}]}` }},
		"options":              {"", func(in *lifecycle.EnrollMetal) { in.Metal.Options = `{"port":8443}` }},
		"17 addresses":         {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.Addresses = make([]netip.Addr, 17) }},
		"group MAC":            {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Metal.MACs = []netboot.MAC{{1, 0, 0, 0, 0, 1}} }},
		"another's claim":      {sm.Conflict, func(in *lifecycle.EnrollMetal) { in.Found = []lifecycle.NodeID{another} }},
		"malformed ID":         {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.NewID = "node_x" }},
		"nobody calls":         {sm.InvalidInput, func(in *lifecycle.EnrollMetal) { in.Call = lifecycle.Call{} }},
	} {
		t.Run(name, func(t *testing.T) {
			in := lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: good}
			c.edit(&in)
			if h := newHost(t); c.code != "" {
				h.refused(c.code, in)
			} else if h.do(in).prov(provision.Enrolling).told(lifecycle.NodeEnrolled); h.Node.Claims.BMC == "" {
				t.Error("it claims no BMC")
			}
		})
	}
	t.Run("again", func(t *testing.T) {
		in := lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: good, Request: "req-1"}
		h := newHost(t).do(in).idles(in)
		in.Request = "req-2"
		h.refused(sm.Conflict, in)
	})
	t.Run("adds its axis", func(t *testing.T) { // MACH-1, EDGE-22
		h := approved(t)
		id := h.Node.ID
		h.do(lifecycle.EnrollMetal{Call: ops, NewID: another, Found: []lifecycle.NodeID{id}, Metal: lifecycle.Metal{BMC: "b", Server: uuid.Swapped()}})
		if h.Node.ID != id || h.Node.Prov.State != provision.Enrolling {
			t.Errorf("%s is %s", h.Node.ID, h.Node.Prov.State)
		}
		other := approved(t)
		other.refused(sm.Conflict, lifecycle.EnrollMetal{Call: ops, NewID: another, Metal: lifecycle.Metal{BMC: "b", Server: registration.ServerID{9}}})
	})
	t.Run("another machine's MAC", func(t *testing.T) {
		h := newHost(t).do(lifecycle.Sighted{MAC: nicA})
		h.Node.NICs[0].State, h.Node.NICs[0].Owner = netboot.Discovered, netboot.Owner{Node: string(another)}
		h.refused(sm.Conflict, lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: good})
	})
}

// PROV-13, PROV-15, PROV-18, EDGE-2: what the world forbids, with the count.
func TestWorldForbids(t *testing.T) {
	open := func(w *lifecycle.World) { w.Open = 3 }
	tenant := func(w *lifecycle.World) { w.Tenant = 2 }
	agents := func(w *lifecycle.World) { w.Agentless = true }
	for _, c := range []struct {
		way   string
		on    provision.Kind
		edit  func(*lifecycle.World)
		code  sm.Code
		count int
	}{
		{"ready", provision.Retire, open, sm.Conflict, 3},
		{"failed retiring", provision.Recover, open, sm.Conflict, 3},
		{"deployed", provision.Undeploy, tenant, sm.Conflict, 2},
		{"ready", provision.Provide, tenant, sm.Conflict, 2},
		{"ready", provision.Inspect, tenant, sm.Conflict, 2},
		{"ready", provision.Manage, tenant, sm.Conflict, 2},
		{"ready", provision.Deploy, tenant, sm.Conflict, 2},
		{"failed deploying", provision.Recover, tenant, sm.Conflict, 2},
		{"deployed", provision.ToRescue, agents, sm.Unsupported, 0},
		{"deployed", provision.Undeploy, agents, sm.Unsupported, 0},
		{"rescue up", provision.Unrescue, func(w *lifecycle.World) { w.Engine = false }, sm.InvalidConfig, 0},
		{"ready", provision.Deploy, func(w *lifecycle.World) { w.Missing = "placement" }, sm.Unavailable, 0},
	} {
		h, v := bway(c.way, t), verb(c.on)
		c.edit(&v.World)
		err := h.refused(c.code, v)
		if d, ok := err.(*lifecycle.Detailed); c.count > 0 && (!ok || d.Count != c.count) {
			t.Errorf("%s: %v has no count %d", c.on, err, c.count)
		}
	}
	for _, p := range []provision.Profile{{}, {ID: "debian"}, {Version: 1}, {ID: "\xff", Version: 1}} {
		v := verb(provision.Deploy)
		v.Profile = p
		ready(t).refused(sm.InvalidInput, v)
	}
	h := bway("deployed", t)
	if p := h.Node.Prov; p.Profile != (provision.Profile{ID: "debian", Version: 3, Role: "worker"}) || p.Role != "worker" {
		t.Errorf("deployed %+v (PROV-2, PROV-18)", p)
	}
	v := verb(provision.Undeploy)
	v.World.Agentless, v.Wipe = true, provision.WipeNone
	bway("deployed", t).do(v).prov(provision.Releasing)
}

// BOOT-11, PROV-10: an inspection of another machine fails, and nothing of it
// is kept.
func TestInspection(t *testing.T) {
	right := lifecycle.Inspection{Server: uuid, MACs: []netboot.MAC{nicA, nicB}, Inventory: lifecycle.Inventory{Digest: provision.Hash{1}, Serials: []string{"disk-1"}}}
	for name, c := range map[string]struct {
		edit func(*lifecycle.Report)
		to   provision.State
	}{
		"right":        {func(*lifecycle.Report) {}, provision.Commissioning},
		"other NIC":    {func(r *lifecycle.Report) { r.Inspected.MACs = []netboot.MAC{nicB} }, provision.Failed},
		"no inventory": {func(r *lifecycle.Report) { r.Inspected = nil }, provision.Failed},
		"no agents":    {func(r *lifecycle.Report) { r.Inspected, r.World.Agentless = nil, true }, provision.Commissioning},
	} {
		h := bway("inspecting", t)
		in, found := h.reported(true), right
		in.Inspected = &found
		c.edit(&in)
		h.do(in).prov(c.to).idles(in)
		if kept := h.Node.Inventory.Digest != (provision.Hash{}); kept != (name == "right") {
			t.Errorf("%s: inventory %+v", name, h.Node.Inventory)
		}
		if wipes := name != "no agents"; c.to == provision.Commissioning && (h.Node.Grant.Approver == ops.By) != wipes {
			t.Errorf("%s: grant %+v (MACH-7)", name, h.Node.Grant)
		}
	}
	h := bunnamed(t).do(lifecycle.ConfirmMAC{Call: ops, MAC: nicA})
	h.do(h.reported(true))
	in, found := h.reported(true), right
	found.Server = registration.ServerID{9}
	in.Inspected = &found
	h.do(in).prov(provision.Failed)
	found.Server, found.Inventory.Serials = uuid, []string{"\x00"}
	bway("inspecting", t).refused(sm.InvalidInput, lifecycle.Report{Epoch: 2, OK: true, World: idle, Inspected: &found})
	unsure := lifecycle.World{Missing: "the pool", Agentless: true}
	bway("commissioning", t).refused(sm.Unavailable, lifecycle.Report{Epoch: bway("commissioning", t).Node.Prov.Epoch, OK: true, World: unsure})
}

// EDGE-5, RUN-6, MACH-3: retire takes the machine over: the old epoch is dead,
// and no disk is written before off is confirmed.
func TestRetireTakesOver(t *testing.T) {
	for way, life := range map[string]func(testing.TB) *host{
		"its own enrolling": enrolledMetal, "its acceptance": bways()["adopting running"],
		"a run": func(t testing.TB) *host {
			return ready(t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: "attest"}, lifecycle.RunBegin{World: idle, Serial: "disk-1", Pin: true})
		},
	} {
		t.Run(way, func(t *testing.T) {
			h := life(t)
			old := lifecycle.SlotOf(&h.Node)
			h.do(verb(provision.Retire)).prov(provision.Retiring)
			if slot := lifecycle.SlotOf(&h.Node); slot.Holder != lifecycle.Workflow || slot.Epoch <= old.Epoch || h.Node.Grant.Writing != "" {
				t.Errorf("slot %+v after %+v, grant %+v", slot, old, h.Node.Grant)
			}
			if old.Holder == lifecycle.Workflow {
				h.refused(sm.Conflict, lifecycle.Report{Epoch: old.Epoch, OK: true, World: idle})
			}
			h.refused(sm.Conflict, lifecycle.OffConfirmed{Epoch: old.Epoch})
			h.do(lifecycle.OffConfirmed{Epoch: h.Node.Prov.Epoch}).refused(sm.Conflict, lifecycle.OffConfirmed{Epoch: h.Node.Prov.Epoch})
			if h.Node.Inventory.Digest == (provision.Hash{}) {
				h.do(h.inspected())
			}
			if h.Node.Grant.Writing != lifecycle.WriteRetire || h.Node.Grant.Approver != ops.By {
				t.Errorf("grant %+v", h.Node.Grant)
			}
		})
	}
	t.Run("a setup", func(t *testing.T) {
		h := bway("failed enrolling", t)
		h.do(h.announce())
		h.do(h.approveSetup())
		h.do(verb(provision.Retire)).reg(registration.AwaitingSetup)
		if h.Node.Reg.LastError != registration.ReasonPreempted {
			t.Errorf("%q", h.Node.Reg.LastError)
		}
	})
	t.Run("never without confirmed off", func(t *testing.T) {
		h := bway("retiring", t)
		h.do(h.wiped()).refused(sm.Conflict, h.reported(true)) // off is not confirmed (BMC-2)
	})
}

// JOINT-6, PROV-10, EDGE-4: a retired machine is nobody, and stays so.
func TestRetired(t *testing.T) {
	h := ready(t).do(lifecycle.Join{Certificate: "c-1"}, lifecycle.SessionOpened{Epoch: 1})
	h.do(h.register())
	h.do(h.approve(), lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: "wipe"}, verb(provision.Retire))
	in := h.reported(true)
	in.World.Off = true
	h.do(h.wiped(), in).prov(provision.Retired).reg(registration.Disabled)
	h.told("registration.disabled", lifecycle.IdentityRevoked, lifecycle.CertificateEnded, lifecycle.KeyRevoked, lifecycle.SessionEnded, "boot.decommissioned")
	h.boot(nicA, netboot.Decommissioned)
	if id := h.Node.Identity; len(id.Live) > 0 || id.Generation != 1 || h.Node.Run.State != "idle" {
		t.Errorf("%+v, run %s", id, h.Node.Run.State)
	}
	for _, in := range []lifecycle.Input{h.register(), lifecycle.FactoryReset{Call: ops, World: idle}, lifecycle.Join{Certificate: "c-2"}, lifecycle.SessionOpened{Epoch: 9},
		lifecycle.RunRequest{Action: "wipe"}, lifecycle.RunFound{On: "found-running", Action: "attest"}, lifecycle.EnrollMetal{Call: ops, Metal: lifecycle.Metal{BMC: "b"}}} {
		h.refused(sm.Conflict, in)
	}
	h.idles(lifecycle.RetireDevice{Serial: "disk-1"})
}
