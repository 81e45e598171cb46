package registration_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"pgregory.net/rapid"
)

// row is a registration row with a clock and an epoch counter of its own.
type row struct {
	registration.Record
	now  time.Time
	last uint64
}

func newRow() *row { return &row{Record: registration.New(), now: start} }

// try steps one event; edits change what it brings. Reports name the newest
// attempt unless an edit says otherwise.
func (r *row) try(on registration.Kind, edits ...func(*registration.Event)) error {
	e := bring(on, r.last+1)
	if registration.Table.Reports(on) {
		e.Epoch = r.Epoch
	}
	for _, edit := range edits {
		edit(&e)
	}
	next, err := registration.Step(r.Record, e, r.now)
	r.Record, r.last = next, max(r.last, next.Epoch)
	return err
}

// do is try for steps that must succeed.
func (r *row) do(t *testing.T, on registration.Kind, edits ...func(*registration.Event)) *row {
	t.Helper()
	if err := r.try(on, edits...); err != nil {
		t.Fatal(err)
	}
	return r
}

// refused demands a refusal with a code, by which nothing changes.
func (r *row) refused(t *testing.T, code sm.Code, on registration.Kind, edits ...func(*registration.Event)) {
	t.Helper()
	before := r.Record
	err := r.try(on, edits...)
	if got := codeOf(err); got != string(code) {
		t.Errorf("%s in %s: %v, want %s", on, before.State, err, code)
	}
	if !reflect.DeepEqual(r.Record, before) {
		t.Errorf("%s was refused and changed the row:\n%+v\n%+v", on, before, r.Record)
	}
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

// The edits of this package's tests.
func facts(g sm.Guard) func(*registration.Event) {
	return func(e *registration.Event) { e.Facts = g }
}

func epoch(n uint64) func(*registration.Event) {
	return func(e *registration.Event) { e.Epoch = n }
}

func why(text string) func(*registration.Event) {
	return func(e *registration.Event) { e.Why = text }
}

func withCode(h byte) func(*registration.Event) {
	return func(e *registration.Event) { e.Code.Hash = registration.Hash{h} }
}

func session(key registration.Hash) func(*registration.Event) {
	return func(e *registration.Event) { e.AgentKey = key }
}

// The usual ways to a state.
func pending(t *testing.T) *row { t.Helper(); return newRow().do(t, registration.Register) }

func approved(t *testing.T) *row { t.Helper(); return pending(t).do(t, registration.Approve) }

func awaiting(t *testing.T) *row {
	t.Helper()
	return newRow().do(t, registration.Announce, facts(registration.Admitted))
}

func settingUp(t *testing.T) *row { t.Helper(); return awaiting(t).do(t, registration.ApproveSetup) }

func drained(t *testing.T) *row { t.Helper(); return settingUp(t).do(t, registration.Drain) }

func installed(t *testing.T) *row { t.Helper(); return drained(t).do(t, registration.SetupComplete) }

// only demands that a row has just these fields.
func (r *row) only(t *testing.T, f sm.Fields) {
	t.Helper()
	if got := r.Fields(); got != f {
		t.Errorf("%s has {%s}, want {%s}", r.State, registration.Table.FieldNames(got), registration.Table.FieldNames(f))
	}
}

// A row in a state has exactly what the way there wrote, and nothing of what
// was before.
func TestWhatEachWayWrites(t *testing.T) {
	const member = registration.FieldBound | registration.FieldApproved
	const setUp = member | registration.FieldTickets | registration.FieldPlan | registration.FieldImage
	reset := facts(registration.Image)
	for name, c := range map[string]struct {
		row  *row
		want sm.Fields
	}{
		"registered, REG-2": {pending(t), registration.FieldCode | registration.FieldPoll},
		"registered again, REG-4": {pending(t).do(t, registration.Register),
			registration.FieldCode | registration.FieldPoll},
		"approved by code, REG-14": {approved(t), member | registration.FieldPoll | registration.FieldWaiting | registration.FieldSpent},
		"approved by window, REG-7": {newRow().do(t, registration.Register, facts(registration.Window)),
			member | registration.FieldPoll | registration.FieldWaiting},
		"pending approved by window, REG-7": {pending(t).do(t, registration.Register, facts(registration.Window)),
			member | registration.FieldPoll | registration.FieldWaiting},
		"acknowledged, REG-6":       {approved(t).do(t, registration.Acknowledge), member | registration.FieldSpent},
		"refreshed, REG-6":          {approved(t).do(t, registration.Refresh), member | registration.FieldSpent},
		"disabled, REG-11":          {approved(t).do(t, registration.Disable), registration.FieldApproved},
		"disabled pending, REG-11":  {pending(t).do(t, registration.Disable), 0},
		"disabled set up, REG-11":   {installed(t).do(t, registration.Disable), registration.FieldApproved | registration.FieldPlan | registration.FieldImage},
		"withdrawn, PROV-20":        {approved(t).do(t, registration.Withdraw), registration.FieldApproved},
		"re-armed, REG-3":           {installed(t).do(t, registration.Disable).do(t, registration.Register), registration.FieldCode | registration.FieldPoll | registration.FieldRearmed},
		"announced, REG-8":          {awaiting(t), registration.FieldAgentKey},
		"setting up, SET-5":         {settingUp(t), setUp&^registration.FieldApproved | registration.FieldBundle | registration.FieldAgentKey},
		"installed, SET-10":         {installed(t), setUp},
		"promoted, SET-13":          {drained(t).do(t, registration.Refresh), setUp},
		"setup failed, SET-11":      {drained(t).do(t, registration.SetupFailed), registration.FieldAgentKey | registration.FieldLastError},
		"taken by retirement":       {settingUp(t).do(t, registration.Preempt), registration.FieldAgentKey | registration.FieldLastError},
		"approved anew, SET-11":     {drained(t).do(t, registration.SetupFailed).do(t, registration.ApproveSetup), setUp&^registration.FieldApproved | registration.FieldBundle | registration.FieldAgentKey},
		"reset, REG-12":             {installed(t).do(t, registration.FactoryReset, reset), 0},
		"reset when disabled":       {installed(t).do(t, registration.Disable).do(t, registration.FactoryReset, reset), 0},
		"withdrawn before approval": {awaiting(t).do(t, registration.Withdraw), 0},
	} {
		t.Run(name, func(t *testing.T) { c.row.only(t, c.want) })
	}
}

// of is k as the setup with this epoch keeps it.
func of(epoch uint64, k registration.Key) registration.Key {
	k.Generation = epoch
	return k
}

// REG-2, SET-5: what a new row and a setup hold is what the event brought, and
// each key of a setup says of which.
func TestValuesAreTheEvents(t *testing.T) {
	r := settingUp(t)
	if r.Server != server || !reflect.DeepEqual(r.Inventory, sysinfo) || r.AgentKey != agentKey {
		t.Errorf("announce wrote %v, %+v, %v", r.Server, r.Inventory, r.AgentKey)
	}
	if r.Bound != of(1, bound) || r.Tickets != [3]registration.Key{of(1, tickets[0]), of(1, tickets[1]), of(1, tickets[2])} || r.Bundle != (registration.Bundle{Sealed: "bundle"}) ||
		!reflect.DeepEqual(r.Plan, plan) || r.Image != "pi1" {
		t.Errorf("approve-setup wrote %+v", r.Record)
	}
	if r.Epoch != 1 || !r.Deadline.Equal(start.Add(45*time.Minute)) {
		t.Errorf("approve-setup opened %+v, want epoch 1 until 45 min later", r.At)
	}
	if r := pending(t); r.Code.Hash != code || r.Poll.Hash != poll || r.OnceApproved {
		t.Errorf("register wrote %+v", r.Record)
	}
}

// MACH-5: setting_up is 45 minutes, whatever the event brings.
func TestSetupDeadlineIsFixed(t *testing.T) {
	r := awaiting(t).do(t, registration.ApproveSetup, func(e *registration.Event) { e.Within = time.Hour })
	if got := r.Deadline.Sub(start); got != 45*time.Minute {
		t.Errorf("the deadline is %s away, want 45m", got)
	}
}

// The zero Record is no row, and a refusal leaves even that as it was.
func TestZeroRecordIsNoRow(t *testing.T) {
	var r row
	r.refused(t, sm.NotFound, registration.Approve)
	r.do(t, registration.Delete)
	if r.do(t, registration.Register); r.State != registration.Pending {
		t.Errorf("register made %s", r.State)
	}
}

// REG-4: a second register voids code and token; REG-14: only the right code,
// in time, approves.
func TestClaimCode(t *testing.T) {
	r := pending(t)
	r.do(t, registration.Register, withCode(9), func(e *registration.Event) { e.Poll.Hash = registration.Hash{10} })
	r.refused(t, sm.InvalidInput, registration.Approve) // the old code
	if r.Poll.Hash != (registration.Hash{10}) {
		t.Error("the old poll token lives")
	}
	r.refused(t, sm.InvalidInput, registration.Approve, withCode(0)) // a UUID alone
	r.now = start.Add(registration.CodeLife)
	r.refused(t, sm.InvalidInput, registration.Approve, withCode(9)) // expired
	r.now = r.now.Add(-1)
	if r.do(t, registration.Approve, withCode(9)); r.State != registration.Approved || !r.ApprovedAt.Equal(r.now) {
		t.Errorf("approved as %s at %s", r.State, r.ApprovedAt)
	}
}

// A row whose code is void (zero) is approved by nothing, a zero hash included.
func TestVoidCodeApprovesNothing(t *testing.T) {
	r := newRow().do(t, registration.Register, func(e *registration.Event) { e.Code = registration.Expiring{} })
	r.refused(t, sm.InvalidInput, registration.Approve, withCode(0))
}

// EDGE-16: the repeat succeeds for the same operator, the same code and an
// hour, and writes nothing.
func TestRepeatedApproval(t *testing.T) {
	r := approved(t)
	before := r.Record
	r.do(t, registration.Approve, func(e *registration.Event) { e.Bound.ID, e.Waiting = "key-2", "other" })
	if !reflect.DeepEqual(r.Record, before) {
		t.Errorf("the repeat wrote:\n%+v\n%+v", before, r.Record)
	}
	r.refused(t, sm.InvalidState, registration.Approve, func(e *registration.Event) { e.By = "eve" })
	r.refused(t, sm.InvalidState, registration.Approve, withCode(9))
	r.now = start.Add(time.Hour)
	r.refused(t, sm.InvalidState, registration.Approve)
	r = approved(t).do(t, registration.Disable)
	r.refused(t, sm.InvalidState, registration.Approve)
	if r.do(t, registration.Register, withCode(9)); r.State != registration.Pending {
		t.Fatal(r.State)
	}
	r.refused(t, sm.InvalidInput, registration.Approve) // the spent code is void after a re-arm
}

// A window's approval spends no code: there is nothing to repeat.
func TestWindowSpendsNoCode(t *testing.T) {
	newRow().do(t, registration.Register, facts(registration.Window)).refused(t, sm.InvalidState, registration.Approve)
}

// REG-6: the waiting key is gone once it is acknowledged or used, and revoked
// when the token ends before.
func TestWaitingKey(t *testing.T) {
	r := approved(t)
	r.now = start.Add(time.Hour - 1)
	if r.do(t, registration.Lapse); r.Waiting == "" || r.Bound != bound {
		t.Error("a lapse before the token's end took the key")
	}
	r.now = start.Add(time.Hour)
	r.do(t, registration.Lapse)
	r.only(t, registration.FieldSpent|registration.FieldApproved)
	for _, on := range []registration.Kind{registration.Acknowledge, registration.Refresh} {
		r := approved(t).do(t, on)
		r.now = start.Add(time.Hour)
		if r.do(t, registration.Lapse); r.Bound != bound {
			t.Errorf("after %s the lapse revoked a key in use", on)
		}
	}
	if r := installed(t).do(t, registration.Lapse); r.Bound != of(1, bound) {
		t.Error("a lapse revoked a key that came in a bundle")
	}
	r = pending(t)
	r.now = start.Add(time.Hour)
	if r.do(t, registration.Lapse).only(t, registration.FieldCode); r.State != registration.Pending {
		t.Error(r.State)
	}
}

// The way back from a revoked key is disable and register (REG-6); the mark of
// a re-armed row keeps windows away (REG-3, REG-7) until a person approves.
func TestRearm(t *testing.T) {
	r := approved(t).do(t, registration.Disable).do(t, registration.Register, facts(registration.Window))
	if r.State != registration.Pending || !r.Rearmed {
		t.Fatalf("re-armed to %s, marked %t", r.State, r.Rearmed)
	}
	if r.do(t, registration.Register, facts(registration.Window)); r.State != registration.Pending || !r.Rearmed {
		t.Errorf("a window took a re-armed row: %s, marked %t", r.State, r.Rearmed)
	}
	if r.do(t, registration.Approve); r.State != registration.Approved || r.Rearmed {
		t.Errorf("approved to %s, marked %t", r.State, r.Rearmed)
	}
	r = pending(t).do(t, registration.Disable).do(t, registration.Register)
	if !r.Rearmed {
		t.Error("a row disabled before approval is not marked")
	}
}

// EDGE-8: once approved, always once approved, but for a new row.
func TestOnceApproved(t *testing.T) {
	reset := facts(registration.Image)
	for name, r := range map[string]*row{
		"by code": approved(t), "by window": newRow().do(t, registration.Register, facts(registration.Window)),
		"by setup": installed(t), "by refresh": drained(t).do(t, registration.Refresh),
		"disabled": approved(t).do(t, registration.Disable), "reset": approved(t).do(t, registration.FactoryReset, reset),
		"re-armed":  approved(t).do(t, registration.Disable).do(t, registration.Register),
		"set up":    approved(t).do(t, registration.FactoryReset, reset).do(t, registration.ApproveSetup),
		"withdrawn": approved(t).do(t, registration.Withdraw),
	} {
		if !r.OnceApproved {
			t.Errorf("%s: not once approved", name)
		}
	}
	for name, r := range map[string]*row{
		"pending": pending(t), "awaiting": awaiting(t), "setting up": drained(t), "failed": drained(t).do(t, registration.SetupFailed),
		"deleted": approved(t).do(t, registration.Disable).do(t, registration.Delete),
		"anew":    approved(t).do(t, registration.Disable).do(t, registration.Delete).do(t, registration.Register),
	} {
		if r.OnceApproved {
			t.Errorf("%s: once approved", name)
		}
	}
}

// SET-6, EDGE-6, SET-17: the bundle leaves once, in time, to its own session.
func TestBundleIsOneShot(t *testing.T) {
	r := settingUp(t)
	r.refused(t, sm.Conflict, registration.Drain, session(otherKey))
	r.refused(t, sm.Conflict, registration.Drain, epoch(7))
	r.now = r.Deadline
	r.refused(t, sm.Conflict, registration.Drain)
	r.now = r.Deadline.Add(-1)
	if r.do(t, registration.Drain); r.Bundle != (registration.Bundle{Consumed: true}) || r.State != registration.SettingUp {
		t.Errorf("after the drain: %s, %+v", r.State, r.Bundle)
	}
	r.refused(t, sm.Conflict, registration.Drain)
	r.do(t, registration.SetupFailed).do(t, registration.ApproveSetup)
	if r.Bundle.Consumed || r.Bundle.Sealed == "" {
		t.Errorf("a new approval brings no new bundle: %+v", r.Bundle)
	}
	for _, r := range []*row{awaiting(t), approved(t), installed(t), pending(t), approved(t).do(t, registration.Disable)} {
		r.refused(t, sm.InvalidState, registration.Drain)
	}
}

// A setup without an agent key is drained by a session without one alone.
func TestStockAgent(t *testing.T) {
	r := newRow().do(t, registration.Announce, facts(registration.Admitted), session(registration.Hash{})).do(t, registration.ApproveSetup)
	r.refused(t, sm.Conflict, registration.Drain)
	r.do(t, registration.Drain, session(registration.Hash{}))
}

// SET-17, EDGE-14: another key, or none, ends a setup whose bundle is still
// here, and refreshes the row; later it changes nothing.
func TestAnotherAgentKey(t *testing.T) {
	for name, key := range map[string]registration.Hash{"another": otherKey, "none": {}} {
		r := settingUp(t).do(t, registration.Announce, session(key), func(e *registration.Event) { e.Inventory.Serials = []string{"S2"} })
		if r.State != registration.AwaitingSetup || r.LastError != registration.ReasonOtherKey || r.AgentKey != key || r.Inventory.Serials[0] != "S2" {
			t.Errorf("%s: %+v", name, r.Record)
		}
		r = drained(t)
		before := r.Record
		if r.do(t, registration.Announce, session(key)); !reflect.DeepEqual(r.Record, before) {
			t.Errorf("%s: changed a row whose bundle is out: %+v", name, r.Record)
		}
	}
}

// REG-8: announce refreshes only a row that awaits setup.
func TestAnnounceChangesOnlyAwaiting(t *testing.T) {
	news := func(e *registration.Event) { e.Inventory.Serials, e.AgentKey = []string{"S2"}, agentKey }
	if r := awaiting(t).do(t, registration.Announce, news, session(otherKey)); r.Inventory.Serials[0] != "S2" || r.AgentKey != otherKey {
		t.Errorf("not refreshed: %+v", r.Record)
	}
	failed := drained(t).do(t, registration.SetupFailed)
	if failed.do(t, registration.Announce, news); failed.LastError != "no disk" {
		t.Errorf("the refresh lost the last error: %q", failed.LastError)
	}
	for _, r := range []*row{pending(t), approved(t), settingUp(t), installed(t), approved(t).do(t, registration.Disable)} {
		before := r.Record
		if r.do(t, registration.Announce, news); !reflect.DeepEqual(r.Record, before) {
			t.Errorf("announce changed a row in %s", before.State)
		}
	}
	if r := newRow().do(t, registration.Announce, facts(registration.Retired)); !reflect.DeepEqual(r.Record, registration.New()) {
		t.Errorf("announce of a retired machine made %+v", r.Record)
	}
}

// REG-4: an anonymous register reaches neither inventory nor keys of these.
func TestRegisterReachesNoLiveMachine(t *testing.T) {
	for _, r := range []*row{approved(t), awaiting(t), settingUp(t), installed(t)} {
		r.refused(t, sm.Conflict, registration.Register, facts(registration.Window), func(e *registration.Event) { e.Inventory.Serials = []string{"evil"} })
	}
}

// SET-11, SET-12, EDGE-5: every way out of a failed setup leaves its reason.
func TestLastError(t *testing.T) {
	r := drained(t)
	r.now = r.Deadline
	for want, got := range map[string]*row{
		"no disk":                    drained(t).do(t, registration.SetupFailed),
		registration.ReasonExpired:   r.do(t, registration.SetupExpired),
		registration.ReasonPreempted: drained(t).do(t, registration.Preempt),
		registration.ReasonOtherKey:  settingUp(t).do(t, registration.Announce, session(otherKey)),
	} {
		if got.State != registration.AwaitingSetup || got.LastError != want {
			t.Errorf("%s with %q, want %q", got.State, got.LastError, want)
		}
	}
	if r := awaiting(t).do(t, registration.Preempt); r.LastError != "" {
		t.Errorf("retirement gave a row without a setup the error %q", r.LastError)
	}
}

// SET-11: a reason is cut at 512 bytes, on a rune boundary, and never empty.
func TestLastErrorIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		why  string
		want int
	}{
		"short": {"x", 1}, "just": {strings.Repeat("x", 512), 512}, "long": {strings.Repeat("x", 513), 512},
		"runes of 2": {strings.Repeat("é", 300), 512}, "runes of 3": {strings.Repeat("€", 300), 510}, "runes of 4": {"x" + strings.Repeat("🔥", 300), 509},
		"no UTF-8": {strings.Repeat("\x80", 4000), len("\uFFFD")},
	} {
		if got := drained(t).do(t, registration.SetupFailed, why(c.why)).LastError; len(got) != c.want || !utf8.ValidString(got) {
			t.Errorf("%s: kept %d bytes %q, want %d", name, len(got), got, c.want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 1200).Draw(r, "why"))
		got := drained(t).do(t, registration.SetupFailed, why(text)).LastError
		if got == "" || len(got) > registration.MaxLastError || !utf8.ValidString(got) {
			r.Fatalf("kept %q", got)
		}
	})
}

