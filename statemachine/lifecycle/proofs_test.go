package lifecycle_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"github.com/ingotmetal/ingot/statemachine/run"
	"github.com/ingotmetal/ingot/statemachine/schedule"
)

// everything is at least one input of every type, as it could best come in the
// state of h: reports name the open attempts, codes and keys are right. What
// is then refused is refused for its state.
func everything(h *host) []lifecycle.Input {
	n := &h.Node
	old := n.Reg.Epoch - 1
	off := idle
	off.Off = true
	bare := lifecycle.World{Staged: []string{image}, Agentless: true}
	report := func(ok bool, w lifecycle.World) lifecycle.Report {
		r := lifecycle.Report{Epoch: n.Prov.Epoch, OK: ok, World: w, Inspected: &lifecycle.Inspection{Server: uuid, MACs: n.MACs(),
			Inventory: lifecycle.Inventory{Digest: provision.Hash{7}, Serials: []string{"disk-1", "disk-2"}}}}
		return r
	}
	ann, swapped := h.announce(), h.announce()
	swapped.AgentKey[0]++
	dead, lone := h.drain(), h.drain()
	dead.Epoch, lone.Held = old, false
	unsigned := h.approveSetup()
	unsigned.Operator = false
	ins := []lifecycle.Input{
		h.register(), ann, swapped, h.approve(), h.approveSetup(), unsigned, h.drain(), dead, lone, h.ended(true), h.ended(false),
		lifecycle.SetupReport{Epoch: old, OK: true}, lifecycle.SetupReport{Epoch: old},
		lifecycle.Refresh{Key: n.Reg.Bound.Hash, Inventory: sysinfo()}, lifecycle.Acknowledge{Token: n.Reg.Poll.Hash},
		lifecycle.Configure{Call: ops, Settings: registration.Settings{Reservoir: 1 << 30}},
		lifecycle.Disable{Call: ops}, lifecycle.FactoryReset{Call: ops, World: idle, NewID: another},
		lifecycle.DeleteRow{Call: ops, World: idle}, lifecycle.DeleteNode{Call: ops, World: idle, Gone: true}, lifecycle.RevokeIdentity{Call: ops},
		lifecycle.SetPolicy{Call: ops, Policy: admin}, h.window(lifecycle.AutoApproveWindow, time.Hour, 1), h.window(lifecycle.EnrollWindow, time.Hour, 1),
		lifecycle.SetWindow{Call: ops, Kind: lifecycle.AutoApproveWindow},
		lifecycle.Sighted{MAC: nicA}, h.entry(nicA), lifecycle.Propose{Proposal: lifecycle.Proposal{MAC: nicA, Cycled: true}},
		lifecycle.ConfirmMAC{Call: ops, MAC: nicA},
		lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: lifecycle.Metal{BMC: "10.9.0.1", MACs: []netboot.MAC{nicA}}},
		lifecycle.PinBMC{Claim: "10.9.0.1", Pin: "p"},
		lifecycle.Join{NewID: aNode, Claims: lifecycle.Claims{EK: "ek"}, Certificate: "c1"}, lifecycle.Renew{Generation: n.Identity.Generation, Serial: "c1", Next: "c2"}, lifecycle.Quarantine{Certificate: "c1"},
		lifecycle.SessionOpened{Epoch: n.Conn.Session + 1, Gateway: "gw"}, lifecycle.SessionClosed{Epoch: n.Conn.Session},
		lifecycle.Judged{Session: n.Conn.Session, Link: lifecycle.Unreachable}, lifecycle.BeginAcceptance{},
		report(true, idle), report(true, off), report(true, bare), report(false, idle), h.wiped(), h.inspected(), lifecycle.OffConfirmed{Epoch: lifecycle.SlotOf(n).Epoch},
		lifecycle.Listed{NewID: aNode, Device: "dev"}, lifecycle.RunRequest{Action: run.Provision}, lifecycle.RunRequest{Action: run.Wipe}, lifecycle.RunRequest{Action: run.Attest}, lifecycle.RunWaits{Why: "no serial"},
		lifecycle.RunBegin{World: idle, Serial: "disk-1", Pin: true}, lifecycle.RunReport{Epoch: n.Run.Epoch, OK: true}, lifecycle.RunReport{Epoch: n.Run.Epoch},
		lifecycle.RunFound{On: run.FoundRunning, Action: run.Wipe, World: idle, Serial: "disk-1"}, lifecycle.RunFound{On: run.FoundFailed, Action: run.Provision}, lifecycle.RunCancel{},
		lifecycle.RetireDevice{Serial: "disk-1"},
		lifecycle.Schedule{Call: ops, On: schedule.Cordon}, lifecycle.Schedule{Call: ops, On: schedule.Uncordon}, lifecycle.Schedule{Call: ops, On: schedule.Drain},
		lifecycle.Drained{World: idle}, lifecycle.Maintain{Call: because("fan"), Set: true}, lifecycle.Maintain{Call: because("fan")}, lifecycle.Escalate{Why: "fan"},
		lifecycle.Taint{Call: ops, Add: []string{"team"}}, lifecycle.Condition{Key: "hot", On: true},
		lifecycle.Power{Call: ops, World: idle, Request: "p1", Action: "on"}, lifecycle.CommandBegun{ID: "p1"}, lifecycle.CommandDone{ID: "p1"}, lifecycle.Expire{},
	}
	for _, on := range []provision.Kind{provision.Manage, provision.Inspect, provision.Provide, provision.Deploy, provision.Undeploy,
		provision.ToRescue, provision.Unrescue, provision.Abort, provision.Recover, provision.Retire, provision.Adopt} {
		ins = append(ins, verb(on))
	}
	for _, on := range []netboot.Kind{netboot.Enroll, netboot.Decommission, netboot.Reactivate, netboot.Purge, netboot.SetMode} {
		v := verbOn(nicA, on)
		v.Mode = netboot.Rescue
		ins = append(ins, v)
	}
	for _, on := range []run.RetireKind{run.Wiped, run.WipeFailed, run.Evicted, run.Cleaned} {
		ins = append(ins, lifecycle.RetireReport{On: on, Epoch: n.Run.Retire.Epoch})
	}
	return ins
}

