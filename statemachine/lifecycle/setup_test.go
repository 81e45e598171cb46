package lifecycle_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/provision"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// SET-5, MACH-4, MACH-7: what one approval writes, and for how long.
func TestApproveSetup(t *testing.T) {
	h := awaiting(t)
	in := h.approveSetup()
	last := h.Site.Epoch
	h.do(in).reg(registration.SettingUp).told("registration.setting_up", lifecycle.GrantMade, lifecycle.KeyMade)
	r := h.Node.Reg
	if r.Epoch != last+1 || h.Site.Epoch != r.Epoch || !r.Deadline.Equal(h.now.Add(45*time.Minute)) {
		t.Errorf("epoch %d of %d until %s", r.Epoch, h.Site.Epoch, r.Deadline)
	}
	bound, tickets := in.Mint.Bound, in.Mint.Tickets
	for _, k := range []*registration.Key{&bound, &tickets[0], &tickets[1], &tickets[2]} {
		k.Generation = r.Epoch
	}
	if r.Bound != bound || r.Tickets != tickets || r.Bundle != (registration.Bundle{Sealed: in.Mint.Sealed}) {
		t.Errorf("minted %+v %+v %+v", r.Bound, r.Tickets, r.Bundle)
	}
	if r.Image != image || r.Plan.Digest != in.Shown || r.Plan.Approver != ops.By || r.Plan.InClear {
		t.Errorf("image %q, plan %+v", r.Image, r.Plan)
	}
	if slot := lifecycle.SlotOf(&h.Node); slot.Holder != lifecycle.Setup || slot.Epoch != r.Epoch {
		t.Errorf("the setup does not hold the machine: %+v", slot)
	}
	later := admin // later policy edits do not reach it
	later.Enrollment = "enroll-2"
	if h.do(lifecycle.SetPolicy{Call: ops, Policy: later}); h.Node.Reg.Image != image {
		t.Error("a policy edit reached an approved setup")
	}
}

// SET-2, SET-3, EDGE-15: permission, existence, state, world, version, inputs.
// Each case breaks one thing and all that is checked after it.
func TestApproveSetupOrder(t *testing.T) {
	wreck := func(in *lifecycle.ApproveSetup) {
		in.Version, in.Realized.Hostname, in.Mint, in.Shown = 99, "..", lifecycle.Mint{}, registration.Hash{}
	}
	t.Run("permission", func(t *testing.T) {
		each(t, func(h *host, s registration.State) {
			in := h.approveSetup()
			wreck(&in)
			in.Operator, in.World.Missing = false, "placement"
			h.refused(sm.Denied, in)
		})
	})
	t.Run("state", func(t *testing.T) {
		each(t, func(h *host, s registration.State) {
			in := h.approveSetup()
			wreck(&in)
			in.World.Missing = "placement"
			switch s {
			case registration.Absent:
				h.refused(sm.NotFound, in)
			case registration.AwaitingSetup:
				h.refused(sm.Unavailable, in)
			default:
				h.refused(sm.Conflict, in)
			}
		})
	})
	h := awaiting(t)
	in := h.approveSetup()
	wreck(&in)
	h.refused(sm.Conflict, in) // the version
	in.Version = h.Node.Version
	h.refused(sm.InvalidInput, in) // the inputs
}

// SET-3: a replay never restarts an install.
func TestApproveSetupReplay(t *testing.T) {
	h := awaiting(t)
	in := h.approveSetup()
	h.do(in).refused(sm.Conflict, in)
	h.do(h.drain()).refused(sm.Conflict, in)
	h.do(h.ended(true)).refused(sm.Conflict, in)
}