// REG-16: settings move nothing and stay through everything but a delete.
func TestSettingsStay(t *testing.T) {
	r := installed(t).do(t, registration.Configure)
	r.do(t, registration.Disable).do(t, registration.FactoryReset, facts(registration.Image)).do(t, registration.ApproveSetup)
	if r.Settings.Reservoir != 1<<30 || r.Settings.Labels["rack"] != "1" || r.Settings.RootHash != "$y$" {
		t.Errorf("lost: %+v", r.Settings)
	}
}

// REG-13: an absent row holds nothing at all, and its epochs start anew.
func TestDeleteLeavesNothing(t *testing.T) {
	r := installed(t).do(t, registration.Configure).do(t, registration.Disable).do(t, registration.Delete)
	if !reflect.DeepEqual(r.Record, registration.New()) {
		t.Errorf("left: %+v", r.Record)
	}
}

// REG-6: a lapse that was meant for an older token leaves the newer one alone.
func TestLateLapse(t *testing.T) {
	r := pending(t)
	r.now = start.Add(time.Hour)
	r.do(t, registration.Register, func(e *registration.Event) {
		e.Poll = registration.Expiring{Hash: registration.Hash{11}, Until: r.now.Add(time.Hour)}
	})
	if r.do(t, registration.Lapse); r.Poll.Hash != (registration.Hash{11}) {
		t.Error("the new token is gone")
	}
}

// REG-4, REG-15, SET-13: what a machine says of itself is kept: by register,
// and by a refresh of an approved row or one that it promotes.
func TestInventoryIsRefreshed(t *testing.T) {
	news := func(e *registration.Event) { e.Server[1], e.Inventory.Serials = 9, []string{"S2"} }
	for name, r := range map[string]*row{
		"registered": newRow().do(t, registration.Register, news), "registered again": pending(t).do(t, registration.Register, news),
		"refreshed": approved(t).do(t, registration.Refresh, news), "promoted": drained(t).do(t, registration.Refresh, news),
	} {
		if !reflect.DeepEqual(r.Inventory.Serials, []string{"S2"}) {
			t.Errorf("%s: %q", name, r.Inventory.Serials)
		}
	}
	if r := newRow().do(t, registration.Register, news); r.Server[1] != 9 {
		t.Errorf("registered as %s", r.Server)
	}
}