func because(why string) lifecycle.Call { c := ops; c.Reason = why; return c }

// Everything there is: an input that is added and not tried here fails.
func TestEverythingIsTried(t *testing.T) {
	tried := map[string]bool{}
	for _, in := range everything(newHost(t)) {
		tried[reflect.TypeOf(in).Name()] = true
	}
	for _, name := range inputTypes(t) {
		if !tried[name] {
			t.Errorf("%s is an input that no proof tries", name)
		}
	}
}

// inputTypes are the types of the package that have an apply method.
func inputTypes(t *testing.T) []string {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Name.Name == "apply" {
				if id, ok := m.Recv.List[0].Type.(*ast.Ident); ok {
					names = append(names, id.Name)
				}
			}
		}
	}
	if len(names) < 30 {
		t.Fatalf("only %d inputs found", len(names))
	}
	return names
}

// aStep is one accepted or refused step of the search below.
type aStep struct {
	was, is lifecycle.State
	in      lifecycle.Input
	now     time.Time
	facts   []lifecycle.Fact
	err     error
}

// maxStates bounds the search: what is beyond differs in nothing that the
// proofs look at.
const maxStates = 6000

// search tries every input, in time and overdue, on every state that it meets
// from a machine that nobody has seen, and gives each step to check. States
// that differ only in epochs, times and secrets are one. The machine never
// comes by the path that the input named without opens.
func search(t *testing.T, without string, check func(*aStep)) (seen map[string]bool) {
	first := newHost(t)
	seen = map[string]bool{shape(&first.State): true}
	queue := []lifecycle.State{first.State}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, late := range []bool{false, true} {
			now := dawn
			if due, _, ok := lifecycle.Due(&s.Node); late && ok {
				now = due.Add(time.Second)
			} else if late {
				continue
			}
			for _, in := range everything(&host{State: s, t: t, now: now}) {
				if in.Name() == without {
					continue
				}
				out, err := lifecycle.Step(s, in, now)
				check(&aStep{s, out.Next, in, now, out.Facts, err})
				if err != nil || len(out.Facts) == 0 {
					continue
				}
				if key := shape(&out.Next); !seen[key] && len(seen) < maxStates {
					seen[key] = true
					queue = append(queue, out.Next)
				}
			}
		}
	}
	return seen
}

