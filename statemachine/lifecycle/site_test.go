package lifecycle_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	sm "github.com/ingotmetal/ingot/statemachine"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
	"pgregory.net/rapid"
)

// REG-7, REG-10: a window is clamped to 24 h, and what opens shows the end.
func TestWindows(t *testing.T) {
	for name, c := range map[string]struct {
		end   time.Duration
		slots int
		want  time.Duration
		bad   bool
	}{
		"an hour": {end: time.Hour, want: time.Hour}, "a day": {end: 24 * time.Hour, want: 24 * time.Hour},
		"25 h": {end: 25 * time.Hour, want: 24 * time.Hour}, "a century": {end: 876_000 * time.Hour, want: 24 * time.Hour},
		"now": {end: 0, bad: true}, "the past": {end: -time.Hour, bad: true},
		"negative slots": {end: time.Hour, slots: -1, bad: true}, "absurd slots": {end: time.Hour, slots: lifecycle.MaxSlots + 1, bad: true},
		"all slots": {end: time.Hour, slots: lifecycle.MaxSlots, want: time.Hour},
	} {
		for _, kind := range []string{lifecycle.AutoApproveWindow, lifecycle.EnrollWindow} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				h := newHost(t)
				in := h.window(kind, c.end, 1)
				in.Window.Slots, in.Window.Budget = c.slots, c.slots != 0
				if c.bad {
					h.refused(sm.InvalidInput, in)
					return
				}
				h.do(in).told(lifecycle.WindowOpened)
				got := map[string]lifecycle.Window{lifecycle.AutoApproveWindow: h.Site.AutoApprove, lifecycle.EnrollWindow: h.Site.Enroll}[kind]
				if want := (lifecycle.Window{End: h.now.Add(c.want), Budget: c.slots > 0, Slots: c.slots}); got != want {
					t.Errorf("opened %+v, want %+v", got, want)
				}
			})
		}
	}
	h := newHost(t)
	h.refused(sm.InvalidInput, h.window("door", time.Hour, 0))
	in := h.window(lifecycle.AutoApproveWindow, time.Hour, 0)
	in.Window.Budget = true // a budget of none is not a window without budget
	h.refused(sm.InvalidInput, in)
}

// REG-7, REG-10: N concurrent machines never use more than the slots, in
// whatever order their steps commit.
func TestSlotsAreNeverExceeded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		slots, n := rapid.IntRange(1, 5).Draw(rt, "slots"), rapid.IntRange(1, 12).Draw(rt, "machines")
		strict := rapid.Bool().Draw(rt, "announce")
		kind := lifecycle.AutoApproveWindow
		if strict {
			kind = lifecycle.EnrollWindow
		}
		h := newHost(t, func(p *lifecycle.Policy) { p.Strict = strict })
		site := h.do(h.window(kind, time.Hour, slots)).Site
		in := 0
		for i := range n {
			m := &host{State: lifecycle.State{Node: lifecycle.Fresh(), Site: site}, t: t, now: h.now.Add(time.Duration(rapid.IntRange(0, 59).Draw(rt, "minute")) * time.Minute)}
			id := uuid
			id[15] = byte(i)
			if strict {
				ann := m.announce()
				ann.Server, ann.Routing = id, id
				if err := m.try(ann); err == nil {
					in++
				} else if codeOf(err) != string(sm.Denied) {
					rt.Fatal(err)
				}
			} else {
				reg := m.register()
				reg.Server = id
				if m.do(reg); m.Node.Reg.State == registration.Approved {
					in++
				}
			}
			site = m.Site
		}
		if in != min(slots, n) {
			rt.Fatalf("%d of %d machines came in by %d slots", in, n, slots)
		}
	})
}

// BOOT-7: N concurrent sightings get N distinct lowest addresses; then a clear
// error, and the record stands (EDGE-19).
func TestSightingsGetTheLowest(t *testing.T) {
	site := newHost(t).Site
	var got []netip.Addr
	for i := range 13 {
		h := &host{State: lifecycle.State{Node: lifecycle.Fresh(), Site: site}, t: t, now: dawn}
		mac := netboot.MAC{0x52, 0x54, 0, 0, 1, byte(i)}
		h.do(lifecycle.Sighted{MAC: mac})
		site = h.Site
		if b := h.record(mac); b.Address.IsValid() {
			got = append(got, b.Address)
			if b.State != netboot.Enrolling || b.Networking.Network != admin.Network || b.Networking.Gateway != admin.Gateway {
				t.Errorf("%+v", b)
			}
			continue
		}
		h.told(lifecycle.AdmissionFailed).boot(mac, netboot.Discovered)
		h.refused(sm.Unavailable, lifecycle.Sighted{MAC: mac}) // known by now: a clear error
	}
	var want []netip.Addr // 10.7.0.0/28 without network, gateway, server, broadcast
	for i := byte(3); i <= 14; i++ {
		want = append(want, netip.AddrFrom4([4]byte{10, 7, 0, i}))
	}
	if !slices.Equal(got, want) {
		t.Errorf("addresses %v, want %v", got, want)
	}
}

