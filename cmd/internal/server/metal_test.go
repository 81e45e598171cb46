package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/cmd/internal/metal"
	"github.com/ingotmetal/ingot/cmd/internal/secrets"
	"github.com/ingotmetal/ingot/cmd/internal/server"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// benchAgent is an agent whose BMCs do all that they are asked.
type benchAgent struct{}

func (benchAgent) Check(m *lifecycle.Metal) error {
	if !strings.HasPrefix(m.BMC, "https://") {
		return &bmc.Error{Kind: bmc.InvalidOption, Op: "endpoint", Sent: bmc.SentNo, Why: "the URL is none"}
	}
	return nil
}

func (benchAgent) Serves(m *lifecycle.Metal) error {
	if m.Credentials == "" {
		return &bmc.Error{Kind: bmc.Auth, Op: "serve", Sent: bmc.SentNo, Why: "no credentials"}
	}
	return nil
}

func (benchAgent) Ask(_ context.Context, t metal.Target, q metal.Question) (metal.Answer, error) {
	a := metal.Answer{Power: bmc.PowerObservation{State: bmc.On, Ended: time.Now()}, Boot: bmc.BootState{Target: bmc.BootNone}}
	switch q.What {
	case metal.SetBoot:
		if q.Boot.Target == bmc.BootDisk {
			return a, &bmc.Error{Kind: bmc.Indeterminate, Op: "set boot", Sent: bmc.SentMaybe, Why: "the answer is lost", Do: "look at the override"}
		}
		a.Boot = bmc.BootState{Target: q.Boot.Target, Life: q.Boot.Life}
	case metal.InsertMedia:
		if strings.Contains(q.Media.Image, "lost") {
			return a, &bmc.Error{Kind: bmc.Indeterminate, Op: "insert media", Sent: bmc.SentMaybe, Why: "the answer is lost", Do: "look at the slot"}
		}
		a.Slots = []bmc.MediaSlot{{ID: "CD", Image: q.Media.Image, Inserted: true}}
	case metal.ListMedia:
		a.Slots = []bmc.MediaSlot{{ID: "CD", TakesURL: true}}
	case metal.Inspect:
		a.Found = bmc.Inspection{Vendor: "Bench", Serials: []bmc.Serial{{Value: "S1"}}, NICs: []bmc.NIC{{ID: "1", MAC: bmc.MAC{2, 0, 0, 0, 9, 1}}}, Drives: []bmc.Drive{{ID: "d"}}}
	case metal.Health:
		a.Health = bmc.HealthReport{Overall: "Warning", Parts: []bmc.Part{{ID: "fan", Health: "Warning"}}, At: time.Now()}
	}
	return a, nil
}

const bmcWord = "hunter2-of-the-bmc"

// byBMC asks to enroll machine i.
func byBMC(i int) *api.EnrollMetal {
	in := &api.EnrollMetal{}
	in.Body.BMC, in.Body.Username, in.Body.Password = "https://10.9.0."+string(rune('0'+i)), "root", bmcWord
	in.Body.MACs = []string{macOf(120 + i)}
	return in
}

