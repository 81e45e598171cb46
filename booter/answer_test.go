package booter_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// spoilers make each reason apply to request(), in the order of BOOT-21 as
// written there.
var spoilers = []struct {
	why   booter.Silence
	spoil func(*booter.Policy, *booter.Record, *booter.Request)
}{
	{"malformed", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.Parsed = booter.FlawOption }},
	{"rate-mac", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.Recent.Packets = 20 }},
	{"rate-site", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.Recent.Site = 5000 }},
	{"type-not-served", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.Type = booter.TypeRelease }},
	{"not-pxe", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.Class = "MSFT 5.0" }},
	{"unknown-arch", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.Archs = []booter.Arch{99} }},
	{"foreign-network", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.Interface = "guest0" }},
	{"other-server", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.ServerID = other }},
	{"no-record", func(_ *booter.Policy, r *booter.Record, _ *booter.Request) { r.State = netboot.Absent }},
	{"discovered", func(_ *booter.Policy, r *booter.Record, _ *booter.Request) { r.State = netboot.Discovered }},
	{"decommissioned", func(_ *booter.Policy, r *booter.Record, _ *booter.Request) { r.State = netboot.Decommissioned }},
	{"unknown-state", func(_ *booter.Policy, r *booter.Record, _ *booter.Request) { r.State = "frozen" }},
	{"no-address", func(_ *booter.Policy, r *booter.Record, _ *booter.Request) { r.Address = netip.Addr{} }},
	{"wrong-address", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.Requested = other }},
	{"image-unset", func(p *booter.Policy, _ *booter.Record, _ *booter.Request) { p.Enrollment = "" }},
	{"image-refused", func(p *booter.Policy, _ *booter.Record, _ *booter.Request) { p.Enrollment = "../etc" }},
	{"image-unstaged", func(p *booter.Policy, _ *booter.Record, _ *booter.Request) { p.Enrollment = "elsewhere" }},
	{"boot-loop", func(_ *booter.Policy, _ *booter.Record, q *booter.Request) { q.Recent.Boots = 10 }},
}

// exclude reports whether two reasons can never both apply: a record has one
// state, an image one want, and a state unknown to us no image.
func exclude(a, b booter.Silence) bool {
	states := []booter.Silence{"no-record", "discovered", "decommissioned", "unknown-state"}
	images := []booter.Silence{"image-unset", "image-refused", "image-unstaged"}
	both := func(set []booter.Silence) bool { return slices.Contains(set, a) && slices.Contains(set, b) }
	return both(states) || both(images) || both(append(images, "unknown-state")) || both([]booter.Silence{"rate-mac", "rate-site"})
}

func TestTheFixtureIsAnswered(t *testing.T) {
	p := site()
	if _, why := p.Answer(enrolling(), request(), now); why != "" {
		t.Fatalf("silent: %s", why)
	}
}

func TestChecklistOfSilences(t *testing.T) {
	for _, s := range spoilers {
		t.Run(string(s.why), func(t *testing.T) {
			p, rec, req := site(), enrolling(), request()
			s.spoil(&p, &rec, &req)
			reply, why := p.Answer(rec, req, now)
			if why != s.why || reply != (booter.Reply{}) {
				t.Errorf("%q with %+v, want %q and nothing to send", why, reply, s.why)
			}
		})
	}
}

func TestTheEarlierReasonWins(t *testing.T) {
	for i, first := range spoilers {
		for _, second := range spoilers[i+1:] {
			if exclude(first.why, second.why) {
				continue
			}
			p, rec, req := site(), enrolling(), request()
			second.spoil(&p, &rec, &req)
			first.spoil(&p, &rec, &req)
			if _, why := p.Answer(rec, req, now); why != first.why {
				t.Errorf("%s and %s: got %q", first.why, second.why, why)
			}
			if got := p.Why(rec, req, now); len(got) < 2 || got[0] != first.why || !slices.Contains(got, second.why) {
				t.Errorf("%s and %s: Why says %q", first.why, second.why, got)
			}
		}
	}
}

// The limits of one MAC come before those of all.
func TestBothRates(t *testing.T) {
	p, req := site(), request()
	req.Recent = booter.Recent{Packets: 20, Site: 5000}
	if _, why := p.Answer(enrolling(), req, now); why != booter.RateMAC {
		t.Errorf("got %q", why)
	}
}