// SET-4, SET-14, DISK-2: inputs that mint nothing.
func TestApproveSetupInputs(t *testing.T) {
	same := registration.Key{ID: "same", Hash: registration.Hash{1}, Scope: lifecycle.ScopeTicket}
	for name, c := range map[string]struct {
		code sm.Code
		edit func(*lifecycle.ApproveSetup)
	}{
		"no hostname":                  {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Hostname = "" }},
		"hostname of 64":               {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Hostname = strings.Repeat("a", 64) }},
		"hostname with a dot":          {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Hostname = "a.b" }},
		"hostname that boot would run": {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Hostname = "$(reboot)" }},
		"hostname begins with a dash":  {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Hostname = "-a" }},
		"hostname ends with a dash":    {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Hostname = "a-" }},
		"image not staged":             {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Disk = "sha256:0" }},
		"boot program not staged":      {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Boot = "sha256:0" }},
		"layout not realized":          {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Digest = registration.Hash{} }},
		"a disk of no inventory":       {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Serials = []string{"disk-9"} }},
		"a disk without serial":        {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Realized.Serials = []string{""} }},
		"no bundle":                    {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Mint.Sealed = "" }},
		"no bound key":                 {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Mint.Bound = registration.Key{} }},
		"a ticket missing":             {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Mint.Tickets[2] = registration.Key{} }},
		"a ticket twice": {sm.InvalidInput, func(in *lifecycle.ApproveSetup) {
			in.Mint.Tickets = [3]registration.Key{same, same, in.Mint.Tickets[0]}
		}},
		"a ticket that is an agent's": {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Mint.Tickets[0].Scope = lifecycle.ScopeAgent }},
		"a bound key of every right":  {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.Mint.Bound.Scope = "full" }},
		"another plan than shown":     {sm.Conflict, func(in *lifecycle.ApproveSetup) { in.Shown[5]++ }},
		"an older inventory":          {sm.Conflict, func(in *lifecycle.ApproveSetup) { in.Realized.Inventory[0]++ }},
		"an open allocation":          {sm.Conflict, func(in *lifecycle.ApproveSetup) { in.World.Open = 1 }},
		"nobody":                      {sm.InvalidInput, func(in *lifecycle.ApproveSetup) { in.By = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			h := awaiting(t)
			in := h.approveSetup()
			c.edit(&in)
			h.refused(c.code, in)
		})
	}
	for _, name := range []string{"a", "0", "node-7", strings.Repeat("a", 63)} {
		h := awaiting(t)
		in := h.approveSetup()
		in.Realized.Hostname = name
		h.do(in)
	}
}

// SET-14: the inventory that changed between the page and the click.
func TestInventoryChangedUnderTheOperator(t *testing.T) {
	h := awaiting(t)
	in := h.approveSetup()
	ann := h.announce()
	ann.Inventory.Digest[0]++
	h.do(ann).refused(sm.Conflict, in)
}

// SET-18: the approval covers the MACs that the session was seen with, and no
// other machine's.
func TestApprovedMACs(t *testing.T) {
	h := settingUpHost(t)
	if p := h.Node.Reg.Plan; !slices.Equal(p.MACs, []registration.MAC{registration.MAC(nicA)}) || !slices.Equal(p.LeftOut, []registration.MAC{registration.MAC(nicB)}) {
		t.Errorf("covers %v, leaves out %v", p.MACs, p.LeftOut)
	}
	h = awaiting(t)
	h.Node.NICs = slices.Clone(h.Node.NICs)
	h.Node.NICs[0].Owner = netboot.Owner{Node: string(another)} // as its own setup-complete wrote it
	err := h.refused(sm.Conflict, h.approveSetup())
	if r, ok := errors.AsType[*lifecycle.Refused](err); !ok || r.Reason != "MAC_CLAIMED" {
		t.Errorf("reason: %v", err)
	}
}

// SET-17, EDGE-14: a stock agent's bundle goes in clear only where policy
// allows it, and the plan says so.
func TestStockAgent(t *testing.T) {
	stock := func(h *host) *host { in := h.announce(); in.AgentKey = registration.Hash{}; return h.do(in) }
	h := stock(newHost(t))
	h.refused(sm.Conflict, h.approveSetup())

	h = stock(newHost(t, func(p *lifecycle.Policy) { p.ClearBundles = true }))
	if h.do(h.approveSetup()); !h.Node.Reg.Plan.InClear {
		t.Error("the approval does not say that the bundle goes in clear")
	}
	in := h.drain()
	in.AgentKey = registration.Hash{}
	h.do(in)
}