func everyMetal(s *site) {
	s.t.Helper()
	in := byBMC(1)
	in.Body.RequestID = "req-1"
	made := ask(s, api.MetalEnroll, s.ada, in)
	n := made.Node
	s.check(n.States.Provision == "enrolling" && n.Metal.CredentialsSet && n.Metal.Serviced && n.Claims.BMC == "https://10.9.0.1" && n.MACs[0] == macOf(121), "the enroll", n, n.Metal)
	s.check(ask(s, api.MetalEnroll, s.ada, in).Node.ID == n.ID, "the same request (PROV-17)")
	ref := api.NodeChange{NodeRef: api.NodeRef{Node: n.ID}}
	p := &api.PowerNode{NodeChange: ref}
	p.Body.Action, p.Body.RequestID = "cycle", "p-1"
	set := &api.SetBoot{NodeChange: ref}
	set.Body.Target = "pxe"
	if held := refuses(s, "CONFLICT", api.NodePower, s.ada, p); held.Holder == nil || held.Holder.State != "enrolling" {
		s.t.Errorf("who holds it is not said: %+v", held)
	}
	if held := refuses(s, "CONFLICT", api.NodeOverrideSet, s.ada, set); held.Holder == nil || held.Holder.State != "enrolling" {
		s.t.Errorf("who holds it is not said: %+v", held)
	}
	s.check(ask(s, api.MetalAbort, s.ada, &ref).Node.States.Provision == "failed", "the abort")
	queued := ask(s, api.NodePower, s.ada, p)
	s.check(queued.Command.ID == "p-1" && !queued.Command.Done && time.Until(queued.Command.Expires) > 4*time.Minute, "the command", queued)
	s.check(len(ask(s, api.NodePower, s.ada, p).Facts) == 0, "the same request again")
	s.check(len(ask(s, api.NodeCommands, s.ada, &ref.NodeRef).Commands) == 1, "the commands")
	s.check(ask(s, api.NodePowerState, s.ada, &ref.NodeRef).State == "on", "the power")
	s.check(ask(s, api.NodeOverride, s.ada, &ref.NodeRef).Target == "none", "the override")
	told := ask(s, api.NodeOverrideSet, s.ada, set)
	s.check(told.Boot.Target == "pxe" && told.Boot.Life == "once" && len(told.Facts) == 1, "the override is set", told)
	s.check(ask(s, api.NodeOverrideClear, s.ada, &ref).Boot.Target == "none", "the override is cleared")
	s.check(len(ask(s, api.NodeMedia, s.ada, &ref.NodeRef).Slots) == 1, "the drives")
	put := &api.InsertMedia{NodeChange: ref}
	put.Body.Image = "https://images.example/a.iso?token=t0k3n-in-a-query"
	s.check(ask(s, api.NodeMediaInsert, s.ada, put).Slot.Inserted, "the insert")
	take := &api.EjectMedia{NodeChange: ref}
	take.Body.Slot = "CD"
	ask(s, api.NodeMediaEject, s.ada, take)
	s.check(ask(s, api.NodeInspect, s.ada, &ref.NodeRef).NICs[0].MAC == "02:00:00:00:09:01", "the inventory")
	s.check(ask(s, api.NodeHealth, s.ada, &ref.NodeRef).Parts[0].ID == "fan", "the health")
	bare := byBMC(2)
	bare.Body.MACs, bare.Body.Product = nil, uuidOf(60)
	waits := ask(s, api.MetalEnroll, s.ada, bare).Node
	confirm := &api.ConfirmMAC{NodeChange: api.NodeChange{NodeRef: api.NodeRef{Node: waits.ID}}}
	confirm.Body.MAC = macOf(122)
	s.check(ask(s, api.MetalConfirm, s.ada, confirm).Node.MACs[0] == macOf(122), "the MAC is confirmed")
	for key, val := range s.rows() {
		if strings.Contains(val, bmcWord) || strings.Contains(val, "t0k3n-in-a-query") {
			s.t.Errorf("a secret is in %s", key)
		}
	}
	s.check(!strings.Contains(s.said.String()+s.logs.String(), bmcWord), "the password is answered or logged")
}

// PROV-9: without a broker inline credentials are refused, and a refused commit
// leaves none behind.
func TestInlineCredentials(t *testing.T) {
	var kept secrets.Broker
	dir := t.TempDir()
	vault := secrets.NewStore(dir+"/secrets.age", dir+"/id.age", &counter{n: 9})
	kept = secrets.NewBroker(vault)
	s := siteWith(t, func(c *server.Config) { c.Broker = kept })
	first := ask(s, api.MetalEnroll, s.ada, byBMC(1)).Node
	refuses(s, "CONFLICT", api.MetalEnroll, s.ada, byBMC(1)) // another call, the same BMC
	if names, err := vault.List(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("a refused enroll leaves %v, %v", names, err)
	}
	dry := byBMC(3)
	dry.DryRun = true
	ask(s, api.MetalEnroll, s.ada, dry)
	if names, _ := vault.List(t.Context()); len(names) != 1 {
		t.Errorf("a dry run keeps %v", names)
	}
	both := byBMC(4)
	both.Body.Credentials = "secret://env/A"
	refuses(s, "INVALID_INPUT", api.MetalEnroll, s.ada, both)
	ask(s, api.MetalAbort, s.ada, &api.NodeChange{NodeRef: api.NodeRef{Node: first.ID}})
	lost := &api.InsertMedia{NodeChange: api.NodeChange{NodeRef: api.NodeRef{Node: first.ID}}}
	lost.Body.Image = "https://images.example/lost.iso"
	at := s.head()
	refuses(s, "UNAVAILABLE", api.NodeMediaInsert, s.ada, lost)
	if got := s.events(at); len(got) != 1 || got[0] != "node.bmc.media-inserted" {
		t.Errorf("what may have been done is not in the log: %v", got)
	}
	none := siteWith(t, func(c *server.Config) { c.Broker = secrets.Broker{} })
	refuses(none, "INVALID_CONFIG", api.MetalEnroll, none.ada, byBMC(1))
	if _, _, err := none.door.Read(t.Context(), control.Target{}); err != nil {
		t.Error(err)
	}
}