func TestReasonsAreComplete(t *testing.T) {
	list := booter.Reasons()
	if len(list) != len(spoilers) {
		t.Fatalf("%d reasons, want %d", len(list), len(spoilers))
	}
	for i, r := range list {
		if r.Silence != spoilers[i].why {
			t.Errorf("reason %d is %q, want %q", i, r.Silence, spoilers[i].why)
		}
		if r.Req == "" || r.Means == "" || r.Change == "" || r.Silence.Reason() != r {
			t.Errorf("%q does not explain itself: %+v", r.Silence, r.Silence.Reason())
		}
	}
	if got := booter.Silence("bored").Reason(); got != (booter.Reason{Silence: "bored"}) {
		t.Errorf("an unknown silence has %+v", got)
	}
}

// Every case stands beside one that is answered and differs in a single fact.
func TestChecklistOfMessages(t *testing.T) {
	tests := []struct {
		name string
		req  booter.Request
		want booter.Silence
	}{
		{"discover", discover(), ""},
		{"request", request(), ""},
		{"inform", inform(), ""},
		{"4011", boot4011(), ""},

		{"BOOTP, without option 53, is silent", with(discover(), func(q *booter.Request) { q.Type = booter.TypeBOOTP }), booter.TypeNotServed},
		{"DECLINE has no reply", with(request(), func(q *booter.Request) { q.Type = booter.TypeDecline }), booter.TypeNotServed},
		{"RELEASE has no reply", with(request(), func(q *booter.Request) { q.Type = booter.TypeRelease }), booter.TypeNotServed},
		{"FORCERENEW is silent", with(request(), func(q *booter.Request) { q.Type = booter.TypeForceRenew }), booter.TypeNotServed},
		{"LEASEQUERY is silent", with(request(), func(q *booter.Request) { q.Type = booter.TypeLeaseQuery }), booter.TypeNotServed},
		{"another server's OFFER is silent", with(request(), func(q *booter.Request) { q.Type = booter.TypeOffer }), booter.TypeNotServed},
		{"another server's ACK is silent", with(request(), func(q *booter.Request) { q.Type = booter.TypeAck }), booter.TypeNotServed},
		{"another server's NAK is silent", with(request(), func(q *booter.Request) { q.Type = booter.TypeNak }), booter.TypeNotServed},
		{"DISCOVER on 4011 is silent", with(discover(), func(q *booter.Request) { q.BootPort = true }), booter.TypeNotServed},
		{"INFORM on 4011 is answered", with(inform(), func(q *booter.Request) { q.BootPort = true }), ""},

		{"DISCOVER: option 50 is a hint alone", with(discover(), func(q *booter.Request) { q.Requested = other }), ""},
		{"DISCOVER that claims another address in ciaddr is silent", with(discover(), func(q *booter.Request) { q.ClientIP = other }), booter.WrongAddress},
		{"option 53 of an unknown type is silent", with(discover(), func(q *booter.Request) { q.Type = 200 }), booter.TypeNotServed},
		{"LEASEUNASSIGNED to LEASEACTIVE are silent", with(discover(), func(q *booter.Request) { q.Type = 13 }), booter.TypeNotServed},

		{"SELECTING us with the reserved address is acknowledged", request(), ""},
		{"SELECTING us with another address is silent, never a NAK", with(request(), func(q *booter.Request) { q.Requested = other }), booter.WrongAddress},
		{"SELECTING another server is silent", with(request(), func(q *booter.Request) { q.ServerID = other }), booter.OtherServer},
		{"INIT-REBOOT with the reserved address is acknowledged", with(request(), func(q *booter.Request) { q.ServerID = nobody }), ""},
		{"INIT-REBOOT with another address is silent, never a NAK", with(request(), func(q *booter.Request) { q.ServerID, q.Requested = nobody, other }), booter.WrongAddress},
		{"RENEWING of firmware with the reserved address is acknowledged", with(request(), func(q *booter.Request) { q.ServerID, q.Requested, q.ClientIP = nobody, nobody, reserved }), ""},
		{"RENEWING another address is silent", with(request(), func(q *booter.Request) { q.ServerID, q.Requested, q.ClientIP = nobody, nobody, other }), booter.WrongAddress},
		{"the right option 50 with a wrong ciaddr is silent", with(request(), func(q *booter.Request) { q.ClientIP = other }), booter.WrongAddress},
		{"INFORM from another address is silent", with(inform(), func(q *booter.Request) { q.ClientIP = other }), booter.WrongAddress},
		{"4011 answers an address that is not ours", with(boot4011(), func(q *booter.Request) { q.ClientIP = other }), ""},
		{"SELECTING us without option 50 and without our offer is silent", with(request(), func(q *booter.Request) { q.Requested = nobody }), booter.WrongAddress},
		{"SELECTING us without option 50 takes up our offer", with(bare(time.Second), func(q *booter.Request) { q.Requested = nobody }), ""},
		{"REQUEST with neither 50 nor 54 nor ciaddr takes up our offer", with(bare(time.Second), func(q *booter.Request) { q.Requested, q.ServerID = nobody, nobody }), ""},
		{"REQUEST with neither 50 nor 54 nor ciaddr is silent without our offer", with(request(), func(q *booter.Request) { q.Requested, q.ServerID = nobody, nobody }), booter.WrongAddress},
		{"our offer of an address that is no longer reserved is not taken up", with(bare(time.Second), func(q *booter.Request) { q.Requested, q.Recent.Offer.Address = nobody, other }), booter.WrongAddress},

		{"REQUEST without 60 and 93 is answered for 120 s after our OFFER", bare(120 * time.Second), ""},
		{"REQUEST without 60 and 93 is silent later", bare(120*time.Second + 1), booter.NotPXE},
		{"REQUEST without 60 and 93 is silent before the OFFER", bare(-1), booter.NotPXE},
		{"renewal of an operating system, without 60 and 93, is silent", with(bare(time.Second), func(q *booter.Request) { q.ClientIP = reserved }), booter.NotPXE},
		{"REQUEST of another class is silent, in spite of our OFFER", with(bare(time.Second), func(q *booter.Request) { q.Class = "dhclient" }), booter.NotPXE},
		{"DISCOVER without 60 and 93 is silent, in spite of our OFFER", with(bare(time.Second), func(q *booter.Request) { q.Type = booter.TypeDiscover }), booter.NotPXE},

		{"relayed by a relay in an admin network", with(request(), func(q *booter.Request) { q.RelayIP, q.Hops = relay, 1 }), ""},
		{"relayed from an unknown subnet is silent, never a NAK", with(request(), func(q *booter.Request) { q.RelayIP = netip.MustParseAddr("10.9.9.1") }), booter.ForeignNetwork},
		{"link selection decides the network: ours", with(request(), func(q *booter.Request) {
			q.RelayIP, q.LinkSelection = netip.MustParseAddr("10.9.9.1"), relay
		}), ""},
		{"link selection decides the network: foreign", with(request(), func(q *booter.Request) {
			q.RelayIP, q.LinkSelection = relay, netip.MustParseAddr("10.9.9.0")
		}), booter.ForeignNetwork},
		{"link selection without a relay is not heeded", with(request(), func(q *booter.Request) { q.LinkSelection = netip.MustParseAddr("10.9.9.0") }), ""},
		{"relayed packets are served on any interface", with(request(), func(q *booter.Request) { q.RelayIP, q.Interface = relay, "guest0" }), ""},

		{"server ID override is accepted back as option 54", with(request(), func(q *booter.Request) { q.RelayIP, q.ServerOverride, q.ServerID = relay, relay, relay }), ""},
		{"server ID override without a relay is another server", with(request(), func(q *booter.Request) { q.ServerOverride, q.ServerID = relay, relay }), booter.OtherServer},

		{"the last packet within the rate limits is answered", with(request(), func(q *booter.Request) { q.Recent.Packets, q.Recent.Site = 19, 4999 }), ""},
		{"the last boot within the bound on loops is answered", with(request(), func(q *booter.Request) { q.Recent.Boots = 9 }), ""},
		{"4011 follows on the last boot within the bound", with(boot4011(), func(q *booter.Request) { q.Recent.Boots = 10 }), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := site()
			if _, why := p.Answer(enrolling(), tt.req, now); why != tt.want {
				t.Errorf("%q, want %q", why, tt.want)
			}
		})
	}
}

