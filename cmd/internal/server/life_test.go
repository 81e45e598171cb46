package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/identity/bundle"
)

const (
	uuid    = "6b1f2c3d-0001-4000-8000-000000000001"
	nic     = "02:00:00:00:00:01"
	sysinfo = `{"uuid":"6b1f2c3d-0001-4000-8000-000000000001","nics":[{"name":"eth0","mac":"02:00:00:00:00:01"}],
		"disks":[{"name":"nvme0n1","serial":"S1","model":"M","size":107374182400,"logical_sector":512,"physical_sector":512,"rotational":false,"removable":false,"transport":"nvme","read_only":false,"signatures":[]}]}`
)

// policy gives the site a network and an image, which a booter has.
func (s *site) policy() {
	s.t.Helper()
	in := api.SetPolicy{Body: api.Policy{AutoEnroll: true, AnswerOnlyPXE: true, Network: "10.0.0.0/24", EnrollmentImage: "enrol"}}
	_, err := api.PolicySet.Call(s.t.Context(), s.ada, &in)
	must(s.t, err)
	boots := api.ReportBoots{}
	boots.Body.Booter, boots.Body.Staged, boots.Body.Boots = "b1", []string{"enrol"}, []api.ServedOnce{}
	_, err = api.BooterBoots.Call(s.t.Context(), s.mint("booter"), &boots)
	must(s.t, err)
}

func layout() disklayout.Request {
	return disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: "S1"}}}
}

// A machine's life by the API alone: seen, announced, approved, installed,
// refreshed, disabled, reset, deleted.
func TestLifeByTheAPI(t *testing.T) {
	s := newSite(t)
	s.policy()
	ctx := t.Context()
	booter, enroll := s.mint("booter"), s.mint("ur_enroll")

	seen := api.ReportSightings{}
	seen.Body.Booter = "b1"
	seen.Body.Sightings = []api.SeenBoot{{MAC: nic, FirstSeen: time.Now(), LastSeen: time.Now(), Count: 1}}
	taken, err := api.BooterSightings.Call(ctx, booter, &seen)
	must(t, err)
	if len(taken.Admissions) != 1 || taken.Admissions[0].State != "enrolling" {
		t.Fatalf("%+v", taken)
	}
	snap, err := api.BooterSnapshot.Call(ctx, booter, &api.Empty{})
	must(t, err)
	if len(snap.Boots) != 1 || snap.Boots[0].Address != "10.0.0.1" || snap.Incarnation == "" {
		t.Fatalf("%+v", snap)
	}

	agent, err := bundle.NewPrivateKey([bundle.KeySize]byte{7})
	must(t, err)
	said := s.announce(enroll, agent.Public().String())
	if said.State != "awaiting_setup" {
		t.Fatalf("%+v", said)
	}
	approved := s.approveSetup()
	if approved.Registration.State != "setting_up" {
		t.Fatalf("%+v", approved)
	}
	waiting, err := api.SetupApprovalsPoll.Call(ctx, enroll, &api.SetupApprovals{})
	must(t, err)
	if len(waiting.Approvals) != 1 || waiting.Approvals[0].Server != uuid {
		t.Fatalf("%+v", waiting)
	}
	drain := api.DrainBundle{RegistrationRef: api.RegistrationRef{Server: uuid}}
	drain.Body.Epoch, drain.Body.Held, drain.Body.AgentKey = waiting.Approvals[0].Epoch, true, waiting.Approvals[0].AgentKey
	got, err := api.SetupDrain.Call(ctx, enroll, &drain)
	must(t, err)
	keys, err := agent.Open(uuid, got.Epoch, got.Bundle.Show())
	must(t, err)
	if _, err := api.SetupDrain.Call(ctx, enroll, &drain); codeOf(err) != "CONFLICT" {
		t.Errorf("a second drain: %v", err)
	}
	done := api.SetupOutcome{RegistrationRef: drain.RegistrationRef}
	done.Body.Epoch = got.Epoch
	report, err := api.SetupComplete.Call(ctx, enroll, &done)
	must(t, err)
	if report.State != "approved" {
		t.Fatalf("%+v", report)
	}
	s.afterInstall(booter, s.as(api.Secret(keys.Key.Show())), snap)
}

