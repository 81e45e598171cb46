package lifecycle_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// REG-4, EDGE-15: on a member's row the state alone is told, whatever else is
// wrong with the call, and it counts against no rate.
func TestRegisterTellsStateFirst(t *testing.T) {
	each(t, func(h *host, s registration.State) {
		in := h.register()
		in.Recent, in.Code, in.Inventory.Serials = lifecycle.MaxReregister, registration.Expiring{}, []string{"\xff"}
		switch s {
		case registration.Approved, registration.AwaitingSetup, registration.SettingUp:
			h.refused(sm.Conflict, in)
		default:
			h.refused(sm.InvalidInput, in)
		}
	})
	h := pending(t)
	in := h.register()
	in.Recent = lifecycle.MaxReregister
	h.refused(sm.RateLimited, in)
}

// REG-6: a key that was not acknowledged in time opens nothing, though the
// sweeper has not come yet.
func TestUntakenKeyIsDead(t *testing.T) {
	h := approved(t)
	in := lifecycle.Refresh{Key: h.Node.Reg.Bound.Hash, Inventory: sysinfo()}
	end := h.Node.Reg.Poll.Until
	h.now = end
	h.refused(sm.Unauthenticated, in)
	h.now = end.Add(-1)
	h.do(in).told(lifecycle.InventoryChanged)
	h.now = end.Add(time.Hour) // it has been used: the token's end means nothing
	h.idles(in)
}

// EDGE-18: a booter is spared what this version cannot write, not that the
// clock is wrong.
func TestClock(t *testing.T) {
	for _, now := range []time.Time{{}, time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(2201, 1, 1, 0, 0, 0, 0, time.UTC)} {
		h := awaiting(t)
		h.now = now
		h.refused(sm.InvalidInput, h.announce())
		h.refused(sm.InvalidInput, lifecycle.SetPolicy{Call: ops})
	}
	newer := awaiting(t)
	newer.Node.Schema = lifecycle.Schema + 1
	newer.idles(newer.announce())
	odd := awaiting(t)
	odd.Node.Reg.State = "adrift"
	odd.idles(odd.announce())
	late := newHost(t)
	late.now = time.Date(2200, 12, 31, 0, 0, 0, 0, time.UTC)
	late.do(late.register())
}

// What comes in with a zone or a clock reading is kept as rows read it back.
func TestTimesAreKept(t *testing.T) {
	zone := time.FixedZone("east", 3600)
	h := newHost(t)
	in := h.register()
	in.Code.Until, in.Poll.Until = in.Code.Until.In(zone), in.Poll.Until.In(zone)
	win := h.window(lifecycle.EnrollWindow, time.Hour, 3)
	win.Window.End = win.Window.End.In(zone)
	h.do(in, win)
	h.do(bsched("cordon"), lifecycle.Schedule{Call: ops, On: "drain", Force: h.now.Add(time.Hour).In(zone)})
	for what, at := range map[string]time.Time{"code": h.Node.Reg.Code.Until, "token": h.Node.Reg.Poll.Until, "window": h.Site.Enroll.End, "force": h.Node.Sched.Force.By} {
		if at.Location() != time.UTC || !at.Equal(dawn.Add(time.Hour)) {
			t.Errorf("%s until %s", what, at)
		}
	}
}

// A row that cannot be encoded is not written at all: empty, it could never be
// read back.
func TestNoEmptyRecord(t *testing.T) {
	h := pending(t)
	h.Node.Reg.Code.Until = time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)
	for key, val := range lifecycle.Rows(h.State) {
		if primary := slices.ContainsFunc([]string{lifecycle.RowNode, lifecycle.RowRegistration, lifecycle.RowBoot, lifecycle.RowSite}, func(p string) bool {
			return len(key) > len(p) && key[:len(p)] == p
		}); primary && !json.Valid(val) {
			t.Errorf("%s is %q", key, val)
		}
	}
}

// BOOT-19: how many addresses a policy may keep from the pool.
func TestExcluded(t *testing.T) {
	p := admin
	for i := range lifecycle.MaxExclude {
		p.Exclude = append(p.Exclude, netip.AddrFrom4([4]byte{10, 8, byte(i >> 8), byte(i)}))
	}
	if len(p.Exclude) != 4_096 {
		t.Fatalf("%d", len(p.Exclude))
	}
	newHost(t).do(lifecycle.SetPolicy{Call: ops, Policy: p})
	p.Exclude = append(p.Exclude, netip.MustParseAddr("10.9.9.9"))
	newHost(t).refused(sm.InvalidInput, lifecycle.SetPolicy{Call: ops, Policy: p})
}

// REG-4: a stranger who registers as a machine in setup learns nothing of it.
func TestAnonymousRefusalNamesNoHolder(t *testing.T) {
	h := newHost(t)
	h.do(h.announce())
	h.do(h.approveSetup()).reg(registration.SettingUp)
	_, err := lifecycle.Step(h.State, h.register(), h.now)
	if _, told := errors.AsType[*lifecycle.Detailed](err); err == nil || told {
		t.Errorf("got %v; want a conflict without a holder", err)
	}
}
