package server_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/identity/bundle"
)

// machine is one that has not been seen yet, and its booter.
type machine struct {
	*site
	n              int
	uuid, mac      string
	serial         string
	booter, enroll *api.Client
	agent          bundle.PrivateKey
}

// machine is machine n of the site, with keys for its booter.
func (s *site) machine(n int) *machine {
	s.t.Helper()
	m := &machine{site: s, n: n, uuid: uuidOf(n), mac: macOf(n), serial: fmt.Sprint("S", n), booter: s.mint("booter"), enroll: s.mint("ur_enroll")}
	m.boot()
	return m
}

func uuidOf(n int) string { return fmt.Sprintf("6b1f2c3d-%04x-4000-8000-%012x", n, n) }

func macOf(n int) string { return fmt.Sprintf("02:00:00:00:%02x:%02x", n>>8, n&255) }

// boot gives the agent a new key pair, as each boot does.
func (m *machine) boot() {
	m.t.Helper()
	var b [bundle.KeySize]byte
	_, _ = m.entropy.Read(b[:])
	var err error
	m.agent, err = bundle.NewPrivateKey(b)
	must(m.t, err)
}

func (m *machine) ref() api.RegistrationRef { return api.RegistrationRef{Server: m.uuid} }

func (m *machine) change() *api.RegistrationChange {
	return &api.RegistrationChange{RegistrationRef: m.ref()}
}

// sysinfo is what the machine says of itself, with more MACs than one if wanted.
func (m *machine) sysinfo(more ...string) json.RawMessage {
	nics := fmt.Sprintf(`{"name":"eth0","mac":%q}`, m.mac)
	for i, mac := range more {
		nics += fmt.Sprintf(`,{"name":"eth%d","mac":%q}`, i+1, mac)
	}
	return json.RawMessage(fmt.Sprintf(`{"uuid":%q,"nics":[%s],"disks":[{"name":"nvme0n1","serial":%q,"model":"M","size":107374182400,"logical_sector":512,"physical_sector":512,"rotational":false,"removable":false,"transport":"nvme","read_only":false,"signatures":[]}]}`, m.uuid, nics, m.serial))
}

func seenBoot(mac string) api.SeenBoot {
	return api.SeenBoot{MAC: mac, FirstSeen: time.Now(), LastSeen: time.Now(), Count: 1}
}

func sightings(booter string, seen ...api.SeenBoot) *api.ReportSightings {
	in := &api.ReportSightings{}
	in.Body.Booter, in.Body.Sightings = booter, seen
	if seen == nil {
		in.Body.Sightings = []api.SeenBoot{}
	}
	return in
}

func (m *machine) sighted() api.SightingsTaken {
	m.t.Helper()
	return ask(m.site, api.BooterSightings, m.booter, sightings("b1", seenBoot(m.mac)))
}

func (m *machine) announcing(more ...string) *api.Announce {
	in := &api.Announce{}
	in.Body.Routing, in.Body.Server, in.Body.Sysinfo, in.Body.SeenMACs = m.uuid, m.uuid, m.sysinfo(more...), []string{m.mac}
	in.Body.AgentKey = m.agent.Public().String()
	return in
}

func (m *machine) announces() api.Announced {
	m.t.Helper()
	return ask(m.site, api.SetupAnnounce, m.enroll, m.announcing())
}

func (m *machine) request() api.SetupRequest {
	return api.SetupRequest{Layout: disklayout.Request{Layout: disklayout.GPT, Disks: []disklayout.Selector{{Serial: m.serial}}}, Hostname: fmt.Sprint("n", m.n)}
}

func (m *machine) planned() api.SetupPlan {
	m.t.Helper()
	return ask(m.site, api.RegistrationPlan, m.ada, &api.PlanSetup{RegistrationRef: m.ref(), Body: m.request()})
}

// approving is the approval of what a page showed.
func (m *machine) approving(p api.SetupPlan) *api.ApproveSetup {
	in := &api.ApproveSetup{}
	in.Server, in.Body.SetupRequest, in.Body.ShownPlan, in.Body.AgentKey, in.Body.MACs = m.uuid, m.request(), p.Digest, p.AgentKey, p.MACs
	return in
}

func (m *machine) approvesSetup() api.SetupApproved {
	m.t.Helper()
	return ask(m.site, api.RegistrationApproveSetup, m.ada, m.approving(m.planned()))
}

func (m *machine) keyHash() string {
	h := m.agent.Public().Hash()
	return hex.EncodeToString(h[:])
}

func (m *machine) draining(epoch uint64) *api.DrainBundle {
	in := &api.DrainBundle{RegistrationRef: m.ref()}
	in.Body.Epoch, in.Body.Held, in.Body.AgentKey = epoch, true, m.keyHash()
	return in
}

// drains takes the bundle and opens it: it is the agent's client and the answer.
func (m *machine) drains(epoch uint64) (*api.Client, api.Bundle) {
	m.t.Helper()
	got := ask(m.site, api.SetupDrain, m.enroll, m.draining(epoch))
	keys, err := m.agent.Open(m.uuid, got.Epoch, got.Bundle.Show())
	must(m.t, err)
	return m.as(api.Secret(keys.Key.Show())), got
}

func (m *machine) completes(epoch uint64) api.SetupReported {
	m.t.Helper()
	in := &api.SetupOutcome{RegistrationRef: m.ref()}
	in.Body.Epoch = epoch
	return ask(m.site, api.SetupComplete, m.enroll, in)
}

func (m *machine) failing(epoch uint64, why string) *api.SetupFailure {
	in := &api.SetupFailure{RegistrationRef: m.ref()}
	in.Body.Epoch, in.Body.Why = epoch, why
	return in
}

// installed takes the machine through its setup; the client is its agent's.
func (m *machine) installed() *api.Client {
	m.t.Helper()
	m.sighted()
	m.announces()
	epoch := m.approvesSetup().Registration.SetupEpoch
	agent, _ := m.drains(epoch)
	m.completes(epoch)
	return agent
}

func (m *machine) registering() *api.Register {
	in := &api.Register{}
	in.Body.Server, in.Body.Sysinfo = m.uuid, m.sysinfo()
	return in
}

// registers is the way of a hand-installed agent; the client polls.
func (m *machine) registers() (api.Registered, *api.Client) {
	m.t.Helper()
	out := ask(m.site, api.RegistrationRegister, m.as(""), m.registering())
	return out, m.as(out.PollToken)
}

func approving(code api.Secret) *api.Approve {
	in := &api.Approve{}
	in.Body.Code = code
	return in
}

func (m *machine) refreshing(more ...string) *api.Refresh {
	in := &api.Refresh{RegistrationRef: m.ref()}
	in.Body.Sysinfo = m.sysinfo(more...)
	return in
}

func (m *machine) row() api.Registration {
	m.t.Helper()
	ref := m.ref()
	return ask(m.site, api.RegistrationShow, m.ada, &ref)
}
