package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// bcase is a life and the input that has effect on it.
type bcase func(testing.TB) (*host, lifecycle.Input)

// bon is a case whose input does not depend on the life.
func bon(life func(testing.TB) *host, in lifecycle.Input) bcase {
	return func(t testing.TB) (*host, lifecycle.Input) { return life(t), in }
}

// beffects has a life for each input.
func beffects() map[string]bcase {
	why, strict := ops, admin
	why.Reason, strict.Strict = "fan", true
	powered := func(t testing.TB) *host {
		return ready(t).do(lifecycle.Power{Call: ops, World: idle, Request: "p", Action: "on"})
	}
	retiring := func(t testing.TB) *host { return bdevice(t).do(lifecycle.RetireDevice{Serial: "d"}) }
	own := func(life func(testing.TB) *host, in func(*host) lifecycle.Input) bcase {
		return func(t testing.TB) (*host, lifecycle.Input) { h := life(t); return h, in(h) }
	}
	return map[string]bcase{
		"Register":     own(newSite, func(h *host) lifecycle.Input { return h.register() }),
		"Announce":     own(newSite, func(h *host) lifecycle.Input { return h.announce() }),
		"Approve":      own(pending, func(h *host) lifecycle.Input { return h.approve() }),
		"Refresh":      own(approved, func(h *host) lifecycle.Input { return lifecycle.Refresh{Key: h.Node.Reg.Bound.Hash} }),
		"Acknowledge":  own(approved, func(h *host) lifecycle.Input { return lifecycle.Acknowledge{Token: h.Node.Reg.Poll.Hash} }),
		"Configure":    bon(pending, lifecycle.Configure{Call: ops, Settings: registration.Settings{Reservoir: 1}}),
		"ApproveSetup": own(awaiting, func(h *host) lifecycle.Input { return h.approveSetup() }),
		"Drain":        own(settingUpHost, func(h *host) lifecycle.Input { return h.drain() }),
		"SetupReport":  own(drained, func(h *host) lifecycle.Input { return h.ended(true) }),
		"Disable":      bon(pending, lifecycle.Disable{Call: ops}),
		"FactoryReset": bon(disabled, lifecycle.FactoryReset{Call: ops, World: idle}),
		"DeleteRow":    bon(awaiting, lifecycle.DeleteRow{Call: ops, World: idle}),
		"DeleteNode":   bon(retiredMetal, lifecycle.DeleteNode{Call: ops, World: idle}),

		"Join":            bon(newSite, lifecycle.Join{NewID: aNode, Certificate: "c"}),
		"Renew":           bon(bjoined, lifecycle.Renew{Serial: "c-1", Next: "c-2"}),
		"Quarantine":      bon(bjoined, lifecycle.Quarantine{Certificate: "c-1"}),
		"RevokeIdentity":  bon(bjoined, lifecycle.RevokeIdentity{Call: ops}),
		"SessionOpened":   bon(approved, opened(1)),
		"SessionClosed":   bon(adopted, lifecycle.SessionClosed{Epoch: 1}),
		"Judged":          bon(adopted, lifecycle.Judged{Session: 1, Link: lifecycle.Unreachable}),
		"BeginAcceptance": own(func(t testing.TB) *host { return brunning(t, run.Attest).do(lifecycle.Join{Certificate: "c"}) }, func(h *host) lifecycle.Input { h.do(h.ran(true)); return lifecycle.BeginAcceptance{} }),

		"Sighted":  bon(newSite, lifecycle.Sighted{MAC: nicA}),
		"BootVerb": bon(newSite, verbOn(nicA, netboot.Enroll)),
		"SetEntry": own(enrolledMetal, func(h *host) lifecycle.Input {
			return lifecycle.SetEntry{Epoch: h.Node.Prov.Epoch, MAC: nicA, Image: "ramdisk"}
		}),
		"Propose": bon(func(t testing.TB) *host {
			return bunnamed(t).do(lifecycle.Sighted{MAC: nicA, Spoken: true, Product: netboot.ServerID(uuid)})
		}, lifecycle.Propose{Proposal: lifecycle.Proposal{MAC: nicA, Cycled: true}}),
		"ConfirmMAC": bon(bunnamed, lifecycle.ConfirmMAC{Call: ops, MAC: nicA}),
		"SetPolicy":  bon(newSite, lifecycle.SetPolicy{Call: ops, Policy: strict}),
		"SetWindow":  own(newSite, func(h *host) lifecycle.Input { return h.window(lifecycle.EnrollWindow, time.Hour, 1) }),

		"EnrollMetal": bon(approved, lifecycle.EnrollMetal{Call: ops, Metal: lifecycle.Metal{BMC: "b", MACs: []netboot.MAC{nicA}}}),
		"PinBMC": bon(func(t testing.TB) *host {
			return approved(t).do(lifecycle.EnrollMetal{Call: ops, Metal: lifecycle.Metal{BMC: "b", Trust: lifecycle.Trust{FirstUse: true}, MACs: []netboot.MAC{nicA}}})
		}, lifecycle.PinBMC{Claim: "b", Pin: "p"}),
		"Verb":         bon(ready, verb(provision.Deploy)),
		"Report":       own(enrolledMetal, func(h *host) lifecycle.Input { return h.reported(true) }),
		"WipeEvidence": own(bways()["releasing"], func(h *host) lifecycle.Input { return h.wiped() }),
		"Inspected":    own(bretiring, func(h *host) lifecycle.Input { return h.inspected() }),
		"Power":        bon(ready, lifecycle.Power{Call: ops, World: idle, Request: "p", Action: "on"}),
		"CommandBegun": bon(powered, lifecycle.CommandBegun{ID: "p"}),
		"CommandDone":  bon(powered, lifecycle.CommandDone{ID: "p"}),
		"Expire":       own(enrolledMetal, func(h *host) lifecycle.Input { h.wait(24 * time.Hour); return lifecycle.Expire{} }),

		"Listed":       bon(newSite, lifecycle.Listed{NewID: aNode, Device: "d"}),
		"RunRequest":   bon(bdevice, lifecycle.RunRequest{Action: run.Attest}),
		"RunBegin":     bon(func(t testing.TB) *host { return bdevice(t).do(lifecycle.RunRequest{Action: run.Attest}) }, bbegin()),
		"RunWaits":     bon(func(t testing.TB) *host { return bdevice(t).do(lifecycle.RunRequest{Action: run.Wipe}) }, lifecycle.RunWaits{Why: "no serial"}),
		"RunReport":    own(func(t testing.TB) *host { return brunning(t, run.Wipe) }, func(h *host) lifecycle.Input { return h.ran(true) }),
		"RunFound":     bon(bwaits(run.Attest), lifecycle.RunFound{On: run.FoundRunning, Action: run.Attest}),
		"RunCancel":    bon(bwaits(run.Attest), lifecycle.RunCancel{}),
		"RetireDevice": bon(bdevice, lifecycle.RetireDevice{Serial: "d"}),
		"RetireReport": own(retiring, func(h *host) lifecycle.Input { return h.stepped(run.Wiped) }),
		"OffConfirmed": bon(func(t testing.TB) *host { return brunning(t, run.Wipe).do(lifecycle.RetireDevice{Serial: "d"}) }, lifecycle.OffConfirmed{}),

		"Schedule":  bon(ready, bsched(schedule.Cordon)),
		"Drained":   bon(func(t testing.TB) *host { return ready(t).do(bsched(schedule.Drain)) }, lifecycle.Drained{World: idle}),
		"Maintain":  bon(ready, lifecycle.Maintain{Call: why, Set: true}),
		"Escalate":  bon(ready, lifecycle.Escalate{Why: "twice"}),
		"Taint":     bon(ready, lifecycle.Taint{Call: ops, Add: []string{"a"}}),
		"Condition": bon(ready, lifecycle.Condition{Key: "fan", On: true}),
	}
}