// A freed address is the lowest again; one that policy has excluded since is
// not free for anybody (BOOT-19, BOOT-22).
func TestFreedAddresses(t *testing.T) {
	purge := []lifecycle.Input{verbOn(nicA, netboot.Decommission), verbOn(nicA, netboot.Purge)}
	for name, edit := range map[string]func(*lifecycle.Policy){
		"the same policy": func(p *lifecycle.Policy) {},
		"excluded":        func(p *lifecycle.Policy) { p.Exclude = []netip.Addr{addr("10.7.0.3")} },
		"now the gateway": func(p *lifecycle.Policy) { p.Gateway = addr("10.7.0.3") },
		"now the server":  func(p *lifecycle.Policy) { p.Server = addr("10.7.0.3") },
		"another network": func(p *lifecycle.Policy) {
			p.Network, p.Gateway = netip.MustParsePrefix("10.8.0.0/28"), addr("10.8.0.1")
		},
		"now broadcast": func(p *lifecycle.Policy) { p.Network = netip.MustParsePrefix("10.7.0.0/30") },
		"no network":    func(p *lifecycle.Policy) { p.Network = netip.Prefix{} },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t).do(lifecycle.Sighted{MAC: nicA})
			if h.record(nicA).Address != addr("10.7.0.3") {
				t.Fatal("another address than thought")
			}
			p := admin
			if edit(&p); name != "the same policy" {
				h.do(lifecycle.SetPolicy{Call: ops, Policy: p, Reserved: []netip.Addr{addr("10.7.0.3")}})
			}
			if h.do(purge...); h.record(nicA).State != netboot.Absent {
				t.Fatal("not purged")
			}
			h.try(lifecycle.Sighted{MAC: nicB})
			if again := h.record(nicB).Address == addr("10.7.0.3"); again != (name == "the same policy") {
				t.Errorf("lent again: %t", again)
			}
		})
	}
}

// BOOT-12, BOOT-19, BOOT-2: a policy is checked when it is written.
func TestPolicy(t *testing.T) {
	for name, edit := range map[string]func(*lifecycle.Policy){
		"image that leaves its folder": func(p *lifecycle.Policy) { p.Enrollment = "../etc" },
		"rescue image with a space":    func(p *lifecycle.Policy) { p.Rescue = "a b" },
		"upper-case prefix":            func(p *lifecycle.Policy) { p.Allow = []string{"52:54:AA"} },
		"half an octet":                func(p *lifecycle.Policy) { p.Allow = []string{"52:5"} },
		"seven octets":                 func(p *lifecycle.Policy) { p.Allow = []string{"1:2:3:4:5:6:7"} },
		"a network of two":             func(p *lifecycle.Policy) { p.Network = netip.MustParsePrefix("10.7.0.0/31") },
		"IPv6":                         func(p *lifecycle.Policy) { p.Network = netip.MustParsePrefix("fd00::/64") },
		"negative bounds":              func(p *lifecycle.Policy) { p.MaxUnapproved = -1 },
		"a thousand and one excluded":  func(p *lifecycle.Policy) { p.Exclude = make([]netip.Addr, 1001) },
		"an exclusion of nothing":      func(p *lifecycle.Policy) { p.Exclude = []netip.Addr{{}} },
		"an exclusion in IPv6":         func(p *lifecycle.Policy) { p.Exclude = []netip.Addr{addr("fd00::1")} },
		"negative bounds of records":   func(p *lifecycle.Policy) { p.MaxDiscovered = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			p := admin
			edit(&p)
			h.refused(sm.InvalidInput, lifecycle.SetPolicy{Call: ops, Policy: p})
		})
	}
	h := newHost(t)
	p := admin
	p.Deadlines.Deploying = time.Duration(1<<63 - 1)
	h.refused(sm.InvalidConfig, lifecycle.SetPolicy{Call: ops, Policy: p})
	p.Deadlines.Deploying = -1
	h.refused(sm.InvalidConfig, lifecycle.SetPolicy{Call: ops, Policy: p})
}