// BOOT-11: once another boot override may have been set, a start is no more one into PXE.
func TestOverrideWhoseAnswerIsLost(t *testing.T) {
	s := siteWith(t, func(*server.Config) {})
	n := ask(s, api.MetalEnroll, s.ada, byBMC(1)).Node
	ask(s, api.MetalAbort, s.ada, &api.NodeChange{NodeRef: api.NodeRef{Node: n.ID}})
	set := &api.SetBoot{NodeChange: api.NodeChange{NodeRef: api.NodeRef{Node: n.ID}}}
	set.Body.Target = "pxe"
	note := func() bool { _, there := s.rows()["ledger/metal/pxe/"+n.ID]; return there }
	ask(s, api.NodeOverrideSet, s.ada, set)
	set.DryRun, set.Body.Target = true, "disk"
	ask(s, api.NodeOverrideSet, s.ada, set)
	s.check(note(), "what was proved is noted")
	set.DryRun = false
	refuses(s, "UNAVAILABLE", api.NodeOverrideSet, s.ada, set)
	s.check(!note(), "what is not known is not noted")
}

// PROV-9: one BMC's password is not sent to another address.
func TestReferenceOfAnotherBMC(t *testing.T) {
	s := newSite(t)
	first := ask(s, api.MetalEnroll, s.ada, byBMC(1)).Node
	st, _, err := s.door.Read(t.Context(), control.Target{Node: lifecycle.NodeID(first.ID)})
	must(t, err)
	own := byBMC(2)
	own.Body.Username, own.Body.Password, own.Body.Credentials = "", "", "secret://file/rack7/u2"
	own.Body.RequestID = "req-2"
	second := ask(s, api.MetalEnroll, s.ada, own).Node
	s.check(ask(s, api.MetalEnroll, s.ada, own).Node.ID == second.ID, "the same request (PROV-17)")
	for _, ref := range []string{st.Node.Metal.Credentials, own.Body.Credentials} {
		thief := byBMC(3)
		thief.Body.Username, thief.Body.Password, thief.Body.Credentials = "", "", ref
		if p := refuses(s, "CONFLICT", api.MetalEnroll, s.ada, thief); !strings.Contains(p.Detail, "another BMC") {
			t.Errorf("it does not say why: %+v", p)
		}
		thief.DryRun = true
		refuses(s, "CONFLICT", api.MetalEnroll, s.ada, thief)
	}
	beside := byBMC(2) // a machine behind the same BMC
	beside.Body.Username, beside.Body.Password, beside.Body.Credentials = "", "", own.Body.Credentials
	beside.Body.System, beside.Body.MACs = "2", []string{macOf(124)}
	ask(s, api.MetalEnroll, s.ada, beside)
}