// SET-6, SET-17, EDGE-6: the bundle leaves once, for the announced key, over
// the held connection, before the deadline.
func TestDrain(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		h := settingUpHost(t)
		h.do(h.drain()).reg(registration.SettingUp)
		if b := h.Node.Reg.Bundle; b.Sealed != "" || !b.Consumed {
			t.Errorf("bundle after the drain: %+v", b)
		}
		h.refused(sm.Conflict, h.drain())
	})
	for name, edit := range map[string]func(*lifecycle.Drain){
		"another epoch": func(in *lifecycle.Drain) { in.Epoch++ }, "no epoch": func(in *lifecycle.Drain) { in.Epoch = 0 },
		"another key": func(in *lifecycle.Drain) { in.AgentKey[0]++ }, "not connected": func(in *lifecycle.Drain) { in.Held = false },
	} {
		t.Run(name, func(t *testing.T) {
			h := settingUpHost(t)
			in := h.drain()
			edit(&in)
			h.refused(sm.Conflict, in)
			h.do(h.drain())
		})
	}
	t.Run("past the deadline", func(t *testing.T) {
		h := settingUpHost(t)
		h.wait(45*time.Minute).refused(sm.Conflict, h.drain())
	})
	each(t, func(h *host, s registration.State) {
		switch s {
		case registration.SettingUp:
		case registration.Absent:
			h.refused(sm.NotFound, h.drain())
		default:
			h.refused(sm.InvalidState, h.drain())
		}
	})
}

// SET-10, JOINT-1: completion takes the approved MACs along in its commit.
func TestSetupComplete(t *testing.T) {
	h := drained(t)
	bound, left := h.Node.Reg.Bound, h.record(nicB)
	h.do(h.ended(true)).reg(registration.Approved).told("registration.approved", "boot.enrolled")
	want := h.record(nicA)
	if b := h.boot(nicA, netboot.Enrolled); b.Image != image || b.Owner.Node != string(aNode) || b.Owner.Server != netboot.ServerID(uuid) || !b.Address.IsValid() {
		t.Errorf("%+v", want)
	}
	if h.record(nicB) != left {
		t.Errorf("a MAC that was not approved moved: %+v", h.record(nicB))
	}
	if r := h.Node.Reg; r.Bound != bound || r.Bundle != (registration.Bundle{}) || r.AgentKey != (registration.Hash{}) || !r.OnceApproved {
		t.Errorf("%+v", r)
	}
	if len(h.revoked()) != 0 || h.Node.Grant.Writing != "" {
		t.Errorf("keys revoked: %v; grant %+v", h.revoked(), h.Node.Grant)
	}
}

// SET-10: no assigned image, no boot record; another's record is left alone
// and reported, one's own is not.
func TestSetupCompleteLeavesAlone(t *testing.T) {
	h := newHost(t, func(p *lifecycle.Policy) { p.Enrollment = "" }).do(lifecycle.Sighted{MAC: nicA})
	h.do(h.announce())
	h.do(h.approveSetup())
	h.do(h.drain())
	was := h.record(nicA)
	if h.do(h.ended(true)).reg(registration.Approved); h.record(nicA) != was {
		t.Errorf("without an image: %+v", h.record(nicA))
	}

	h = drained(t)
	h.Node.NICs = slices.Clone(h.Node.NICs)
	h.Node.NICs[0].Owner = netboot.Owner{Node: string(another)}
	h.do(h.ended(true)).reg(registration.Approved).told(lifecycle.RecordLeft).boot(nicA, netboot.Enrolling)

	h = installed(t).do(lifecycle.FactoryReset{Call: ops, World: idle}) // its record stays bound
	none := admin
	none.Enrollment = ""
	h.do(lifecycle.SetPolicy{Call: ops, Policy: none}, h.announce())
	h.do(h.approveSetup())
	h.do(h.drain())
	h.do(h.ended(true))
	for _, f := range h.facts {
		if f.Name == lifecycle.RecordLeft {
			t.Errorf("its own record is reported as another's: %v", f)
		}
	}
}

