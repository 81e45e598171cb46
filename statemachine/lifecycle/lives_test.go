package lifecycle_test

import (
	"encoding/json"
	"errors"
	"net/netip"
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
)

// host is a machine in the course of its life. Its state comes from Step
// alone, and every step is held to what all steps promise.
type host struct {
	lifecycle.State
	t     testing.TB
	now   time.Time
	facts []lifecycle.Fact // of the newest step
	drawn byte             // secrets drawn so far, so that none is drawn twice
}

// What most lives have.
const (
	aNode   = lifecycle.NodeID("node_0123456789abcdefghjkmnpqrs")
	another = lifecycle.NodeID("node_zzzzzzzzzzzzzzzzzzzzzzzzzz")
	image   = "enroll-1"
)

var (
	dawn = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	uuid = registration.ServerID{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 1, 2, 3, 4, 5, 6, 7, 8}
	nicA = netboot.MAC{0x52, 0x54, 0, 0, 0, 0xa}
	nicB = netboot.MAC{0x52, 0x54, 0, 0, 0, 0xb}

	agentKey = registration.Hash{0xa6}
	ops      = lifecycle.Call{By: "ops@example.org", Operator: true}

	admin = lifecycle.Policy{Network: netip.MustParsePrefix("10.7.0.0/28"), Gateway: netip.MustParseAddr("10.7.0.1"),
		Server: netip.MustParseAddr("10.7.0.2"), Enrollment: image}
	idle = lifecycle.World{Staged: []string{image}, Engine: true, Serviced: true}
)

// newHost is a machine that nobody has seen, at a site with the policy admin,
// changed by edits.
func newHost(t testing.TB, edits ...func(*lifecycle.Policy)) *host {
	t.Helper()
	p := admin
	for _, edit := range edits {
		edit(&p)
	}
	h := &host{State: lifecycle.State{Node: lifecycle.Fresh()}, t: t, now: dawn}
	return h.do(lifecycle.SetPolicy{Call: ops, Policy: p})
}

// try steps one input. Whatever comes of it, the step must keep its promises:
// an error has a code and changes nothing; no facts mean no change, and a
// change has facts; the state before is left as it was.
func (h *host) try(in lifecycle.Input) error {
	h.t.Helper()
	was, before := h.State, picture(h.State)
	out, err := lifecycle.Step(was, in, h.now)
	h.facts = out.Facts
	switch {
	case picture(was) != before:
		h.t.Errorf("%s changed the state before it in place", in.Name())
	case err != nil && codeOf(err) == "":
		h.t.Errorf("%s: error %v has no code", in.Name(), err)
	case err != nil && (len(out.Facts) > 0 || !reflect.DeepEqual(out.Next, was)):
		h.t.Errorf("%s was refused (%v) and changed something:\n%s\n%s", in.Name(), err, before, picture(out.Next))
	case err == nil && (len(out.Facts) > 0) == reflect.DeepEqual(out.Next, was):
		h.t.Errorf("%s: %d facts %v, but changed is %t:\n%s\n%s", in.Name(), len(out.Facts), out.Facts, !reflect.DeepEqual(out.Next, was), before, picture(out.Next))
	}
	if err == nil {
		h.counts(in, &was, &out)
		h.State = out.Next
	}
	return err
}

// counts checks what each commit counts: epochs never go back (EDGE-7), a
// node's version goes up by one (API-1), and strangers are as many as before,
// give or take this machine (REG-10, BOOT-16).
func (h *host) counts(in lifecycle.Input, was *lifecycle.State, out *lifecycle.Outcome) {
	h.t.Helper()
	is := &out.Next
	if is.Site.Epoch < was.Site.Epoch || is.Site.Epoch > was.Site.Epoch+1 {
		h.t.Errorf("%s took the epoch from %d to %d", in.Name(), was.Site.Epoch, is.Site.Epoch)
	}
	version := was.Node.Version
	if len(out.Facts) > 0 && is.Node.ID != "" {
		version++
	}
	if is.Node.Version != version {
		h.t.Errorf("%s took the version from %d to %d", in.Name(), was.Node.Version, is.Node.Version)
	}
	strangers := func(s *lifecycle.State) (rows, records int) {
		if s.Node.Reg.State != registration.Absent && !s.Node.Reg.OnceApproved {
			rows = 1
		}
		for i := range s.Node.NICs {
			if s.Node.NICs[i].State == netboot.Discovered {
				records++
			}
		}
		return s.Site.Unapproved - rows, s.Site.Discovered - records
	}
	rows, records := strangers(was)
	if r, d := strangers(is); r != rows || d != records {
		h.t.Errorf("%s: %d other rows and %d other records, were %d and %d", in.Name(), r, d, rows, records)
	}
}

