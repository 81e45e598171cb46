package booter_test

import (
	"net/netip"
	"testing"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

func TestChecklistOfDestinations(t *testing.T) {
	to := func(via booter.Via, addr string) booter.Destination {
		d := booter.Destination{Via: via, To: netip.MustParseAddrPort(addr)}
		if via != booter.Routed {
			d.Interface = "adm0"
		}
		if via == booter.Direct {
			d.Hardware = discover().MAC
		}
		return d
	}
	relayed := func(r booter.Request) booter.Request {
		r.RelayIP, r.Hops = relay, 1
		r.Source = netip.AddrPortFrom(relay, 1067)
		return r
	}
	noFlag := func(q *booter.Request) { q.Broadcast = false }
	listens := func(q *booter.Request) { q.RelayPort = true }
	tests := []struct {
		name  string
		proxy bool
		req   booter.Request
		want  booter.Destination
	}{
		{"broadcast flag: to all, on the interface that received it", false, discover(), to(booter.Broadcast, "255.255.255.255:68")},
		{"no broadcast flag: to yiaddr at the hardware address", false, with(discover(), noFlag), to(booter.Direct, "10.0.0.50:68")},
		{"packets of two interfaces go back by their own", false, with(discover(), func(q *booter.Request) { q.Interface = "adm1" }), booter.Destination{Via: booter.Broadcast, To: netip.MustParseAddrPort("255.255.255.255:68"), Interface: "adm1"}},
		{"RENEWING by a broadcast (REBINDING): to ciaddr:68", false, with(request(), func(q *booter.Request) { q.ServerID, q.Requested, q.ClientIP = nobody, nobody, reserved }), to(booter.Routed, "10.0.0.50:68")},
		{"82 without giaddr changes no destination", false, with(discover(), func(q *booter.Request) { q.LinkSelection, q.RelayPort = relay, true }), to(booter.Broadcast, "255.255.255.255:68")},
		{"82/5 changes no destination", false, with(relayed(discover()), func(q *booter.Request) { q.LinkSelection = reserved }), to(booter.Routed, "10.0.7.1:67")},
		{"ACK with the flag", false, request(), to(booter.Broadcast, "255.255.255.255:68")},
		{"ACK without the flag", false, with(request(), noFlag), to(booter.Direct, "10.0.0.50:68")},
		{"ciaddr without giaddr: to ciaddr:68", false, with(request(), func(q *booter.Request) { q.ClientIP = reserved }), to(booter.Routed, "10.0.0.50:68")},
		{"giaddr: to the relay at port 67, whatever the flag", false, relayed(discover()), to(booter.Routed, "10.0.7.1:67")},
		{"giaddr goes before ciaddr", false, with(relayed(request()), func(q *booter.Request) { q.ClientIP = reserved }), to(booter.Routed, "10.0.7.1:67")},
		{"giaddr with 82/19: to the port of the relay", false, with(relayed(request()), listens), to(booter.Routed, "10.0.7.1:1067")},
		{"82/19 without a known port: to port 67", false, with(relayed(request()), func(q *booter.Request) { q.RelayPort, q.Source = true, netip.AddrPort{} }), to(booter.Routed, "10.0.7.1:67")},
		{"proxy OFFER without the flag is broadcast: it has no address", true, with(discover(), noFlag), to(booter.Broadcast, "255.255.255.255:68")},
		{"proxy OFFER by a relay", true, relayed(discover()), to(booter.Routed, "10.0.7.1:67")},
		{"proxy OFFER is not sent to an address that was merely claimed", true, with(discover(), func(q *booter.Request) { q.ClientIP = other }), to(booter.Broadcast, "255.255.255.255:68")},
		{"INFORM: to ciaddr:68", false, inform(), to(booter.Routed, "10.0.0.50:68")},
		{"INFORM without ciaddr: to its source", false, with(inform(), func(q *booter.Request) { q.ClientIP = nobody }), to(booter.Routed, "10.0.0.50:68")},
		{"INFORM by a relay: to ciaddr", false, relayed(inform()), to(booter.Routed, "10.0.0.50:68")},
		{"INFORM by a relay without ciaddr: to the relay", false, relayed(with(inform(), func(q *booter.Request) { q.ClientIP = nobody })), to(booter.Routed, "10.0.7.1:67")},
		{"4011: back to the port that asked", false, boot4011(), to(booter.Routed, "10.0.0.50:4011")},
		{"4011: back to another port that asked", false, with(boot4011(), func(q *booter.Request) { q.Source = netip.AddrPortFrom(reserved, 2070) }), to(booter.Routed, "10.0.0.50:2070")},
		{"4011 without a source: to ciaddr:4011", false, with(boot4011(), func(q *booter.Request) { q.Source = netip.AddrPort{} }), to(booter.Routed, "10.0.0.50:4011")},
		{"4011 without any address: broadcast to port 4011", false, with(boot4011(), func(q *booter.Request) { q.Source, q.ClientIP = netip.AddrPort{}, nobody }), to(booter.Broadcast, "255.255.255.255:4011")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := site()
			p.Proxy = tt.proxy
			p.Links = append(p.Links, booter.Link{Name: "adm1", ServerID: server, Networks: p.Links[0].Networks})
			got, why := p.Answer(enrolling(), tt.req, now)
			if why != "" || got.To != tt.want {
				t.Errorf("%q, %+v, want %+v", why, got.To, tt.want)
			}
		})
	}
}

