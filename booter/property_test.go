package booter_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"pgregory.net/rapid"
)

func pick[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

// mostly is usual in nine cases of ten, else one of the others.
func mostly[T any](t *rapid.T, label string, usual T, others ...T) T {
	if n := rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).Draw(t, label+"?"); n != 9 {
		return usual
	}
	return pick(t, label, others...)
}

// The three draws stay near to what is answered, so that the promises of
// answers are tried and not only those of silence.
func drawPolicy(t *rapid.T) booter.Policy {
	p := site()
	p.AnswerAny, p.UBoot, p.Proxy = rapid.Bool().Draw(t, "any"), rapid.Bool().Draw(t, "u-boot"), rapid.Bool().Draw(t, "proxy")
	p.Enrollment = mostly(t, "enrollment", "enroll", "", "..", "gone")
	p.Rescue = mostly(t, "rescue image", "rescue", "", "..", "gone")
	return p
}

func drawRecord(t *rapid.T) booter.Record {
	return booter.Record{
		State: mostly(t, "odd state", pick(t, "state", netboot.Discovered, netboot.Enrolling, netboot.Enrolled,
			netboot.Decommissioned), "", netboot.Absent, "frozen"),
		Newer:    mostly(t, "newer", false, true),
		Rescue:   rapid.Bool().Draw(t, "rescue"),
		Address:  mostly(t, "address", reserved, nobody, netip.IPv4Unspecified(), netip.MustParseAddr("fd00::1")),
		Image:    mostly(t, "image", "own", "", "..", "gone"),
		Args:     "own",
		RootHash: true,
		Entry:    pick(t, "entry", booter.Entry{}, booter.Entry{Image: "entry"}, booter.Entry{Args: "held"}),
	}
}

func drawRequest(t *rapid.T) booter.Request {
	addr := func(label string) netip.Addr {
		return mostly(t, label, pick(t, label+" of ours", nobody, reserved, relay), other, netip.MustParseAddr("fd00::1"))
	}
	r := pick(t, "base", discover(), request(), inform(), boot4011(), bare(time.Second))
	r.Type = mostly(t, "type", r.Type, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14)
	if rapid.Bool().Draw(t, "relayed") {
		r.RelayIP, r.ServerOverride = relay, pick(t, "82/11", nobody, server, other)
		r.Source, r.RelayPort = netip.AddrPortFrom(relay, 1067), rapid.Bool().Draw(t, "82/19")
	}
	if rapid.Bool().Draw(t, "addresses") {
		r.ClientIP, r.LinkSelection = addr("ciaddr"), addr("82/5")
		r.ServerID, r.Requested = pick(t, "54", nobody, server, other), addr("50")
		r.Source = netip.AddrPortFrom(addr("source"), pick(t, "port", uint16(0), 68, 67, 4011))
	}
	if rapid.Bool().Draw(t, "client") {
		r.Class = pick(t, "class", "", "PXEClient:Arch:00000:UNDI:002001", "HTTPClient", "U-Boot.armv8", "dhclient")
		r.Archs = rapid.SliceOfN(rapid.SampledFrom([]booter.Arch{0, 7, 11, 16, 22, 99, booter.BadArch}), 0, 3).Draw(t, "93")
		r.IPXE = rapid.Bool().Draw(t, "175")
	}
	r.BootPort = mostly(t, "4011", r.BootPort, !r.BootPort)
	r.Broadcast = rapid.Bool().Draw(t, "flag")
	r.Interface = mostly(t, "interface", "adm0", "guest0")
	r.HLen = mostly(t, "hlen", r.HLen, 0, 16)
	r.MaxMessage = rapid.Uint16().Draw(t, "57")
	r.Recent.Packets, r.Recent.Boots = mostly(t, "packets", 0, 20), mostly(t, "boots", 0, 10)
	return r
}

