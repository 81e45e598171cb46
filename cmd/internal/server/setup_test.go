package server_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/identity/bundle"
)

// SET-6: of many drainers at once exactly one gets the bundle, and it opens with the
// agent's key alone.
func TestRacingDrains(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.sighted()
	m.announces()
	epoch := m.approvesSetup().Registration.SetupEpoch
	var got atomic.Pointer[api.Bundle]
	var won, lost atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			out, err := api.SetupDrain.Call(t.Context(), m.enroll, m.draining(epoch))
			switch {
			case err == nil:
				won.Add(1)
				got.Store(&out)
			case codeOf(err) == "CONFLICT":
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.check(won.Load() == 1 && lost.Load() == 31, "drains", won.Load(), lost.Load())
	m2 := s.machine(2)
	if _, err := m2.agent.Open(m.uuid, epoch, got.Load().Bundle.Show()); err == nil {
		t.Error("another agent's key opens the bundle")
	}
	if _, err := m.agent.Open(m2.uuid, epoch, got.Load().Bundle.Show()); err == nil {
		t.Error("it opens as another machine's")
	}
	keys, err := m.agent.Open(m.uuid, epoch, got.Load().Bundle.Show())
	must(t, err)
	s.check(m.row().KeyID == keys.Key.ID(), "the row's key", m.row().KeyID)
	agent := s.as(api.Secret(keys.Key.Show()))
	s.check(ask(s, api.RegistrationRefresh, agent, m.refreshing()).State == "approved", "SET-13: a refresh ends the setup")
	for _, ticket := range keys.Tickets {
		refuses(s, "UNAUTHENTICATED", api.SessionShow, s.as(api.Secret(ticket.Show())), &api.Empty{})
	}
}

// SET-6, SET-17: what a drain must name, and when it is refused without effect.
func TestDrainIsRefused(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.sighted()
	m.announces()
	refuses(s, "INVALID_STATE", api.SetupDrain, m.enroll, m.draining(1))
	epoch := m.approvesSetup().Registration.SetupEpoch
	in := m.draining(epoch)
	in.Body.Held = false
	refuses(s, "CONFLICT", api.SetupDrain, m.enroll, in)
	in.Body.Held, in.Body.AgentKey = true, s.machine(2).keyHash()
	refuses(s, "CONFLICT", api.SetupDrain, m.enroll, in)
	in.Body.AgentKey = ""
	refuses(s, "CONFLICT", api.SetupDrain, m.enroll, in)
	refuses(s, "CONFLICT", api.SetupDrain, m.enroll, m.draining(epoch+1))
	done := &api.SetupOutcome{RegistrationRef: m.ref()}
	done.Body.Epoch = epoch
	refuses(s, "CONFLICT", api.SetupComplete, m.enroll, done) // EDGE-6: unconsumed
	s.pass(45*time.Minute + time.Second)
	refuses(s, "CONFLICT", api.SetupDrain, m.enroll, m.draining(epoch))
}

// SET-9, SET-11, MACH-4: reports name their epoch; a repeat changes nothing; and no
// key of a failed install is alive.
func TestSetupReports(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.sighted()
	m.announces()
	first := m.approvesSetup().Registration.SetupEpoch
	agent, _ := m.drains(first)
	refuses(s, "CONFLICT", api.SetupFailed, m.enroll, m.failing(first+9, "x"))
	long := strings.Repeat("ü", 400) + "\n\x00"
	ask(s, api.SetupFailed, m.enroll, m.failing(first, long))
	row := m.row()
	s.check(row.State == "awaiting_setup" && len(row.LastSetupError) <= 512 && strings.HasPrefix(long, row.LastSetupError), "SET-11", row.LastSetupError)
	refuses(s, "UNAUTHENTICATED", api.RegistrationRefresh, agent, m.refreshing())
	again := ask(s, api.SetupFailed, m.enroll, m.failing(first, long))
	s.check(again.State == "awaiting_setup" && m.row().Version == row.Version, "a repeat", again)
	second := m.approvesSetup().Registration.SetupEpoch
	s.check(second > first, "epochs", first, second)
	s.check(ask(s, api.SetupFailed, m.enroll, m.failing(first, "late")).State == "setting_up", "a late repeat is without effect")
	late := &api.SetupOutcome{RegistrationRef: m.ref()}
	late.Body.Epoch = first
	refuses(s, "CONFLICT", api.SetupComplete, m.enroll, late)
	agent, _ = m.drains(second)
	m.completes(second)
	s.check(m.completes(second).State == "approved", "a repeat")
	ask(s, api.RegistrationRefresh, agent, m.refreshing())
}

// SET-14, SET-17, SET-18: what changed between the page and the approval refuses it,
// and nothing is minted.
func TestApprovalOfAnotherPage(t *testing.T) {
	for name, change := range map[string]func(*machine, *api.ApproveSetup){
		"another disk": func(m *machine, _ *api.ApproveSetup) { m.serial = "S9"; m.announces() },
		"another MAC seen": func(m *machine, _ *api.ApproveSetup) {
			in := m.announcing("02:00:00:00:07:07")
			in.Body.SeenMACs = append(in.Body.SeenMACs, "02:00:00:00:07:07")
			ask(m.site, api.SetupAnnounce, m.enroll, in)
		},
		"another agent key": func(m *machine, _ *api.ApproveSetup) { m.boot(); m.announces() },
		"a stock agent": func(m *machine, _ *api.ApproveSetup) {
			in := m.announcing()
			in.Body.AgentKey = ""
			ask(m.site, api.SetupAnnounce, m.enroll, in)
		},
		"another layout asked": func(_ *machine, in *api.ApproveSetup) { in.Body.Layout.Layout = disklayout.Single },
		"fewer MACs":           func(_ *machine, in *api.ApproveSetup) { in.Body.MACs = []string{} },
		"no agent key":         func(_ *machine, in *api.ApproveSetup) { in.Body.AgentKey = "" },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.policy()
			m := s.machine(1)
			m.sighted()
			m.announces()
			in := m.approving(m.planned())
			change(m, in)
			before := s.rows()
			_, err := api.RegistrationApproveSetup.Call(t.Context(), s.ada, in)
			if code := codeOf(err); code != "CONFLICT" && code != "INVALID_INPUT" {
				t.Errorf("%v", err)
			}
			s.check(len(differ(before, s.rows())) == 0, "what was written", differ(before, s.rows()))
		})
	}
}