// do is try for inputs that must be accepted.
func (h *host) do(ins ...lifecycle.Input) *host {
	h.t.Helper()
	for _, in := range ins {
		if err := h.try(in); err != nil {
			h.t.Fatalf("%s: %v", in.Name(), err)
		}
	}
	return h
}

// idles is do for inputs that must change nothing.
func (h *host) idles(ins ...lifecycle.Input) *host {
	h.t.Helper()
	for _, in := range ins {
		if h.do(in); len(h.facts) > 0 {
			h.t.Errorf("%s changed something: %v", in.Name(), h.facts)
		}
	}
	return h
}

// refused demands a refusal with a code, and answers the error.
func (h *host) refused(code sm.Code, in lifecycle.Input) error {
	h.t.Helper()
	err := h.try(in)
	if got := codeOf(err); got != string(code) {
		h.t.Errorf("%s in %s/%s: %v (%s), want %s", in.Name(), h.Node.Reg.State, h.Node.Prov.State, err, got, code)
	}
	return err
}

// wait lets time pass.
func (h *host) wait(d time.Duration) *host { h.now = h.now.Add(d); return h }

// reg demands a registration state.
func (h *host) reg(want registration.State) *host {
	h.t.Helper()
	if h.Node.Reg.State != want {
		h.t.Fatalf("registration is %s, want %s", h.Node.Reg.State, want)
	}
	return h
}

// prov demands a provision state.
func (h *host) prov(want provision.State) *host {
	h.t.Helper()
	if h.Node.Prov.State != want {
		h.t.Fatalf("provision is %s, want %s", h.Node.Prov.State, want)
	}
	return h
}

// boot demands the state of a boot record, and answers the record.
func (h *host) boot(mac netboot.MAC, want netboot.State) netboot.Record {
	h.t.Helper()
	b := h.record(mac)
	if b.State != want {
		h.t.Fatalf("boot record %s is %s, want %s", mac, b.State, want)
	}
	return b
}

// record is a MAC's boot record, absent where there is none.
func (h *host) record(mac netboot.MAC) netboot.Record {
	for _, b := range h.Node.NICs {
		if b.MAC == mac {
			return b
		}
	}
	return netboot.New(mac)
}

// told demands that the newest step published facts of these names.
func (h *host) told(names ...string) *host {
	h.t.Helper()
	for _, name := range names {
		if !slices.ContainsFunc(h.facts, func(f lifecycle.Fact) bool { return f.Name == name }) {
			h.t.Errorf("no fact %s among %v", name, h.facts)
		}
	}
	return h
}

// revoked are the IDs of the keys that the newest step revoked.
func (h *host) revoked() []string {
	var ids []string
	for _, f := range h.facts {
		if f.Name == lifecycle.KeyRevoked {
			ids = append(ids, f.Key)
		}
	}
	return ids
}

// picture is all that a store would keep of s.
func picture(s lifecycle.State) string {
	var b strings.Builder
	for key, val := range lifecycle.Rows(s) {
		b.WriteString(key)
		b.WriteByte('=')
		b.Write(val)
		b.WriteByte('\n')
	}
	for i := range s.Node.NICs { // absent ones too, which have no row
		nic, _ := json.Marshal(s.Node.NICs[i])
		b.Write(nic)
	}
	return b.String()
}

func codeOf(err error) string {
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return coded.Code()
	}
	return ""
}

// hash draws a secret's hash.
func (h *host) hash() registration.Hash { h.drawn++; return registration.Hash{0xee, h.drawn} }