func TestChecklistOfFlaws(t *testing.T) {
	tests := []struct {
		name  string
		flaw  booter.Flaw
		spoil func(*booter.Request)
	}{
		{"what the parser found comes first", booter.FlawShort, func(q *booter.Request) { q.Parsed, q.HLen = booter.FlawShort, 0 }},
		{"hardware other than Ethernet is silent", booter.FlawHardware, func(q *booter.Request) { q.HType = 32 }},
		{"hlen 16, the GUID of EDK2, is silent", booter.FlawHardware, func(q *booter.Request) { q.HLen = 16 }},
		{"hlen 255 is silent, not cut to 16", booter.FlawHardware, func(q *booter.Request) { q.HLen = 255 }},
		{"a MAC of zeros is nobody", booter.FlawHardware, func(q *booter.Request) { q.MAC = booter.MAC{} }},
		{"a group address is nobody", booter.FlawHardware, func(q *booter.Request) { q.MAC[0] = 1 }},
		{"hops without giaddr is dropped", booter.FlawHops, func(q *booter.Request) { q.Hops = 1 }},
		{"hlen 0 is silent", booter.FlawHardware, func(q *booter.Request) { q.HLen = 0 }},
		{"giaddr without hops is answered", "", func(q *booter.Request) { q.Hops, q.RelayIP = 0, relay }},
		{"ciaddr of a group is silent", booter.FlawAddress, func(q *booter.Request) { q.ClientIP = netip.MustParseAddr("224.0.0.1") }},
		{"giaddr of all ones is silent", booter.FlawAddress, func(q *booter.Request) { q.RelayIP = netip.MustParseAddr("255.255.255.255") }},
		{"an IPv6 giaddr is silent, never a panic", booter.FlawAddress, func(q *booter.Request) { q.RelayIP = netip.MustParseAddr("fd00::1") }},
		{"a mapped option 50 is silent, never a panic", booter.FlawAddress, func(q *booter.Request) { q.Requested = netip.MustParseAddr("::ffff:10.0.0.50") }},
		{"INFORM that says nowhere to answer is silent", booter.FlawInform, func(q *booter.Request) { q.Type, q.ClientIP = booter.TypeInform, nobody }},
		{"INFORM by a relay needs no ciaddr", "", func(q *booter.Request) { q.Type, q.RelayIP = booter.TypeInform, relay }},
		{"INFORM on 4011 needs no ciaddr", "", func(q *booter.Request) { q.Type, q.BootPort = booter.TypeInform, true }},
		{"0.0.0.0 is no address", "", func(q *booter.Request) { q.ClientIP, q.RelayIP = netip.IPv4Unspecified(), netip.IPv4Unspecified() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := request()
			tt.spoil(&req)
			if got := req.Flaw(); got != tt.flaw {
				t.Errorf("%q, want %q", got, tt.flaw)
			}
			p := site()
			if _, why := p.Answer(enrolling(), req, now); (why == booter.Malformed) != (tt.flaw != "") {
				t.Errorf("silence is %q", why)
			}
		})
	}
}