// SET-3: a replay in any other state restarts nothing.
func TestApproveSetupByState(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.sighted()
	m.announces()
	in := m.approving(m.planned())
	epoch := ask(s, api.RegistrationApproveSetup, s.ada, in).Registration.SetupEpoch
	for _, do := range []func(){func() {}, func() { m.drains(epoch) }, func() { m.completes(epoch) }, func() { ask(s, api.RegistrationDisable, s.ada, m.change()) }} {
		do()
		before := s.rows()
		_, err := api.RegistrationApproveSetup.Call(t.Context(), s.ada, in)
		if code := codeOf(err); code != "CONFLICT" && code != "INVALID_STATE" {
			t.Errorf("in %s: %v", m.row().State, err)
		}
		s.check(len(differ(before, s.rows())) == 0, "what was written", differ(before, s.rows()))
	}
	gone := s.machine(7)
	refuses(s, "NOT_FOUND", api.RegistrationApproveSetup, s.ada, gone.approving(api.SetupPlan{Digest: strings.Repeat("0", 64), MACs: []string{}}))
}

// SET-17, EDGE-14: a bundle goes in clear by policy alone, where the page said so.
func TestStockAgent(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.sighted()
	stock := m.announcing()
	stock.Body.AgentKey = ""
	ask(s, api.SetupAnnounce, m.enroll, stock)
	p := m.planned()
	s.check(p.InClear && len(p.Warnings) > 0, "the page says so", p.Warnings)
	before := s.rows()
	refuses(s, "CONFLICT", api.RegistrationApproveSetup, s.ada, m.approving(p))
	s.check(len(differ(before, s.rows())) == 0, "what was minted", differ(before, s.rows()))

	set := &api.SetPolicy{Body: ask(s, api.PolicyShow, s.ada, &api.Empty{}).Policy}
	set.Body.ClearBundles = true
	ask(s, api.PolicySet, s.ada, set)
	epoch := m.approvesSetup().Registration.SetupEpoch
	in := m.draining(epoch)
	in.Body.AgentKey = ""
	got := ask(s, api.SetupDrain, m.enroll, in)
	raw, err := base64.StdEncoding.DecodeString(got.Bundle.Show())
	must(t, err)
	keys, err := bundle.Decode(raw)
	must(t, err)
	s.check(!got.Sealed && keys.Server == m.uuid && keys.Epoch == epoch, "the bundle", got.Epoch)
	m.completes(epoch)
	ask(s, api.RegistrationRefresh, s.as(api.Secret(keys.Key.Show())), m.refreshing())
}