// Every input there is has effect somewhere, keeps every law, and is refused
// or idle on a tombstone, which never changes again.
func TestEveryInputHasEffect(t *testing.T) {
	tomb := retiredMetal(t).do(lifecycle.DeleteNode{Call: ops, World: idle})
	effects := beffects()
	for _, in := range binputs() {
		name := btype(in)
		made, ok := effects[name]
		if !ok {
			t.Errorf("no life on which %s has effect", name)
			continue
		}
		h, in := made(t)
		out, err := lifecycle.Step(h.State, in, h.now)
		if err != nil || len(out.Facts) == 0 || btype(in) != name {
			t.Errorf("%s: %v, %v", name, out.Facts, err)
		}
		if err := bobey(bstep{h.State, out.Next, in, out.Facts, err, h.now}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if in.Name() == "" || in.Name() != strings.ToLower(in.Name()) {
			t.Errorf("%s is called %q", name, in.Name())
		}
		out, err = lifecycle.Step(tomb.State, in, h.now)
		site := slices.Contains([]string{"SetPolicy", "SetWindow", "Sighted", "BootVerb"}, name) // not the node's
		if !site && (err == nil && len(out.Facts) > 0 || codeOf(err) == "" && err != nil) {
			t.Errorf("%s on a tombstone: %v, %v", name, out.Facts, err)
		}
		if site {
			out.Next.Node.Version, out.Next.Node.NICs = tomb.Node.Version, tomb.Node.NICs
		}
		if d := bdiffer(lifecycle.State{Node: out.Next.Node}, lifecycle.State{Node: tomb.Node}); d != "" {
			t.Errorf("%s changed a tombstone: %s", name, d)
		}
	}
}

// Each law fails on a step that breaks it.
func TestLawsCatch(t *testing.T) {
	step := func(c bcase) bstep {
		h, in := c(t)
		out, err := lifecycle.Step(h.State, in, h.now)
		return bstep{h.State, out.Next, in, out.Facts, err, h.now}
	}
	e := beffects()
	none := bon(ready, lifecycle.Expire{}) // refused: nothing is due
	for _, c := range []struct {
		law   string
		on    bcase
		spoil func(*bstep)
	}{
		{"API-3", none, func(s *bstep) { s.is.Site.Epoch++ }},
		{"API-3", none, func(s *bstep) { s.facts = []lifecycle.Fact{{Name: "x"}} }},
		{"EVENT-1", e["Schedule"], func(s *bstep) { s.facts = nil }},
		{"EVENT-1", e["Schedule"], func(s *bstep) { s.is.Node.Version++ }},
		{"EVENT-1", bon(ready, lifecycle.CommandDone{}), func(s *bstep) { s.is.Node.Request = "x" }},
		{"MACH-3", e["ApproveSetup"], func(s *bstep) { s.is.Node.Run.State = run.Running }},
		{"EDGE-7", e["Verb"], func(s *bstep) { s.is.Site.Epoch-- }},
		{"EDGE-7", e["Verb"], func(s *bstep) { s.is.Node.Prov.Epoch++ }},
		{"SET-11", e["Disable"], func(s *bstep) { s.is.Node.Reg.Bound.ID = "k" }},
		{"SET-11", e["SetupReport"], func(s *bstep) { s.is.Node.Reg.Bundle.Consumed = true }},
		{"SET-11", e["ApproveSetup"], func(s *bstep) { s.in = lifecycle.Expire{} }},
		{"BOOT-3", e["SetupReport"], func(s *bstep) { s.is.Node.NICs = slices.Clone(s.is.Node.NICs); s.is.Node.NICs[0].Image = "" }},
		{"BOOT-3", e["SetEntry"], func(s *bstep) { s.is.Node.Prov.State = provision.Ready }},
		{"JOINT-6", bon(retiredDevice, bsched(schedule.Cordon)), func(s *bstep) { s.is.Node.Identity.Live = []string{"c"} }},
		{"JOINT-6", bon(retiredMetal, bsched(schedule.Cordon)), func(s *bstep) { s.is.Node.Prov.State = provision.Ready }},
		{"PROV-8", e["DeleteNode"], func(s *bstep) { s.is.Node.Claims.EK = "ek" }},
		{"PROV-8", e["DeleteNode"], func(s *bstep) { s.is.Node.Request = "req" }},
		{"MACH-7", e["Verb"], func(s *bstep) { s.is.Node.Grant.Approver = "" }},
		{"MACH-7", e["Verb"], func(s *bstep) { s.is.Node.Grant = lifecycle.Grant{} }},
		{"MACH-7", e["Schedule"], func(s *bstep) { s.is.Node.Grant.Writing = lifecycle.WriteWipe }},
		{"PROV-2", e["WipeEvidence"], func(s *bstep) {
			s.is.Node.Prov = provision.Record{At: provision.At{State: provision.Ready}}
			s.is.Node.Grant = lifecycle.Grant{}
		}},
		{"SCHED-4", e["Expire"], func(s *bstep) { s.is.Node.Sched.Service = schedule.InService }},
		{"SCHED-4", bon(bways()["failed deploying"], bsched(schedule.Cordon)), func(s *bstep) { s.is.Node.Sched.Service = schedule.InService }},
		{"BOOT-7", e["Sighted"], func(s *bstep) { s.is.Site.Pool = s.was.Site.Pool }},
		{"REG-10", e["Register"], func(s *bstep) { s.is.Site.Unapproved = 0 }},
		{"MACH-4", e["RunReport"], func(s *bstep) { s.was.Node.Run.Epoch++ }},
		{"MACH-4", e["RunReport"], func(s *bstep) { s.is.Node.Run.Ended = "" }},
		{"REG-11", e["Disable"], func(s *bstep) { s.is.Node.Conn.Link = lifecycle.Connected }},
		{"EVENT-2", e["Schedule"], func(s *bstep) { s.facts[0].Why = "sealed-key" }},
		{"MACH-1", e["Schedule"], func(s *bstep) { s.is.Node.Claims.EK = "\xff" }},
	} {
		s := step(c.on)
		if err := bobey(s); err != nil {
			t.Errorf("unspoilt for %s: %v", c.law, err)
		}
		if c.spoil(&s); !slices.ContainsFunc(blaws, func(l blaw) bool { return l.req == c.law && l.check(&s) != nil }) {
			t.Errorf("a step that breaks %s passes it", c.law)
		}
	}
}
