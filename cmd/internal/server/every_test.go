package server_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/control"
	"github.com/ingotmetal/ingot/statemachine/journal"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
)

// Every operation of the table, called with success by its typed client, and what
// its answer means. An operation that none of these calls fails the test.
func TestEveryOperation(t *testing.T) {
	s := newSite(t)
	s.policy()
	for _, part := range []func(*site){everySetup, everyRegister, everyRow, everyBoot, everyWindow, everyNode, everyMetal, everyKey, everyOperator, everyLog} {
		part(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range api.All() {
		if name := a.Info().Name; s.done[name] == 0 {
			t.Errorf("%s is not covered", name)
		}
	}
}

func everySetup(s *site) {
	s.t.Helper()
	m := s.machine(1)
	ask(s, api.BooterBoots, m.booter, bootReport(m.mac))
	snap := ask(s, api.BooterSnapshot, m.booter, &api.Empty{})
	s.check(len(snap.Boots) == 0 && snap.Policy.EnrollmentImage == "enrol", "the snapshot of an empty site", snap)
	taken := m.sighted()
	s.check(taken.Admissions[0].State == "enrolling" && taken.Revision > snap.Revision, "a sighting", taken)
	delta := ask(s, api.BooterChanges, m.booter, &api.BootChanges{Incarnation: snap.Incarnation, Revision: snap.Revision})
	s.check(len(delta.Put) == 1 && delta.Put[0].Address == "10.0.0.1" && !delta.Reset, "the change", delta)
	said := m.announces()
	s.check(said.State == "awaiting_setup" && said.Node != "", "the announce", said)
	page := m.planned()
	s.check(page.AgentKey == m.keyHash() && slices.Equal(page.MACs, []string{m.mac}) && page.Hostname == "n1" && page.Layout != nil, "the page", page)
	approved := ask(s, api.RegistrationApproveSetup, s.ada, m.approving(page))
	row := approved.Registration
	s.check(row.State == "setting_up" && row.Plan.Approver == "operator:ada" && row.Image == "enrol" && time.Until(row.SetupDeadline) > 44*time.Minute, "the approval", approved)
	waiting := ask(s, api.SetupApprovalsPoll, m.enroll, &api.SetupApprovals{})
	s.check(len(waiting.Approvals) == 1 && waiting.Approvals[0].Epoch == row.SetupEpoch && waiting.Approvals[0].Plan.Digest == page.Digest, "the approvals", waiting)
	failed := ask(s, api.SetupFailed, m.enroll, m.failing(row.SetupEpoch, "no disk"))
	s.check(failed.State == "awaiting_setup" && m.row().LastSetupError == "no disk" && m.row().KeyID == "", "a setup that failed", failed, m.row())
	epoch := m.approvesSetup().Registration.SetupEpoch
	agent, got := m.drains(epoch)
	s.check(got.Sealed && got.Image == "enrol" && got.Plan.Layout != nil && got.Epoch == epoch, "the bundle", got)
	s.check(m.completes(epoch).State == "approved", "the report")
	fresh := ask(s, api.RegistrationRefresh, agent, m.refreshing("02:00:00:00:09:09"))
	s.check(fresh.State == "approved" && slices.Contains(m.row().Inventory.MACs, "02:00:00:00:09:09"), "the refresh", fresh, m.row())
}

func bootReport(mac string) *api.ReportBoots {
	in := &api.ReportBoots{}
	in.Body.Booter, in.Body.Staged = "b1", []string{"enrol"}
	in.Body.Boots = []api.ServedOnce{{MAC: mac, Time: time.Now(), Stage: "dhcp", Silence: "absent"}}
	return in
}

func everyRegister(s *site) {
	s.t.Helper()
	m := s.machine(2)
	out, poll := m.registers()
	s.check(out.State == "pending" && len(out.Code) == 7 && time.Until(out.Expires) > 59*time.Minute, "the register", out)
	status := ask(s, api.RegistrationStatusPoll, poll, &api.RegistrationPoll{})
	s.check(status.State == "pending" && status.Key == "" && status.Server == m.uuid, "the poll", status)
	approved := ask(s, api.RegistrationApprove, s.ada, approving(out.Code))
	s.check(approved.Registration.State == "approved" && approved.Registration.KeyID != "" && !approved.Registration.ApprovedAt.IsZero(), "the approval", approved)
	status = ask(s, api.RegistrationStatusPoll, poll, &api.RegistrationPoll{})
	s.check(status.Key != "" && status.KeyID == approved.Registration.KeyID, "the key", status)
	acked := ask(s, api.RegistrationAcknowledge, poll, &api.Empty{})
	s.check(acked.Key == "" && acked.State == "approved", "the acknowledgement", acked)
	ask(s, api.RegistrationRefresh, s.as(status.Key), m.refreshing())
}

func everyRow(s *site) {
	s.t.Helper()
	m := s.machine(2)
	all := ask(s, api.RegistrationListing, s.ada, &api.RegistrationList{State: "approved"})
	s.check(len(all.Registrations) == 2 && all.Registrations[0].Server == uuidOf(1) && all.Registrations[1].Server == m.uuid, "the list", all)
	labels := &api.SetLabels{RegistrationChange: *m.change()}
	labels.Body.Set = map[string]string{"rack": "r7"}
	s.check(ask(s, api.RegistrationLabel, s.ada, labels).Registration.Labels["rack"] == "r7", "labels")
	keep := &api.SetReservoir{RegistrationChange: *m.change()}
	keep.Body.Bytes = 1 << 30
	s.check(ask(s, api.RegistrationReservoir, s.ada, keep).Registration.Reservoir == 1<<30, "the reservoir")
	root := &api.SetRootPassword{RegistrationChange: *m.change()}
	root.Body.Hash = "$6$salt$hash"
	s.check(ask(s, api.RegistrationRootPassword, s.ada, root).Registration.RootPasswordSet, "the root password")
	off := ask(s, api.RegistrationDisable, s.ada, m.change())
	s.check(off.Registration.State == "disabled" && off.Registration.KeyID == "" && len(off.Moves) > 0, "the disable", off)
	reset := ask(s, api.RegistrationFactoryReset, s.ada, m.change())
	s.check(reset.Registration.State == "awaiting_setup" && reset.Registration.Node == off.Registration.Node, "the reset", reset)
	gone := ask(s, api.RegistrationDelete, s.ada, m.change())
	again := ask(s, api.RegistrationDelete, s.ada, m.change())
	s.check(gone.Deleted && !again.Deleted && len(again.Facts) == 0, "the delete", gone, again)
}

func everyBoot(s *site) {
	s.t.Helper()
	b, mac := s.mint("booter"), macOf(77)
	ref := api.BootChange{BootRef: api.BootRef{MAC: mac}}
	s.check(ask(s, api.BootShow, s.ada, &ref.BootRef).State == "absent", "an unknown MAC")
	on := ask(s, api.BootEnroll, s.ada, &ref)
	s.check(on.Boot.State == "enrolling" && on.Boot.Address != "" && on.Boot.Version > 0, "enrolled by hand", on)
	rescue := &api.SetMode{BootChange: ref}
	rescue.Body.Mode = "rescue"
	s.check(ask(s, api.BootMode, s.ada, rescue).Boot.Mode == "rescue", "the mode")
	list := ask(s, api.BootListing, s.ada, &api.BootList{Mode: "rescue"})
	s.check(len(list.Boots) == 1 && list.Boots[0].MAC == mac, "the list by mode", list)
	s.check(ask(s, api.BootDecommission, s.ada, &ref).Boot.State == "decommissioned", "the decommission")
	back := ask(s, api.BootReactivate, s.ada, &ref)
	s.check(back.Boot.State == "discovered" && back.Boot.Address == on.Boot.Address, "the reactivation", back)
	ask(s, api.BooterSightings, b, sightings("b2"))
	ask(s, api.BootDecommission, s.ada, &ref)
	gone := ask(s, api.BootPurge, s.ada, &ref)
	s.check(gone.Deleted && ask(s, api.BootShow, s.ada, &ref.BootRef).Address == "", "the purge", gone)

	p := ask(s, api.PolicyShow, s.ada, &api.Empty{})
	in := &api.SetPolicy{Body: p.Policy}
	in.Body.AutoEnroll = false
	set := ask(s, api.PolicySet, s.ada, in)
	s.check(!set.Policy.AutoEnroll && set.Version > p.Version, "the policy", set, p)
	ask(s, api.BooterSightings, b, sightings("b2", seenBoot(macOf(78))))
	seen := ask(s, api.BootDiscovered, s.ada, &api.DiscoveredList{})
	s.check(len(seen.Sightings) == 1 && seen.Sightings[0].MAC == macOf(78) && slices.Equal(seen.Sightings[0].Booters, []string{"b2"}), "the discovered", seen)
	ask(s, api.PolicySet, s.ada, &api.SetPolicy{Body: p.Policy})
}

func everyWindow(s *site) {
	s.t.Helper()
	open := &api.OpenWindow{}
	open.Body.Ends, open.Body.Slots = time.Now().Add(100*time.Hour), 3
	auto := ask(s, api.AutoApproveOpen, s.ada, open)
	s.check(auto.Window.Open && *auto.Window.Slots == 3 && time.Until(auto.Window.Ends) <= 24*time.Hour, "the window is clamped (REG-7)", auto)
	enroll := ask(s, api.EnrollWindowOpen, s.ada, open)
	s.check(enroll.Window.Kind == "enroll" && enroll.Window.Open, "the enroll window", enroll)
	all := ask(s, api.WindowList, s.ada, &api.Empty{})
	s.check(len(all.Windows) == 2 && all.Windows[0].Open && all.Windows[1].Open, "the windows", all)
	s.check(!ask(s, api.AutoApproveClose, s.ada, &api.CloseWindow{}).Window.Open, "the window closes")
	s.check(!ask(s, api.EnrollWindowClose, s.ada, &api.CloseWindow{}).Window.Open, "the window closes")
}

func everyNode(s *site) {
	s.t.Helper()
	m := s.machine(1)
	id := m.row().Node
	ref := api.NodeChange{NodeRef: api.NodeRef{Node: id}}
	n := ask(s, api.NodeShow, s.ada, &ref.NodeRef)
	s.check(n.States.Registration == "approved" && n.Claims.Server == m.uuid && slices.Equal(n.MACs, []string{m.mac}), "the node", n)
	ref.Reason = "a new fan"
	s.check(ask(s, api.NodeCordon, s.ada, &ref).Node.Scheduling.Cordoned, "the cordon")
	list := ask(s, api.NodeListing, s.ada, &api.NodeList{Cordoned: "true"})
	s.check(len(list.Nodes) == 1 && list.Nodes[0].ID == id, "the list", list)
	s.check(!ask(s, api.NodeUncordon, s.ada, &ref).Node.Scheduling.Cordoned, "the uncordon")
	fix := &api.Maintain{NodeChange: ref}
	fix.Body.On = true
	on := ask(s, api.NodeMaintenance, s.ada, fix)
	s.check(on.Node.Scheduling.Maintenance && on.Node.Scheduling.MaintenanceReason == "a new fan", "maintenance", on)
	node := s.joined()
	gone := ask(s, api.NodeDelete, s.ada, &api.NodeChange{NodeRef: api.NodeRef{Node: node}})
	again := ask(s, api.NodeDelete, s.ada, &api.NodeChange{NodeRef: api.NodeRef{Node: node}})
	s.check(gone.Deleted && !again.Deleted, "the delete", gone, again)
	s.check(!ask(s, api.NodeShow, s.ada, &api.NodeRef{Node: node}).DeletedAt.IsZero(), "a tombstone is shown")
}

// joined is a node that joined by a token: no operation makes one yet.
func (s *site) joined() string {
	s.t.Helper()
	id, err := control.Draw{Entropy: s.entropy}.NodeID()
	must(s.t, err)
	in := lifecycle.Join{NewID: id, Claims: lifecycle.Claims{EK: "ek-" + string(id)}, Certificate: "c-" + string(id)[5:]}
	_, err = s.door.Do(s.t.Context(), control.Call{Actor: "test"}, control.Target{}, control.Just(in))
	must(s.t, err)
	return string(id)
}

func everyKey(s *site) {
	s.t.Helper()
	in := &api.MintKey{}
	in.Body.Scope, in.Body.Comment = "read_only", "for a dashboard"
	made := ask(s, api.KeyMint, s.ada, in)
	s.check(made.Secret != "" && made.Key.Scope == "read_only" && made.Key.Tenant == "default", "the key", made)
	me := ask(s, api.SessionShow, s.as(made.Secret), &api.Empty{})
	s.check(me.Key.ID == made.Key.ID && slices.Contains(me.Actions, "compute:nodes:read") && !slices.Contains(me.Actions, "CnSetupApprove"), "whoami", me)
	list := ask(s, api.KeyListing, s.ada, &api.KeyList{Scope: "read_only"})
	s.check(len(list.Keys) == 1 && list.Keys[0].ID == made.Key.ID, "the list", list)
	s.check(ask(s, api.KeyShow, s.ada, &api.KeyRef{Key: made.Key.ID}).Revoked.IsZero(), "the key lives")
	dead := ask(s, api.KeyRevoke, s.ada, &api.RevokeKey{KeyRef: api.KeyRef{Key: made.Key.ID}})
	s.check(!dead.Key.Revoked.IsZero(), "the key is dead", dead)
	refuses(s, "UNAUTHENTICATED", api.SessionShow, s.as(made.Secret), &api.Empty{})
}

func everyOperator(s *site) {
	s.t.Helper()
	s.add("bob")
	all := ask(s, api.OperatorListing, s.ada, &api.OperatorList{})
	s.check(len(all.Operators) == 2 && all.Operators[1].Name == "bob", "the list", all)
	ref := api.OperatorChange{OperatorRef: api.OperatorRef{Operator: "bob"}}
	v1 := ask(s, api.OperatorShow, s.ada, &ref.OperatorRef)
	s.check(v1.Version > 0 && !v1.TOTP, "the operator", v1)
	bob := s.signIn("bob", password)
	me := ask(s, api.SessionShow, bob, &api.Empty{})
	s.check(me.Session.Operator == "bob" && me.Session.Current && slices.Contains(me.Actions, "CnSetupApprove"), "whoami", me)
	live := ask(s, api.SessionListing, s.ada, &api.SessionList{Operator: "bob"})
	s.check(len(live.Sessions) == 1 && !live.Sessions[0].Current, "the sessions", live)
	begun := ask(s, api.OperatorTOTP, s.host, &api.EnrolTOTP{OperatorChange: ref})
	s.check(bytes.HasPrefix([]byte(begun.URI), []byte("otpauth://")) && begun.Operator.Version > v1.Version, "the second factor", begun)
	s.check(ask(s, api.SessionClose, bob, &api.CloseSession{}).Closed, "signed out")
	word := &api.SetOperatorPassword{OperatorChange: ref}
	word.Body.Password = "another long password"
	ask(s, api.OperatorPassword, s.host, word)
	s.signIn("bob", word.Body.Password)
	off := ask(s, api.OperatorDisable, s.host, &ref)
	s.check(!off.Operator.Disabled.IsZero(), "disabled", off)
	s.check(ask(s, api.OperatorRemove, s.host, &ref).Deleted, "removed")
	s.check(!ask(s, api.OperatorRemove, s.host, &ref).Deleted, "removed again")
}

func everyLog(s *site) {
	s.t.Helper()
	page := ask(s, api.EventListing, s.ada, &api.EventList{Limit: 3})
	s.check(len(page.Events) == 3 && page.More && page.Events[0].Type == "site.founded", "the events", page)
	s.check(len(ask(s, api.EventListing, s.ada, &api.EventList{EventFilter: api.EventFilter{Type: "site."}}).Events) == 1, "events by type")
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	for e, err := range api.Follow(ctx, s.ada, &api.EventStream{}) {
		must(s.t, err)
		s.check(e.Type == "site.founded", "the first event", e)
		break
	}
	auditor := s.mint("audit_only")
	rows, err := api.AuditRowsRead.Open(s.t.Context(), auditor, &api.AuditRows{})
	must(s.t, err)
	head := ask(s, api.AuditHeadShow, auditor, &api.Empty{})
	end, err := journal.ParseHead(head.Head)
	must(s.t, err)
	chain, err := journal.ReadStream(rows)
	must(s.t, err)
	_, err = journal.Verify(chain.From, chain.Rows(), end)
	must(s.t, err)
	copied, err := api.StoreBackup.Open(s.t.Context(), s.host, &api.Empty{})
	must(s.t, err)
	raw, err := io.ReadAll(copied)
	must(s.t, err)
	s.check(string(raw) == "a copy", "the backup", string(raw))
}