func (h *host) key(scope string) registration.Key {
	sum := h.hash()
	return registration.Key{ID: "key-" + string('A'+rune(sum[1]%26)) + string('a'+rune(sum[1]/26)), Hash: sum, Scope: scope}
}

// sysinfo is the machine's inventory, as the session on nicA sees it.
func sysinfo() registration.Inventory {
	return registration.Inventory{Digest: registration.Hash{0x51}, Serials: []string{"disk-1", "disk-2"},
		MACs: []registration.MAC{registration.MAC(nicA), registration.MAC(nicB)}, Seen: []registration.MAC{registration.MAC(nicA)}}
}

// register is the machine's agent, with a fresh code and token of an hour.
func (h *host) register() lifecycle.Register {
	until := h.now.Add(time.Hour)
	return lifecycle.Register{NewID: aNode, Server: uuid, Inventory: sysinfo(), Code: registration.Expiring{Hash: h.hash(), Until: until},
		Poll: registration.Expiring{Hash: h.hash(), Until: until}, Bound: h.key(lifecycle.ScopeAgent), Waiting: "sealed-key"}
}

// approve is the operator who types the code that the machine shows.
func (h *host) approve() lifecycle.Approve {
	return lifecycle.Approve{Call: ops, Hash: h.Node.Reg.Code.Hash, Bound: h.key(lifecycle.ScopeAgent), Waiting: "sealed-key"}
}

// announce is the machine in the enrollment ramdisk.
func (h *host) announce() lifecycle.Announce {
	return lifecycle.Announce{NewID: aNode, Routing: uuid, Server: uuid, Inventory: sysinfo(), AgentKey: agentKey}
}

// approveSetup is the operator who approves the plan on the page.
func (h *host) approveSetup() lifecycle.ApproveSetup {
	plan := registration.Plan{Digest: registration.Hash{0x9}, Inventory: h.Node.Reg.Inventory.Digest, Serials: []string{"disk-1"}, Hostname: "m1"}
	mint := lifecycle.Mint{Bound: h.key(lifecycle.ScopeAgent), Sealed: "sealed-bundle"}
	for i := range mint.Tickets {
		mint.Tickets[i] = h.key(lifecycle.ScopeTicket)
	}
	return lifecycle.ApproveSetup{Call: ops, World: idle, Shown: plan.Digest, AgentKey: h.Node.Reg.AgentKey, MACs: covered(&h.Node.Reg), Realized: plan, Mint: mint}
}

// covered are the MACs that the page of r names: those of its inventory that
// the announcing session was seen with (SET-18).
func covered(r *registration.Record) []registration.MAC {
	unseen := func(m registration.MAC) bool { return !slices.Contains(r.Inventory.Seen, m) }
	return slices.DeleteFunc(slices.Clone(r.Inventory.MACs), unseen)
}

// drain is the booter that holds the machine's connection.
func (h *host) drain() lifecycle.Drain {
	return lifecycle.Drain{Epoch: h.Node.Reg.Epoch, AgentKey: agentKey, Held: true}
}

// ended is the sentinel that the booter saw.
func (h *host) ended(ok bool) lifecycle.SetupReport {
	return lifecycle.SetupReport{Epoch: h.Node.Reg.Epoch, OK: ok, Why: "zpool create failed"}
}

// window opens a window of the site for d.
func (h *host) window(kind string, d time.Duration, slots int) lifecycle.SetWindow {
	return lifecycle.SetWindow{Call: ops, Kind: kind, Window: lifecycle.Window{End: h.now.Add(d), Budget: slots > 0, Slots: slots}}
}

func verbOn(mac netboot.MAC, k netboot.Kind) lifecycle.BootVerb {
	return lifecycle.BootVerb{Call: ops, On: k, MAC: mac}
}

// The lives that most tests begin with.
func pending(t testing.TB) *host { t.Helper(); h := newHost(t); return h.do(h.register()) }

func approved(t testing.TB) *host { t.Helper(); h := pending(t); return h.do(h.approve()) }

func disabled(t testing.TB) *host {
	t.Helper()
	return approved(t).do(lifecycle.Disable{Call: ops})
}