// The demo's way: the machine is a relay on loopback that listens on its own
// port, so nobody needs port 67 or a broadcast.
func TestLoopbackRelay(t *testing.T) {
	p := site()
	p.Networks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	rec, req := enrolling(), discover()
	rec.Address = netip.MustParseAddr("127.0.0.50")
	req.RelayIP, req.RelayPort, req.Interface = netip.MustParseAddr("127.0.0.9"), true, ""
	req.Source = netip.MustParseAddrPort("127.0.0.9:40001")
	p.ServerIDs = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	got, why := p.Answer(rec, req, now)
	if why != "" || got.To.To != req.Source || got.ServerID != p.ServerIDs[0] || got.Address != rec.Address {
		t.Errorf("%q, %+v", why, got)
	}
}

func TestReplies(t *testing.T) {
	tests := []struct {
		req     booter.Request
		kind    booter.Kind
		message booter.MessageType
		address netip.Addr
		boots   bool
	}{
		{discover(), booter.Offer, booter.TypeOffer, reserved, false},
		{request(), booter.Ack, booter.TypeAck, reserved, true},
		{inform(), booter.InformAck, booter.TypeAck, nobody, true},
		{boot4011(), booter.BootAck, booter.TypeAck, nobody, false},
	}
	for _, tt := range tests {
		p := site()
		got, why := p.Answer(enrolling(), tt.req, now)
		if why != "" || got.Kind != tt.kind || got.Address != tt.address || got.Image != "enroll" {
			t.Errorf("%s: %q, %+v", tt.kind, why, got)
		}
		if got.Kind.Message() != tt.message || got.Kind.Leases() != tt.address.IsValid() || got.Kind.Boots() != tt.boots {
			t.Errorf("%s: message %d, leases %v, boots %v", tt.kind, got.Kind.Message(), got.Kind.Leases(), got.Kind.Boots())
		}
	}
	if booter.ProxyOffer.Message() != booter.TypeOffer || !booter.ProxyOffer.Boots() || booter.ProxyOffer.Leases() {
		t.Error("a proxy's OFFER is an OFFER without a lease, and counts as a boot")
	}
}

// 4011 serves a machine that has no address of ours (BOOT-24).
func TestBootPortNeedsNoAddress(t *testing.T) {
	p := site()
	got, why := p.Answer(booter.Record{State: netboot.Enrolling}, boot4011(), now)
	if why != "" || got.Kind != booter.BootAck || got.Image != "enroll" {
		t.Errorf("%q, %+v", why, got)
	}
}

func TestChecklistOfServerIDs(t *testing.T) {
	vip := netip.MustParseAddr("10.0.0.2")
	tests := []struct {
		name   string
		change func(*booter.Policy, *booter.Request)
		want   netip.Addr
	}{
		{"option 54 is the address of the link", func(*booter.Policy, *booter.Request) {}, server},
		{"a link without an address answers by the next of ours", func(p *booter.Policy, _ *booter.Request) { p.Links[0].ServerID = nobody }, vip},
		{"82/11 overrides option 54", func(_ *booter.Policy, q *booter.Request) { q.RelayIP, q.ServerOverride = relay, relay }, relay},
		{"82/11 without a relay is not heeded", func(_ *booter.Policy, q *booter.Request) { q.ServerOverride = relay }, server},
		{"ACK repeats the option 54 that the client chose", func(_ *booter.Policy, q *booter.Request) {
			q.Type, q.ServerID, q.Requested = booter.TypeRequest, vip, reserved
		}, vip},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, req := site(), discover()
			p.ServerIDs = []netip.Addr{vip}
			tt.change(&p, &req)
			got, why := p.Answer(enrolling(), req, now)
			if why != "" || got.ServerID != tt.want {
				t.Errorf("%q, %s, want %s", why, got.ServerID, tt.want)
			}
		})
	}
}

func TestChecklistOfSizes(t *testing.T) {
	for _, c := range []struct {
		name  string
		asked uint16
		want  int
	}{
		{"without 57 a reply has at most 548 bytes", 0, 548},
		{"57 under 576 counts as 576", 1, 576},
		{"57 just under 576 counts as 576", 575, 576},
		{"57 of 576", 576, 576},
		{"57 of an old ROM, 1260", 1260, 1260},
		{"57 of EDK2, 1472", 1472, 1472},
		{"57 over 1472 counts as 1472", 1473, 1472},
		{"57 of EDK2's REQUEST, 0xff00, counts as 1472", 0xff00, 1472},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, req := site(), discover()
			req.MaxMessage = c.asked
			if got, why := p.Answer(enrolling(), req, now); why != "" || got.MaxSize != c.want {
				t.Errorf("%q, %d, want %d", why, got.MaxSize, c.want)
			}
		})
	}
}