// PROV-8: a node that is deleted leaves no password behind, and its request may be made
// anew, with another one.
func TestCredentialsOfADeletedNode(t *testing.T) {
	dir := t.TempDir()
	vault := secrets.NewStore(dir+"/secrets.age", dir+"/id.age", &counter{n: 9})
	s := siteWith(t, func(c *server.Config) { c.Broker = secrets.NewBroker(vault) })
	word, err := secrets.NewPassword("an operator's own")
	must(t, err)
	_, err = vault.Put(t.Context(), "rack7", "root", word)
	must(t, err)
	kept := func() int {
		t.Helper()
		all, err := vault.List(t.Context())
		must(t, err)
		return len(all) - 1 // but for the operator's
	}
	in := byBMC(1)
	in.Body.RequestID = "req-1"
	leave := func(id string, left int) {
		t.Helper()
		ref := api.NodeChange{NodeRef: api.NodeRef{Node: id}}
		ask(s, api.MetalAbort, s.ada, &ref)
		dry := ref
		dry.DryRun = true
		before := kept()
		ask(s, api.NodeDelete, s.ada, &dry)
		s.check(kept() == before, "a dry run deletes nothing", before, kept())
		ask(s, api.NodeDelete, s.ada, &ref)
		s.check(kept() == left, "what is left", kept(), left)
	}
	first := ask(s, api.MetalEnroll, s.ada, in).Node.ID
	st, _, err := s.door.Read(t.Context(), control.Target{Node: lifecycle.NodeID(first)})
	must(t, err)
	beside := byBMC(1) // a machine behind the same BMC
	beside.Body.Username, beside.Body.Password, beside.Body.Credentials = "", "", st.Node.Metal.Credentials
	beside.Body.System, beside.Body.MACs = "2", []string{macOf(124)}
	second := ask(s, api.MetalEnroll, s.ada, beside).Node.ID
	leave(first, 1)
	leave(second, 0)
	in.Body.Password, in.Body.MACs = "another word", []string{macOf(125)} // a MAC of a deleted node stays decommissioned
	third := ask(s, api.MetalEnroll, s.ada, in).Node.ID
	s.check(third != first && kept() == 1, "the same request, another password", first, third, kept())
	leave(third, 0)
	own := byBMC(2)
	own.Body.Username, own.Body.Password, own.Body.Credentials = "", "", "secret://store/rack7"
	leave(ask(s, api.MetalEnroll, s.ada, own).Node.ID, 0)
	leave(ask(s, api.MetalEnroll, s.ada, byBMC(3)).Node.ID, 0) // without a request ID
	was, err := secrets.ParseRef(st.Node.Metal.Credentials)
	must(t, err)
	_, err = vault.Put(t.Context(), was.Name, "root", word) // as after a crash between the two
	must(t, err)
	in.Body.MACs = []string{macOf(126)}
	ask(s, api.MetalEnroll, s.ada, in)
	s.check(kept() == 1, "what nobody has gives way", kept())
}

// slowAgent holds what sets a boot override until it may go on.
type slowAgent struct {
	benchAgent
	asked, goes chan struct{}
}

func (a slowAgent) Ask(ctx context.Context, t metal.Target, q metal.Question) (metal.Answer, error) {
	if q.What == metal.SetBoot {
		a.asked <- struct{}{}
		<-a.goes
	}
	return a.benchAgent.Ask(ctx, t, q)
}

// A call that is made again while it is carried out does not reach the BMC a second time.
func TestSameKeyAtOnce(t *testing.T) {
	slow := slowAgent{asked: make(chan struct{}, 9), goes: make(chan struct{})}
	s := siteWith(t, func(c *server.Config) { c.Agent = slow })
	n := ask(s, api.MetalEnroll, s.ada, byBMC(1)).Node
	ask(s, api.MetalAbort, s.ada, &api.NodeChange{NodeRef: api.NodeRef{Node: n.ID}})
	set := api.SetBoot{NodeChange: api.NodeChange{NodeRef: api.NodeRef{Node: n.ID}}}
	set.Body.Target, set.IdempotencyKey = "pxe", "a-key-of-sixteen"
	first := make(chan error)
	go func() {
		_, err := api.NodeOverrideSet.Call(t.Context(), s.ada, &set)
		first <- err
	}()
	select {
	case <-slow.asked:
	case err := <-first:
		t.Fatal(err)
	}
	again := set
	if p := refuses(s, "CONFLICT", api.NodeOverrideSet, s.ada, &again); !strings.Contains(p.Detail, "being carried out") {
		t.Errorf("%+v", p)
	}
	other := set
	other.IdempotencyKey, other.DryRun = "another-key-of-16", true
	ask(s, api.NodeOverrideSet, s.ada, &other)
	close(slow.goes)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	s.check(ask(s, api.NodeOverrideSet, s.ada, &set).Replayed, "the answer of the first")
	if len(slow.asked) != 0 {
		t.Error("the BMC was asked twice")
	}
}