// SET-17: an announce with another key ends a setup that nobody has drained, and
// leaves one that was.
func TestAnnounceWhileSettingUp(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.sighted()
	m.announces()
	epoch := m.approvesSetup().Registration.SetupEpoch
	s.check(m.announces().State == "setting_up", "the same key")
	m.boot()
	s.check(m.announces().State == "awaiting_setup" && m.row().KeyID == "", "another key", m.row())
	refuses(s, "INVALID_STATE", api.SetupDrain, m.enroll, m.draining(epoch))
	epoch = m.approvesSetup().Registration.SetupEpoch
	m.drains(epoch)
	m.boot()
	s.check(m.announces().State == "setting_up", "a drained one")
	s.check(m.completes(epoch).State == "approved", "it goes on")
}

// A machine that was reset is approved again for the key of its next boot: a refresh
// by the old agent leaves nothing that a bundle could be sealed to by mistake.
func TestSetupAgainAfterReset(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	agent := m.installed()
	ask(s, api.RegistrationRefresh, agent, m.refreshing("02:00:00:00:08:08"))
	ask(s, api.RegistrationFactoryReset, s.ada, m.change())
	refuses(s, "UNAUTHENTICATED", api.RegistrationRefresh, agent, m.refreshing())
	m.boot()
	m.announces()
	epoch := m.approvesSetup().Registration.SetupEpoch
	fresh, _ := m.drains(epoch)
	m.completes(epoch)
	ask(s, api.RegistrationRefresh, fresh, m.refreshing())
}

// REG-16: a root password hash is never readable: not in an answer, a log, an event
// or a row; only the booter of an enrolled machine gets it (BOOT-3).
func TestRootPasswordIsNeverReadable(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.installed()
	const canary = "$6$rounds=5000$CANARYSALT$CANARYHASH"
	in := &api.SetRootPassword{RegistrationChange: *m.change()}
	in.Body.Hash = canary
	in.IdempotencyKey = "k"
	ask(s, api.RegistrationRootPassword, s.ada, in)
	ask(s, api.RegistrationRootPassword, s.ada, in)
	in.IdempotencyKey, in.DryRun = "", true
	ask(s, api.RegistrationRootPassword, s.ada, in)
	s.check(m.row().RootPasswordSet, "set")
	for _, c := range []*api.Client{s.ada, s.mint("full"), s.mint("read_only"), s.host} {
		ask(s, api.NodeListing, c, &api.NodeList{})
		ask(s, api.BootListing, c, &api.BootList{})
		ask(s, api.EventListing, c, &api.EventList{Limit: 200})
		ask(s, api.RegistrationListing, c, &api.RegistrationList{})
	}
	refuses(s, "ACCESS_DENIED", api.BooterSnapshot, s.host, &api.Empty{})
	refuses(s, "ACCESS_DENIED", api.BooterSnapshot, s.ada, &api.Empty{})
	wide := &api.SetRootPassword{RegistrationChange: *m.change()}
	wide.Body.Hash = "a:b"
	refuses(s, "INVALID_INPUT", api.RegistrationRootPassword, s.ada, wide)
	for key, val := range s.rows() {
		if strings.Contains(val, "CANARY") {
			t.Errorf("the row %s has it", key)
		}
	}
	if strings.Contains(s.said.String(), "CANARY") || strings.Contains(s.logs.String(), "CANARY") {
		t.Error("an answer or the log has it")
	}
	snap := ask(s, api.BooterSnapshot, m.booter, &api.Empty{})
	s.check(len(snap.Boots) == 1 && snap.Boots[0].RootSet, "the booter has it", snap.Boots)
	clearing := &api.SetRootPassword{RegistrationChange: *m.change()}
	clearing.Body.Clear = true
	ask(s, api.RegistrationRootPassword, s.ada, clearing)
	delta := ask(s, api.BooterChanges, m.booter, &api.BootChanges{Incarnation: snap.Incarnation, Revision: snap.Revision})
	s.check(len(delta.Put) == 1 && !delta.Put[0].RootSet, "the booter loses it", delta)
}

