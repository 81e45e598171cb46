package lifecycle_test

import (
	"slices"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/run"
)

func bpower(id, action string) lifecycle.Power {
	return lifecycle.Power{Call: ops, World: idle, Request: id, Action: action}
}

// PROV-7: a request ID names one command until it expires, done or not; a need
// says until when.
func TestCommandsAreKept(t *testing.T) {
	h := ready(t).do(bpower("p-1", "cycle"))
	until := h.now.Add(5 * time.Minute)
	for need := range lifecycle.Needs(&h.Node) {
		if need != (lifecycle.Need{Node: aNode, Verb: lifecycle.NeedPower, What: "p-1", Until: until}) {
			t.Errorf("%+v", need)
		}
	}
	h.refused(sm.Conflict, bpower("p-1", "on"))
	h.do(lifecycle.CommandDone{ID: "p-1", Result: "ok"}).told(lifecycle.CommandEnded)
	if got := bneeds(h); len(got) > 0 {
		t.Errorf("done, and still needs %v", got)
	}
	h.idles(bpower("p-1", "cycle"), lifecycle.CommandDone{ID: "p-1", Result: "failed"}).refused(sm.Conflict, bpower("p-1", "on"))
	if _, _, due := lifecycle.Due(&h.Node); due {
		t.Error("a command that is done waits for the sweeper")
	}
	h.wait(5 * time.Minute).do(bpower("p-1", "on")).told(lifecycle.CommandQueued)
	if c := h.Node.Commands; len(c) != 1 || c[0] != (lifecycle.Command{ID: "p-1", Verb: "on", Expires: h.now.Add(5 * time.Minute)}) {
		t.Errorf("%+v", c)
	}
	h.wait(5 * time.Minute).do(lifecycle.Expire{}).told(lifecycle.CommandEnded)
	if len(h.Node.Commands) > 0 {
		t.Errorf("%+v", h.Node.Commands)
	}
}

// PROV-7: what was begun in time is carried to its end, and one that was not is void;
// nothing is begun twice.
func TestCommandsThatBegan(t *testing.T) {
	h := ready(t).do(bpower("p-1", "graceful-restart"), bpower("p-2", "on"))
	h.do(lifecycle.CommandBegun{ID: "p-1"}).told(lifecycle.CommandStarted)
	for _, id := range []string{"p-1", "p-3"} {
		h.refused(sm.Conflict, lifecycle.CommandBegun{ID: id})
	}
	h.wait(5 * time.Minute)
	h.refused(sm.Conflict, lifecycle.CommandBegun{ID: "p-2"})
	h.do(lifecycle.Expire{}).told(lifecycle.CommandEnded)
	if c := h.Node.Commands; len(c) != 1 || c[0].ID != "p-1" || c[0].Done {
		t.Fatalf("%+v", c)
	}
	late := *h
	h.wait(7 * time.Minute).do(lifecycle.CommandDone{ID: "p-1", Result: "done"}).told(lifecycle.CommandEnded)
	if c := h.Node.Commands; len(c) != 1 || c[0].Result != "done" {
		t.Errorf("%+v", c)
	}
	late.wait(lifecycle.CommandCarry).do(lifecycle.Expire{}).told(lifecycle.CommandEnded)
	if len(late.Node.Commands) > 0 {
		t.Errorf("%+v", late.Node.Commands)
	}
}

// PROV-7, MACH-3: an attempt that takes the free machine cancels what waits,
// whatever its kind.
func TestAttemptsCancelCommands(t *testing.T) {
	for name, take := range map[string]func(h *host) lifecycle.Input{
		"a verb": func(*host) lifecycle.Input { return verb(provision.Deploy) },
		"a run":  func(h *host) lifecycle.Input { return bbegin() },
		"a retirement": func(*host) lifecycle.Input {
			return lifecycle.RetireDevice{Serial: "disk-1"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := ready(t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RunRequest{Action: run.Attest}, bpower("p-1", "on"), bpower("p-2", "off"))
			h.do(lifecycle.CommandDone{ID: "p-1", Result: "ok"})
			h.do(take(h))
			ended := slices.DeleteFunc(h.facts, func(f lifecycle.Fact) bool { return f.Name != lifecycle.CommandEnded })
			if want := []lifecycle.Fact{{Name: lifecycle.CommandEnded, Key: "p-2", Why: "cancelled"}}; !slices.Equal(ended, want) {
				t.Errorf("%+v", ended)
			}
			h.idles(bpower("p-2", "off")) // the ID answers that it came to nothing
		})
	}
}