func (s *site) announce(enroll *api.Client, key string) api.Announced {
	s.t.Helper()
	in := api.Announce{}
	in.Body.Routing, in.Body.Server, in.Body.Sysinfo, in.Body.SeenMACs, in.Body.AgentKey = uuid, uuid, json.RawMessage(sysinfo), []string{nic}, key
	out, err := api.SetupAnnounce.Call(s.t.Context(), enroll, &in)
	must(s.t, err)
	return out
}

// approveSetup is what an operator does: look at the plan, and approve it.
func (s *site) approveSetup() api.SetupApproved {
	s.t.Helper()
	ask := api.PlanSetup{RegistrationRef: api.RegistrationRef{Server: uuid}, Body: api.SetupRequest{Layout: layout(), Hostname: "n1"}}
	p, err := api.RegistrationPlan.Call(s.t.Context(), s.ada, &ask)
	must(s.t, err)
	if !strings.Contains(p.Text, "S1") || p.InClear {
		s.t.Errorf("the page shows %+v", p)
	}
	in := api.ApproveSetup{}
	in.Server, in.Body.SetupRequest, in.Body.ShownPlan, in.Body.AgentKey, in.Body.MACs = uuid, ask.Body, p.Digest, p.AgentKey, p.MACs
	out, err := api.RegistrationApproveSetup.Call(s.t.Context(), s.ada, &in)
	must(s.t, err)
	return out
}

// afterInstall goes on from an approved machine to its end.
func (s *site) afterInstall(booter, agent *api.Client, snap api.BootSnapshot) {
	t, ctx := s.t, s.t.Context()
	t.Helper()
	delta, err := api.BooterChanges.Call(ctx, booter, &api.BootChanges{Incarnation: snap.Incarnation, Revision: snap.Revision})
	must(t, err)
	if len(delta.Put) != 1 || delta.Put[0].State != "enrolled" || delta.Put[0].Server != uuid {
		t.Fatalf("%+v", delta)
	}
	refresh := api.Refresh{RegistrationRef: api.RegistrationRef{Server: uuid}}
	refresh.Body.Sysinfo = json.RawMessage(sysinfo)
	if _, err := api.RegistrationRefresh.Call(ctx, agent, &refresh); err != nil {
		t.Fatal(err)
	}
	row := api.RegistrationChange{RegistrationRef: refresh.RegistrationRef}
	off, err := api.RegistrationDisable.Call(ctx, s.ada, &row)
	must(t, err)
	if off.Registration.State != "disabled" || off.Registration.KeyID != "" {
		t.Errorf("%+v", off)
	}
	if _, err := api.RegistrationRefresh.Call(ctx, agent, &refresh); codeOf(err) != "UNAUTHENTICATED" {
		t.Errorf("the key of a disabled machine: %v", err)
	}
	reset, err := api.RegistrationFactoryReset.Call(ctx, s.ada, &row)
	must(t, err)
	if reset.Registration.State != "awaiting_setup" {
		t.Errorf("%+v", reset)
	}
	gone, err := api.RegistrationDelete.Call(ctx, s.ada, &row)
	must(t, err)
	again, err := api.RegistrationDelete.Call(ctx, s.ada, &row)
	must(t, err)
	if !gone.Deleted || again.Deleted {
		t.Errorf("%+v, then %+v", gone, again)
	}
	boot, err := api.BootShow.Call(ctx, s.ada, &api.BootRef{MAC: nic})
	must(t, err)
	if boot.State != "decommissioned" {
		t.Errorf("%+v", boot)
	}
}