// A plan that cannot be made is a fact about disks, and no failure of ours.
func TestPlanIsRefused(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.announces()
	in := &api.PlanSetup{RegistrationRef: m.ref(), Body: m.request()}
	in.Body.Layout.Disks = []disklayout.Selector{{Serial: "nobody's"}}
	_, err := api.RegistrationPlan.Call(t.Context(), s.ada, in)
	if p := codeOf(err); p == "" || p == "UNAVAILABLE" {
		t.Errorf("%v", err)
	}
	bad := m.announcing()
	bad.Body.Sysinfo = json.RawMessage(`{"disks":7}`)
	refuses(s, "INVALID_INPUT", api.SetupAnnounce, m.enroll, bad)
	bad.Body.Sysinfo = m.sysinfo()
	bad.Body.Routing = uuidOf(5)
	refuses(s, "INVALID_INPUT", api.SetupAnnounce, m.enroll, bad)
}

// A bundle is never sealed to a key that is not the one of the row: not even where the
// two rows that say it disagree.
func TestBundleIsSealedToTheRowsKeyAlone(t *testing.T) {
	s := newSite(t)
	s.policy()
	m := s.machine(1)
	m.sighted()
	m.announces()
	in := m.approving(m.planned())
	thief := s.machine(2)
	id, err := serverOf(m.uuid)
	must(t, err)
	s.write("sysinfo/"+id.Key().String(), control.Sysinfo{Raw: m.sysinfo(), AgentKey: thief.agent.Public().String()})
	refuses(s, "UNAVAILABLE", api.RegistrationApproveSetup, s.ada, in)
	s.check(m.row().State == "awaiting_setup", "the row", m.row())
	m.boot()
	m.announces() // which mends it
	m.approvesSetup()
}

// SET-6: a booter that waits for approvals is answered by a new one, and not by
// whatever else the site does.
func TestApprovalsWait(t *testing.T) {
	s := newSite(t)
	s.policy()
	one, two := s.machine(1), s.machine(2)
	for _, m := range []*machine{one, two} {
		m.sighted()
		m.announces()
	}
	one.approvesSetup()
	first := ask(s, api.SetupApprovalsPoll, one.enroll, &api.SetupApprovals{})
	s.check(len(first.Approvals) == 1, "the first", first)
	got := make(chan api.Approvals, 1)
	go func() {
		out, _ := api.SetupApprovalsPoll.Call(t.Context(), one.enroll, &api.SetupApprovals{After: first.Revision, LongPoll: api.LongPoll{Wait: api.Duration{Duration: 50 * time.Second}}})
		got <- out
	}()
	for i := range 5 {
		s.write("test/x", i)
		time.Sleep(5 * time.Millisecond)
	}
	select {
	case out := <-got:
		t.Errorf("answered with no news: %+v", out)
	default:
	}
	two.approvesSetup()
	select {
	case out := <-got:
		s.check(len(out.Approvals) == 2, "both wait", out)
	case <-time.After(20 * time.Second):
		t.Error("a new approval does not answer")
	}
	s.pass(46 * time.Minute)
	s.check(len(ask(s, api.SetupApprovalsPoll, one.enroll, &api.SetupApprovals{}).Approvals) == 0, "overdue ones cannot be drained (EDGE-6)")
}