// MACH-5: an enrolling that waited a day for its MAC has as long as any other
// from then on.
func TestBoundMACSetsDeadline(t *testing.T) {
	trusted := lifecycle.Propose{Proposal: lifecycle.Proposal{MAC: nicA, Cycled: true, Trusted: true}}
	seen := func() *host {
		return bunnamed(t).do(lifecycle.Sighted{MAC: nicA, Product: netboot.ServerID(uuid), Spoken: true})
	}
	for name, in := range map[string]lifecycle.Input{"confirmed": lifecycle.ConfirmMAC{Call: ops, MAC: nicA}, "trusted": trusted} {
		h := seen().wait(20 * time.Hour)
		epoch := h.Node.Prov.Epoch
		if h.do(in); h.Node.Prov.Epoch != epoch || !h.Node.Prov.Deadline.Equal(h.now.Add(15*time.Minute)) {
			t.Errorf("%s: until %s", name, h.Node.Prov.Deadline)
		}
	}
	h := seen()
	h.Site.Policy.Deadlines.Enrolling = time.Hour
	if h.do(trusted); !h.Node.Prov.Deadline.Equal(h.now.Add(time.Hour)) {
		t.Errorf("the site's own: %s", h.Node.Prov.Deadline)
	}
	h = seen().do(verb(provision.Abort))
	if h.do(trusted); !h.Node.Prov.Deadline.IsZero() {
		t.Error("a failed enrolling got a deadline")
	}
}

// MACH-5: runs and the retirement's wiping end by the site's deadlines, and
// evicting by none but RUN-5's.
func TestSiteRunDeadlines(t *testing.T) {
	own := run.Deadlines{Provision: time.Minute, Attest: 2 * time.Minute, Wipe: 3 * time.Minute}
	life := func() *host {
		h := newHost(t, func(p *lifecycle.Policy) { p.Runs = own })
		return h.do(lifecycle.Listed{NewID: aNode, Device: "dev-1"})
	}
	for action, want := range map[run.Action]time.Duration{run.Provision: own.Provision, run.Attest: own.Attest, run.Wipe: own.Wipe} {
		h := life().do(lifecycle.RunRequest{Action: action}, bbegin())
		if got := h.Node.Run.Deadline.Sub(h.now); got != want {
			t.Errorf("%s ends in %s", action, got)
		}
	}
	h := life().do(lifecycle.RetireDevice{Serial: "disk-1"})
	if got := h.Node.Run.Retire.Deadline.Sub(h.now); got != own.Wipe {
		t.Errorf("wiping ends in %s", got)
	}
	h.do(h.stepped(run.Wiped))
	h.do(lifecycle.OffConfirmed{Epoch: h.Node.Run.Retire.Epoch})
	if got := h.Node.Run.Retire.Deadline.Sub(h.now); got != run.EvictingDeadline {
		t.Errorf("evicting ends in %s", got)
	}
	bad := lifecycle.SetPolicy{Call: ops, Policy: admin}
	bad.Policy.Runs.Attest = -1
	h.refused(sm.InvalidConfig, bad)
}

// PROV-11, EDGE-15: what no allocation decides never waits for placement; the
// state's own refusal comes first for what does.
func TestVerbsWithoutPlacement(t *testing.T) {
	lost := func(on provision.Kind) lifecycle.Verb {
		v := verb(on)
		v.World.Missing = "placement"
		return v
	}
	for way, on := range map[string]provision.Kind{"deploying": provision.Abort, "deployed": provision.ToRescue, "rescue up": provision.Unrescue, "adopted": provision.Adopt} {
		bway(way, t).do(lost(on))
	}
	for _, on := range []provision.Kind{provision.Manage, provision.Inspect, provision.Provide, provision.Deploy, provision.Retire} {
		ready(t).refused(sm.Unavailable, lost(on))
		bway("deploying", t).refused(sm.InvalidState, lost(on))
	}
	bway("deployed", t).refused(sm.Unavailable, lost(provision.Undeploy))
	bway("failed enrolling", t).refused(sm.Unavailable, lost(provision.Recover))
}

// EVENT-2, PROV-3, PROV-12: what verbs publish where the state alone would say
// another thing.
func TestVerbEvents(t *testing.T) {
	names := func(h *host) (out []string) {
		for _, f := range h.facts {
			out = append(out, f.Name)
		}
		return out
	}
	h := bway("rescue up", t).do(verb(provision.Unrescue))
	if got := names(h); !slices.Equal(got, []string{lifecycle.NodeUnrescuing}) {
		t.Errorf("unrescue: %v", got)
	}
	bway("deployed", t).do(verb(provision.ToRescue)).told("node.provision.rescue")
	bway("failed adopting", t).do(verb(provision.Recover)).told(lifecycle.NodeAdopting, "node.provision.adopting")
	if h := bway("adopted", t).do(verb(provision.Adopt)); slices.Contains(names(h), "node.provision.adopting") {
		t.Errorf("adopt: %v", names(h))
	}
}