// awaiting has both its NICs enrolling, as its boots would leave them.
func awaiting(t testing.TB) *host {
	t.Helper()
	h := newHost(t)
	return h.do(lifecycle.Sighted{MAC: nicA}, lifecycle.Sighted{MAC: nicB}, h.announce())
}

func settingUpHost(t testing.TB) *host { t.Helper(); h := awaiting(t); return h.do(h.approveSetup()) }

func drained(t testing.TB) *host { t.Helper(); h := settingUpHost(t); return h.do(h.drain()) }

func installed(t testing.TB) *host { t.Helper(); h := drained(t); return h.do(h.ended(true)) }

// adopted is an installed machine whose acceptance run passed.
func adopted(t testing.TB) *host {
	t.Helper()
	h := installed(t).do(lifecycle.SessionOpened{Epoch: 1, Gateway: "gw"})
	return h.do(lifecycle.Report{Epoch: h.Node.Prov.Epoch, OK: true, World: idle}).prov(provision.Adopted)
}

// enrolledMetal is a machine known by its BMC and nicA.
func enrolledMetal(t testing.TB) *host {
	t.Helper()
	return newHost(t).do(lifecycle.EnrollMetal{Call: ops, NewID: aNode, Metal: lifecycle.Metal{BMC: "10.9.0.1", MACs: []netboot.MAC{nicA}}})
}

// ready went through the whole chain, with wipe evidence.
func ready(t testing.TB) *host {
	t.Helper()
	h := enrolledMetal(t)
	h.do(h.reported(true)).prov(provision.Inspecting)
	report := h.reported(true)
	report.Inspected = &lifecycle.Inspection{Server: uuid, MACs: []netboot.MAC{nicA}, Inventory: lifecycle.Inventory{Digest: provision.Hash{1}, Serials: []string{"disk-1"}}}
	h.do(report)
	h.do(h.wiped(), h.reported(true))
	return h.prov(provision.Ready)
}

// retiredMetal went from ready to its end.
func retiredMetal(t testing.TB) *host {
	t.Helper()
	h := ready(t).do(verb(provision.Retire))
	h.do(h.wiped())
	in := h.reported(true)
	in.World.Off = true
	return h.do(in).prov(provision.Retired)
}

// retiredDevice is an approved device of the inventory that its owner retired.
func retiredDevice(t testing.TB) *host {
	t.Helper()
	h := approved(t).do(lifecycle.Listed{Device: "dev-1"}, lifecycle.RetireDevice{Serial: "disk-1"})
	for _, on := range []run.RetireKind{run.Wiped, "off", run.Evicted, run.Cleaned} {
		if epoch := h.Node.Run.Retire.Epoch; on == "off" {
			h.do(lifecycle.OffConfirmed{Epoch: epoch})
		} else {
			h.do(lifecycle.RetireReport{On: on, Epoch: epoch})
		}
	}
	return h
}

// reported is the end of the provision axis's open attempt, told at the time
// of the step that it is given to.
func (h *host) reported(ok bool) lifecycle.Report {
	return lifecycle.Report{Epoch: h.Node.Prov.Epoch, OK: ok, World: idle}
}

// inspected is the ramdisk of a retirement that began without inventory.
func (h *host) inspected() lifecycle.Inspected {
	return lifecycle.Inspected{Epoch: h.Node.Prov.Epoch, Inspection: lifecycle.Inspection{Server: uuid, MACs: []netboot.MAC{nicA, nicB},
		Inventory: lifecycle.Inventory{Digest: provision.Hash{3}, Serials: []string{"disk-1"}}}}
}

func (h *host) wiped() lifecycle.WipeEvidence {
	e := lifecycle.WipeEvidence{Epoch: h.Node.Prov.Epoch, Generation: h.Node.Identity.Generation, Signed: true, Digest: provision.Hash{2}}
	for _, serial := range h.Node.Inventory.Serials {
		e.Disks = append(e.Disks, lifecycle.DiskWipe{Serial: serial, Result: "done"})
	}
	return e
}

func verb(on provision.Kind) lifecycle.Verb {
	v := lifecycle.Verb{Call: ops, On: on, World: idle}
	if on == provision.Deploy {
		v.Profile = provision.Profile{ID: "debian", Version: 3, Role: "worker"}
	}
	return v
}
