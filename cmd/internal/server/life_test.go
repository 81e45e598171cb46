package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/operators"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/server"
	"github.com/ingotmetal/ingot/cmd/internal/store/storetest"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/identity/bundle"
)

// counter is entropy that never repeats and is the same in each run.
type counter struct{ n uint64 }

func (c *counter) Read(b []byte) (int, error) {
	for i := range b {
		c.n = c.n*6364136223846793005 + 1442695040888963407
		b[i] = byte(c.n >> 56)
	}
	return len(b), nil
}

type hostKey struct{}

// site is a server with clients of every kind.
type site struct {
	t    *testing.T
	url  string
	door *control.Door
	host *api.Client
	ada  *api.Client // an operator, signed in
}

const password = "correct horse battery"

func newSite(t *testing.T) *site {
	t.Helper()
	st := storetest.Hostile(storetest.Memory("lab"))
	t.Cleanup(func() { _ = st.Close() })
	entropy := &counter{n: 1}
	master, err := secrets.NewMaster([secrets.Size]byte{1})
	must(t, err)
	hasher, err := operators.NewHasher(operators.Hashing{Cost: operators.Cost{Time: 1, Memory: 64, Threads: 1}}, entropy)
	must(t, err)
	door := control.New(control.Config{Store: st, Now: time.Now})
	must(t, door.Found(t.Context(), control.Draw{Entropy: entropy}))
	srv, err := server.New(server.Config{Door: door, Master: master, Entropy: entropy, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Owner: "default", Site: "lab", Hasher: hasher,
		OnHost: func(ctx context.Context) bool { return ctx.Value(hostKey{}) != nil },
		Source: func(context.Context) netip.Addr { return netip.MustParseAddr("192.0.2.1") }})
	must(t, err)
	h, err := srv.Handler("test")
	must(t, err)
	remote, local := httptest.NewServer(h), httptest.NewUnstartedServer(h)
	local.Config.BaseContext = func(net.Listener) context.Context { return context.WithValue(context.Background(), hostKey{}, true) }
	local.Start()
	t.Cleanup(remote.Close)
	t.Cleanup(local.Close)
	s := &site{t: t, url: remote.URL, door: door, host: &api.Client{Base: local.URL}}
	add := api.AddOperator{}
	add.Body.Name, add.Body.Password = "ada", password
	_, err = api.OperatorAdd.Call(t.Context(), s.host, &add)
	must(t, err)
	s.ada = s.signIn("ada", password)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// as is a client with a secret.
func (s *site) as(secret api.Secret) *api.Client {
	return &api.Client{Base: s.url, Credential: api.Bearer(secret.Show)}
}

func (s *site) signIn(name string, word api.Secret) *api.Client {
	s.t.Helper()
	in := api.OpenSession{}
	in.Body.Operator, in.Body.Password = name, word
	out, err := api.SessionOpen.Call(s.t.Context(), s.as(""), &in)
	must(s.t, err)
	return s.as(out.Token)
}

// mint is a client with a new key of a scope.
func (s *site) mint(scope string) *api.Client {
	s.t.Helper()
	in := api.MintKey{}
	in.Body.Scope = scope
	out, err := api.KeyMint.Call(s.t.Context(), s.ada, &in)
	must(s.t, err)
	return s.as(out.Secret)
}

func codeOf(err error) string {
	if p, ok := errors.AsType[*api.Problem](err); ok {
		return p.Code()
	}
	return ""
}

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