// A proxy gives no address, so it needs none and confirms none.
func TestChecklistOfProxies(t *testing.T) {
	rec := enrolling()
	rec.Address = nobody
	away := inform()
	away.ClientIP = other
	toOther := request()
	toOther.ServerID = other
	plain := discover()
	plain.Class, plain.Archs = "MSFT 5.0", nil
	tests := []struct {
		name string
		req  booter.Request
		kind booter.Kind
		want booter.Silence
	}{
		{"proxy OFFER has no address", discover(), booter.ProxyOffer, ""},
		{"a proxy leaves every REQUEST on 67 to the server that gave the address", request(), "", booter.WrongAddress},
		{"a proxy is silent to a REQUEST to the other server", toOther, "", booter.OtherServer},
		{"a proxy answers INFORM from any address", away, booter.InformAck, ""},
		{"a proxy answers 4011", boot4011(), booter.BootAck, ""},
		{"a proxy has nothing for a client that does not boot", plain, "", booter.NotPXE},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := site()
			p.Proxy, p.AnswerAny = true, true
			got, why := p.Answer(rec, tt.req, now)
			if why != tt.want || got.Kind != tt.kind || got.Address.IsValid() {
				t.Errorf("%q %q at %s, want %q %q and no address", why, got.Kind, got.Address, tt.want, tt.kind)
			}
		})
	}
}

// With answer_only_pxe off, a client that does not boot gets its address and
// nothing to boot; what carries boot fields alone stays silent to it.
func TestAnswerAny(t *testing.T) {
	as := func(r booter.Request) booter.Request {
		r.Class, r.Archs = "dhclient", nil
		return r
	}
	for kind, req := range map[booter.Kind]booter.Request{booter.Offer: as(discover()), booter.Ack: as(request())} {
		p := site()
		p.AnswerAny = true
		req.Recent.Boots = 100
		got, why := p.Answer(enrolling(), req, now)
		if why != "" || got.Kind != kind || got.Address != reserved || got.Boot != (booter.Boot{}) || got.Client.Stage != booter.Plain {
			t.Errorf("%s: %q, %+v", kind, why, got)
		}
	}
	for name, req := range map[string]booter.Request{"inform": as(inform()), "4011": as(boot4011())} {
		p := site()
		p.AnswerAny = true
		if _, why := p.Answer(enrolling(), req, now); why != booter.NotPXE {
			t.Errorf("%s: %q", name, why)
		}
	}
}
