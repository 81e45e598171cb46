package booter_test

import (
	"net/netip"
	"testing"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

func TestDestinations(t *testing.T) {
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
	with := func(r booter.Request, change func(*booter.Request)) booter.Request {
		change(&r)
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
		{"flag", false, discover(), to(booter.Broadcast, "255.255.255.255:68")},
		{"no flag", false, with(discover(), noFlag), to(booter.Direct, "10.0.0.50:68")},
		{"ack, flag", false, request(), to(booter.Broadcast, "255.255.255.255:68")},
		{"ack, no flag", false, with(request(), noFlag), to(booter.Direct, "10.0.0.50:68")},
		{"has its address", false, with(request(), func(q *booter.Request) { q.ClientIP = reserved }), to(booter.Routed, "10.0.0.50:68")},
		{"relayed, flag", false, relayed(discover()), to(booter.Routed, "10.0.7.1:67")},
		{"relayed, has its address", false, with(relayed(request()), func(q *booter.Request) { q.ClientIP = reserved }), to(booter.Routed, "10.0.7.1:67")},
		{"relayed from its own port", false, with(relayed(request()), listens), to(booter.Routed, "10.0.7.1:1067")},
		{"its own port, but no port known", false, with(relayed(request()), func(q *booter.Request) { q.RelayPort, q.Source = true, netip.AddrPort{} }), to(booter.Routed, "10.0.7.1:67")},
		{"proxy without the flag", true, with(discover(), noFlag), to(booter.Broadcast, "255.255.255.255:68")},
		{"proxy, relayed", true, relayed(discover()), to(booter.Routed, "10.0.7.1:67")},
		{"proxy, to a claimed address", true, with(discover(), func(q *booter.Request) { q.ClientIP = other }), to(booter.Broadcast, "255.255.255.255:68")},
		{"inform", false, inform(), to(booter.Routed, "10.0.0.50:68")},
		{"inform by its source", false, with(inform(), func(q *booter.Request) { q.ClientIP = nobody }), to(booter.Routed, "10.0.0.50:68")},
		{"inform, relayed", false, relayed(inform()), to(booter.Routed, "10.0.0.50:68")},
		{"inform, relayed, without ciaddr", false, relayed(with(inform(), func(q *booter.Request) { q.ClientIP = nobody })), to(booter.Routed, "10.0.7.1:67")},
		{"4011", false, boot4011(), to(booter.Routed, "10.0.0.50:4011")},
		{"4011 from a port of its own", false, with(boot4011(), func(q *booter.Request) { q.Source = netip.AddrPortFrom(reserved, 2070) }), to(booter.Routed, "10.0.0.50:2070")},
		{"4011 by ciaddr", false, with(boot4011(), func(q *booter.Request) { q.Source = netip.AddrPort{} }), to(booter.Routed, "10.0.0.50:4011")},
		{"4011 without an address", false, with(boot4011(), func(q *booter.Request) { q.Source, q.ClientIP = netip.AddrPort{}, nobody }), to(booter.Broadcast, "255.255.255.255:4011")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := site()
			p.Proxy = tt.proxy
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

func TestServerIDs(t *testing.T) {
	vip := netip.MustParseAddr("10.0.0.2")
	tests := []struct {
		name   string
		change func(*booter.Policy, *booter.Request)
		want   netip.Addr
	}{
		{"the link's", func(*booter.Policy, *booter.Request) {}, server},
		{"a link without one", func(p *booter.Policy, _ *booter.Request) { p.Links[0].ServerID = nobody }, vip},
		{"the relay's", func(_ *booter.Policy, q *booter.Request) { q.RelayIP, q.ServerOverride = relay, relay }, relay},
		{"an override without a relay", func(_ *booter.Policy, q *booter.Request) { q.ServerOverride = relay }, server},
		{"the one that the client chose", func(_ *booter.Policy, q *booter.Request) {
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

func TestMaxSize(t *testing.T) {
	for asked, want := range map[uint16]int{0: 548, 1: 576, 575: 576, 576: 576, 1260: 1260, 1472: 1472, 1473: 1472, 0xff00: 1472} {
		p, req := site(), discover()
		req.MaxMessage = asked
		if got, why := p.Answer(enrolling(), req, now); why != "" || got.MaxSize != want {
			t.Errorf("%d: %q, %d, want %d", asked, why, got.MaxSize, want)
		}
	}
}