// SET-9, SET-11, EDGE-6, MACH-4: reports by epoch.
func TestSetupReports(t *testing.T) {
	for _, ok := range []bool{true, false} {
		h := drained(t)
		in := h.ended(ok)
		in.Epoch++
		h.refused(sm.Conflict, in)
		in.Epoch = 0
		h.refused(sm.Conflict, in)
		in = h.ended(ok)
		h.do(in).idles(in) // the same again
		in.OK = !ok
		h.refused(sm.Conflict, in) // and not the contrary
	}
	h := settingUpHost(t)
	h.refused(sm.Conflict, h.ended(true)) // unconsumed
	h.do(h.ended(false)).reg(registration.AwaitingSetup)
}

// SET-11: no key of a failed install is alive anywhere.
func TestSetupFailed(t *testing.T) {
	for name, end := range map[string]func(h *host){
		"reported": func(h *host) { h.do(h.ended(false)) },
		"expired":  func(h *host) { h.wait(45 * time.Minute).do(lifecycle.Expire{}) },
		"another key announced": func(h *host) {
			in := h.announce()
			in.AgentKey[0]++
			h.do(in)
		},
		"a keyless announce": func(h *host) {
			in := h.announce()
			in.AgentKey = registration.Hash{}
			h.do(in)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := settingUpHost(t)
			end(h)
			h.reg(registration.AwaitingSetup).told("registration.awaiting_setup")
			r := h.Node.Reg
			if f := r.Fields() &^ registration.FieldAgentKey; f != registration.FieldLastError {
				t.Errorf("the row still has {%s}", registration.Table.FieldNames(f))
			}
			if got := h.revoked(); len(got) != 4 {
				t.Errorf("revoked %v, want the bound key and three tickets", got)
			}
			if h.Node.Grant.Writing != "" || lifecycle.SlotOf(&h.Node).Holder != lifecycle.Free {
				t.Errorf("grant %+v, slot %+v", h.Node.Grant, lifecycle.SlotOf(&h.Node))
			}
			h.idles(lifecycle.SetupReport{Epoch: r.Epoch, Why: "late"}) // EDGE-7: by whatever path it was decided
			h.do(h.announce())
			h.do(h.approveSetup()).reg(registration.SettingUp)
			if h.Node.Reg.Epoch <= r.Epoch || h.Node.Reg.LastError != "" {
				t.Errorf("second attempt: %+v", h.Node.Reg)
			}
			h.idles(lifecycle.SetupReport{Epoch: r.Epoch, Why: "late"}) // a repeat even now
			h.refused(sm.Conflict, lifecycle.SetupReport{Epoch: r.Epoch, OK: true})
			h.reg(registration.SettingUp)
		})
	}
}

// SET-11: the reason is cut at 512 bytes on a rune boundary.
func TestSetupReasonIsCut(t *testing.T) {
	for _, why := range []string{"", strings.Repeat("é", 400), strings.Repeat("x", 511) + "é", "\xff\xfe"} {
		h := settingUpHost(t)
		in := h.ended(false)
		in.Why = why
		h.do(in)
		if got := h.Node.Reg.LastError; got == "" || len(got) > 512 || !utf8.ValidString(got) {
			t.Errorf("kept %d bytes of %d, valid %t", len(got), len(why), utf8.ValidString(got))
		}
	}
}

// SET-17: once the bundle is out, another key changes nothing.
func TestOtherKeyAfterTheDrain(t *testing.T) {
	h := drained(t)
	in := h.announce()
	in.AgentKey[0]++
	h.idles(in).reg(registration.SettingUp)
}

// EDGE-14: the announce that ends a setup also refreshes the row.
func TestOtherKeyRefreshes(t *testing.T) {
	h := settingUpHost(t)
	in := h.announce()
	in.AgentKey[0]++
	in.Inventory.Digest[0]++
	h.do(in)
	if r := h.Node.Reg; r.AgentKey != in.AgentKey || r.Inventory.Digest != in.Inventory.Digest {
		t.Errorf("%+v", r)
	}
}