// promises are what every answer keeps, for any policy, record and packet.
var promises = []struct {
	name string
	kept func(booter.Policy, booter.Record, booter.Request, booter.Reply) bool
}{
	{"an OFFER or an ACK, never a NAK (BOOT-6)", func(_ booter.Policy, _ booter.Record, _ booter.Request, r booter.Reply) bool {
		return r.Kind.Message() == booter.TypeOffer || r.Kind.Message() == booter.TypeAck
	}},
	{"an address that is reserved, unless a proxy or 4011 answers", func(p booter.Policy, rec booter.Record, q booter.Request, _ booter.Reply) bool {
		return rec.Address == reserved || p.Proxy || q.BootPort
	}},
	{"the reserved address or none", func(_ booter.Policy, rec booter.Record, _ booter.Request, r booter.Reply) bool {
		return !r.Address.IsValid() && !r.Kind.Leases() || r.Address == rec.Address && r.Kind.Leases()
	}},
	{"a proxy gives no address", func(p booter.Policy, _ booter.Record, _ booter.Request, r booter.Reply) bool {
		return !p.Proxy || !r.Address.IsValid()
	}},
	{"a known state", func(_ booter.Policy, rec booter.Record, _ booter.Request, _ booter.Reply) bool {
		return !rec.Newer && rec.State != "frozen" && rec.State != "" && rec.State != netboot.Absent
	}},
	{"discovered only by rescue or entry", func(_ booter.Policy, rec booter.Record, _ booter.Request, _ booter.Reply) bool {
		return rec.State != netboot.Discovered || rec.Rescue || rec.Entry != (booter.Entry{})
	}},
	{"decommissioned only by rescue", func(_ booter.Policy, rec booter.Record, _ booter.Request, r booter.Reply) bool {
		return rec.State != netboot.Decommissioned || rec.Rescue && r.Origin != booter.FromEntry
	}},
	{"the root hash only in enrolled, of its own image (BOOT-3)", func(_ booter.Policy, rec booter.Record, _ booter.Request, r booter.Reply) bool {
		return !r.RootShadow || rec.State == netboot.Enrolled && !rec.Rescue && r.Image == rec.Image && rec.Entry == (booter.Entry{})
	}},
	{"rescue says nothing of the node (BOOT-5)", func(_ booter.Policy, rec booter.Record, _ booter.Request, r booter.Reply) bool {
		return !rec.Rescue || r.Args == "" && !r.RootShadow && !r.ArchiveHash && !r.Networking && r.Origin != booter.FromEntry
	}},
	{"an image that passes the gate and is staged", func(p booter.Policy, _ booter.Record, _ booter.Request, r booter.Reply) bool {
		return r.Client.Stage == booter.Plain && r.Image == "" || booter.Gate(r.Image) == nil && p.Staged[r.Image]
	}},
	{"only clients that boot, by default (BOOT-6)", func(p booter.Policy, _ booter.Record, _ booter.Request, r booter.Reply) bool {
		return p.AnswerAny || r.Client.Stage != booter.Plain && r.Client.Platform != ""
	}},
	{"a destination that can be sent to", func(_ booter.Policy, _ booter.Record, q booter.Request, r booter.Reply) bool {
		to := r.To
		ok := to.To.IsValid() && to.To.Port() != 0 && !to.To.Addr().IsUnspecified() && to.To.Addr().Is4()
		return ok && (to.Via == booter.Routed) == (to.Interface == "") && (to.Via == booter.Direct) == (to.Hardware == q.MAC)
	}},
	{"a server ID of ours", func(_ booter.Policy, _ booter.Record, q booter.Request, r booter.Reply) bool {
		return r.ServerID == server || q.RelayIP.IsValid() && r.ServerID == q.ServerOverride
	}},
	{"a bounded size", func(_ booter.Policy, _ booter.Record, _ booter.Request, r booter.Reply) bool {
		return r.MaxSize >= 548 && r.MaxSize <= 1472
	}},
}

func TestEveryAnswerKeepsItsPromises(t *testing.T) {
	answered := map[booter.Kind]int{}
	rapid.Check(t, func(t *rapid.T) {
		p, rec, req := drawPolicy(t), drawRecord(t), drawRequest(t)
		reply, why := p.Answer(rec, req, now)
		all := p.Why(rec, req, now)
		if why != "" {
			if reply != (booter.Reply{}) || len(all) == 0 || all[0] != why {
				t.Fatalf("silent by %q, of %q, with %+v", why, all, reply)
			}
			return
		}
		answered[reply.Kind]++
		if len(all) != 0 {
			t.Fatalf("answered in spite of %q", all)
		}
		for _, promise := range promises {
			if !promise.kept(p, rec, req, reply) {
				t.Fatalf("not kept: %s\nrecord %+v\nrequest %+v\nreply %+v", promise.name, rec, req, reply)
			}
		}
	})
	if len(answered) == 0 {
		t.Fatal("nothing was answered, so nothing was tried")
	}
	t.Logf("answered: %v", answered)
}

// Why keeps the order of BOOT-21, names nothing twice, and says the same of
// the same facts.
func TestSilenceIsStable(t *testing.T) {
	rank := map[booter.Silence]int{}
	for i, s := range spoilers {
		rank[s.why] = i + 1
	}
	rapid.Check(t, func(t *rapid.T) {
		p, rec, req := drawPolicy(t), drawRecord(t), drawRequest(t)
		got := p.Why(rec, req, now)
		if !slices.Equal(got, p.Why(rec, req, now)) {
			t.Fatal("another answer to the same facts")
		}
		last := 0
		for _, why := range got {
			if rank[why] <= last {
				t.Fatalf("%q is out of order in %q", why, got)
			}
			last = rank[why]
		}
	})
}

// Rescue lifts discovered and decommissioned, and nothing else (BOOT-6).
func TestWhatRescueLifts(t *testing.T) {
	lifted := []booter.Silence{booter.StateDiscovered, booter.StateDecommissioned, booter.ImageUnset, booter.ImageRefused, booter.ImageUnstaged}
	rapid.Check(t, func(t *rapid.T) {
		p, rec, req := drawPolicy(t), drawRecord(t), drawRequest(t)
		rec.Rescue = false
		before := p.Why(rec, req, now)
		rec.Rescue = true
		after := p.Why(rec, req, now)
		for _, why := range before {
			if !slices.Contains(after, why) && !slices.Contains(lifted, why) {
				t.Fatalf("rescue lifted %q", why)
			}
		}
	})
}