// shape is what tells states apart for the search.
func shape(s *lifecycle.State) string {
	n := &s.Node
	var b strings.Builder
	fmt.Fprint(&b, n.Live(), n.Claims.Device != "", n.Claims.BMC != "", n.Reg.State, n.Reg.OnceApproved, n.Reg.Bundle.Consumed,
		n.Prov.State, n.Prov.FailedFrom, n.Prov.Activity, n.Prov.Proof != provision.Hash{}, n.Prov.AwaitOff, len(n.Inventory.Serials) > 0, n.Run.State, n.Run.Action, n.Run.Retire.State, n.Grant.Writing)
	return b.String()
}

// reaches demands that a search met all of a machine's states.
func reaches[S ~string](t *testing.T, met map[S]bool, all ...S) {
	t.Helper()
	for _, s := range all {
		if !met[s] {
			t.Errorf("the search never met %s", s)
		}
	}
}

// SET-1: approve-setup by an operator is the only input that leads to
// setting_up, and from no other state can a bundle be drained.
// SET-2: without an operator session it is denied before anything.
// MACH-7: a grant is made only by entering a step that writes, names who asked,
// the attempt and the inventory, and dies with the attempt.
func TestProofs(t *testing.T) {
	regs, provs, runs, writings := map[registration.State]bool{}, map[provision.State]bool{}, map[run.State]bool{}, map[lifecycle.Writing]bool{}
	steps := 0
	check := func(s *aStep) {
		steps++
		n := &s.is.Node
		regs[n.Reg.State], provs[n.Prov.State], runs[n.Run.State], writings[n.Grant.Writing] = true, true, true, true
		for _, why := range []string{onlyApproveSetup(s), onlyDrain(s), deniedFirst(s), grantsAreMade(s), grantsDie(s)} {
			if why != "" {
				t.Errorf("%s in %s/%s/%s: %s", s.in.Name(), s.was.Node.Reg.State, s.was.Node.Prov.State, s.was.Node.Run.State, why)
			}
		}
	}
	for _, without := range []string{"listed", "enroll"} {
		if seen := search(t, without, check); len(seen) >= maxStates {
			t.Errorf("without %s: over %d states; the search did not end", without, maxStates)
		} else {
			t.Logf("without %s: %d states, %d steps so far", without, len(seen), steps)
		}
	}
	reaches(t, regs, registration.Absent, registration.Pending, registration.Approved, registration.Disabled, registration.AwaitingSetup, registration.SettingUp)
	reaches(t, provs, provision.Absent, provision.Adopting, provision.Adopted, provision.Enrolling, provision.Inspecting, provision.Commissioning, provision.Ready,
		provision.Deploying, provision.Deployed, provision.Releasing, provision.Rescue, provision.Failed, provision.Retiring, provision.Retired)
	reaches(t, runs, run.Idle, run.Waiting, run.Running, run.Succeeded, run.Failed)
	reaches(t, writings, lifecycle.WriteSetup, lifecycle.WriteCommission, lifecycle.WriteDeploy, lifecycle.WriteRelease, lifecycle.WriteRetire, lifecycle.WriteInstall, lifecycle.WriteWipe)
}

func onlyApproveSetup(s *aStep) string {
	was, is := &s.was.Node.Reg, &s.is.Node.Reg
	began := is.State == registration.SettingUp && (was.State != registration.SettingUp || is.Epoch != was.Epoch)
	in, asked := s.in.(lifecycle.ApproveSetup)
	switch {
	case began && (!asked || !in.Operator):
		return "a setup began without an operator's approve-setup (SET-1)"
	case began && was.State != registration.AwaitingSetup:
		return "a setup began elsewhere than in awaiting_setup (SET-3)"
	case is.State != registration.SettingUp && (is.Bundle != registration.Bundle{}):
		return "a bundle outlived its setup"
	}
	return ""
}

func onlyDrain(s *aStep) string {
	was, is := &s.was.Node.Reg, &s.is.Node.Reg
	in, drains := s.in.(lifecycle.Drain)
	switch drained := is.Bundle.Consumed && !was.Bundle.Consumed; {
	case drained && (!drains || was.State != registration.SettingUp):
		return "a bundle was drained otherwise than by a drain in setting_up (SET-1)"
	case drained && (!in.Held || in.Epoch != was.Epoch || in.AgentKey != was.AgentKey || !s.now.Before(was.Deadline)):
		return "a bundle was drained by one who may not (SET-6, SET-17, EDGE-6)"
	case drains && s.err == nil && !drained:
		return "a drain succeeded without taking the bundle (SET-6)"
	case is.Bundle.Consumed && is.Bundle.Sealed != "":
		return "a drained bundle is still there"
	}
	return ""
}