// SET-12, MACH-4: no node wedges in setting_up; without a deadline it is due
// at once.
func TestSetupDeadline(t *testing.T) {
	h := settingUpHost(t)
	at, _, ok := lifecycle.Due(&h.Node)
	if want := dawn.Add(45 * time.Minute); !ok || !at.Equal(want) {
		t.Fatalf("due %s, %t", at, ok)
	}
	h.wait(45*time.Minute-1).refused(sm.Conflict, lifecycle.Expire{})
	h.wait(1).do(lifecycle.Expire{}).reg(registration.AwaitingSetup)
	if h.Node.Reg.LastError != registration.ReasonExpired {
		t.Errorf("reason %q", h.Node.Reg.LastError)
	}
	h = settingUpHost(t)
	h.Node.Reg.Deadline = time.Time{} // a row that lost it
	if at, _, ok := lifecycle.Due(&h.Node); !ok || !at.IsZero() {
		t.Errorf("due %s, %t", at, ok)
	}
	h.do(lifecycle.Expire{}).reg(registration.AwaitingSetup)
}

// EDGE-6: between deadline and sweep the right report, or a refresh, counts.
func TestReportInTheGap(t *testing.T) {
	h := drained(t).wait(time.Hour)
	h.do(h.ended(true)).reg(registration.Approved)
	h = drained(t).wait(time.Hour)
	h.do(lifecycle.Refresh{Key: h.Node.Reg.Bound.Hash, Inventory: sysinfo()}).reg(registration.Approved)
}

// SET-13: a refresh with the bound key completes a consumed setup by the same
// joint; the report that comes later is a repeat (EDGE-7).
func TestRefreshCompletesSetup(t *testing.T) {
	h := settingUpHost(t)
	in := lifecycle.Refresh{Key: h.Node.Reg.Bound.Hash, Inventory: sysinfo()}
	h.refused(sm.Conflict, in)
	h.do(h.drain())
	late := h.ended(true)
	h.do(in).reg(registration.Approved).boot(nicA, netboot.Enrolled)
	h.idles(late)
	late.OK = false
	h.refused(sm.Conflict, late)
}

// EDGE-7: after factory reset, re-arm and delete the old report is a conflict.
func TestOldReportsAfterANewLife(t *testing.T) {
	for name, next := range map[string]func(*host){
		"reset":  func(h *host) { h.do(lifecycle.FactoryReset{Call: ops, World: idle}) },
		"re-arm": func(h *host) { h.do(lifecycle.Disable{Call: ops}, h.register()) },
		"delete": func(h *host) { h.do(lifecycle.Disable{Call: ops}, lifecycle.DeleteRow{Call: ops, World: idle}) },
	} {
		t.Run(name, func(t *testing.T) {
			h := installed(t)
			late := h.ended(true)
			h.idles(late)
			next(h)
			h.refused(sm.Conflict, late)
		})
	}
}

// MACH-3, MACH-4: one attempt slot; the conflict names who holds it.
func TestSlotIsOne(t *testing.T) {
	h := approved(t).do(lifecycle.SessionOpened{Epoch: 1, Gateway: "gw"}).prov(provision.Adopting)
	err := h.refused(sm.Conflict, lifecycle.FactoryReset{Call: ops, World: idle})
	if d, ok := errors.AsType[*lifecycle.Detailed](err); !ok || d.Holder.Holder != lifecycle.Workflow || d.Holder.Epoch != h.Node.Prov.Epoch {
		t.Errorf("the refusal names no holder: %v", err)
	}

	h = newHost(t).do(lifecycle.Join{NewID: aNode, Claims: lifecycle.Claims{Server: uuid}, Certificate: "c"})
	h.do(h.announce())
	err = h.refused(sm.Conflict, h.approveSetup()) // its acceptance run holds the machine
	if d, ok := errors.AsType[*lifecycle.Detailed](err); !ok || d.Holder.Holder != lifecycle.Workflow {
		t.Errorf("the refusal names no holder: %v", err)
	}
	h.do(h.reported(false))
	h.do(h.approveSetup()).reg(registration.SettingUp)
	h.refused(sm.Conflict, verb(provision.Adopt))
}