func deniedFirst(s *aStep) string {
	if in, ok := s.in.(lifecycle.ApproveSetup); ok && !in.Operator && codeOf(s.err) != string(sm.Denied) {
		return fmt.Sprintf("not denied: %v (SET-2)", s.err)
	}
	return ""
}

// mayGrant are the inputs that may lead into a step that writes.
var mayGrant = map[lifecycle.Writing][]string{
	lifecycle.WriteSetup:      {"approve-setup"},
	lifecycle.WriteCommission: {"provide", "workflow-report"},
	lifecycle.WriteDeploy:     {"deploy"},
	lifecycle.WriteRelease:    {"undeploy", "recover"},
	lifecycle.WriteRetire:     {"retire", "recover", "off-confirmed", "inspected"},
	lifecycle.WriteInstall:    {"run-begin"},
	lifecycle.WriteWipe:       {"run-begin", "found-running", "retire-device", "off-confirmed"},
}

func grantsAreMade(s *aStep) string {
	was, is := s.was.Node.Grant, s.is.Node.Grant
	fact := slices.ContainsFunc(s.facts, func(f lifecycle.Fact) bool { return f.Name == lifecycle.GrantMade })
	if made := is.Writing != "" && (is.Writing != was.Writing || is.Epoch != was.Epoch); !made {
		if fact || is.Writing != "" && !reflect.DeepEqual(is, was) {
			return "a grant changed without a new attempt"
		}
		return ""
	}
	n, slot := &s.is.Node, lifecycle.SlotOf(&s.is.Node)
	inventory, serials, approver := [32]byte(n.Inventory.Digest), n.Inventory.Serials, ops.By
	switch is.Writing {
	case lifecycle.WriteSetup:
		inventory, serials = n.Reg.Inventory.Digest, n.Reg.Plan.Serials
	case lifecycle.WriteInstall, lifecycle.WriteWipe:
		serials, approver = []string{"disk-1"}, "inventory:dev"
	}
	switch {
	case !slices.Contains(mayGrant[is.Writing], s.in.Name()):
		return "made a grant to " + string(is.Writing)
	case !fact:
		return "made a grant that no fact tells of"
	case is.Epoch != slot.Epoch || slot.Epoch == 0:
		return fmt.Sprintf("the grant is for attempt %d, the machine is held by %+v", is.Epoch, slot)
	case is.Inventory != inventory || !slices.Equal(is.Serials, serials) || is.Approver != approver:
		return fmt.Sprintf("the grant is %+v; want %x %v %s", is, inventory[:1], serials, approver)
	}
	return ""
}

func grantsDie(s *aStep) string {
	if g, slot := s.is.Node.Grant, lifecycle.SlotOf(&s.is.Node); g.Writing != "" && (slot.Holder == lifecycle.Free || slot.Epoch != g.Epoch) {
		return fmt.Sprintf("grant %+v outlived its attempt; slot %+v", g, slot)
	}
	return ""
}

// SET-2, ID-5: a session that is no operator's is denied in every state,
// whatever else is right or wrong with the call.
func TestOnlyOperatorsApproveSetups(t *testing.T) {
	each(t, func(h *host, s registration.State) {
		for name, edit := range map[string]func(*lifecycle.ApproveSetup){
			"right": func(*lifecycle.ApproveSetup) {}, "empty": func(in *lifecycle.ApproveSetup) { *in = lifecycle.ApproveSetup{} },
			"no world": func(in *lifecycle.ApproveSetup) { in.World = lifecycle.World{Missing: "placement"} },
			"stale":    func(in *lifecycle.ApproveSetup) { in.Version = 77 },
			"no mint":  func(in *lifecycle.ApproveSetup) { in.Mint = lifecycle.Mint{} },
		} {
			in := h.approveSetup()
			edit(&in)
			in.Operator = false
			if err := h.refused(sm.Denied, in); err != nil && !strings.Contains(err.Error(), "SET-2") {
				h.t.Errorf("%s: %v", name, err)
			}
		}
	})
}
