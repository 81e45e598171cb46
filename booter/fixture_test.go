package booter_test

import (
	"net/netip"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

var (
	now      = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	reserved = netip.MustParseAddr("10.0.0.50")
	server   = netip.MustParseAddr("10.0.0.1")
	other    = netip.MustParseAddr("10.0.0.99")
	relay    = netip.MustParseAddr("10.0.7.1")
	nobody   = netip.Addr{}
)

// site is a policy whose four images are all staged.
func site() booter.Policy {
	return booter.Policy{
		Networks:   []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("10.0.7.0/24")},
		Links:      []booter.Link{{Name: "adm0", ServerID: server, Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}},
		Staged:     map[string]bool{"enroll": true, "rescue": true, "own": true, "entry": true},
		Enrollment: "enroll",
		Rescue:     "rescue",
		ChainClass: "ingot",
	}
}

func enrolling() booter.Record {
	return booter.Record{State: netboot.Enrolling, Address: reserved, Args: "console=ttyS0", RootHash: true}
}

// request is a REQUEST that takes up our offer, so that every reason can be
// made to apply to it.
func request() booter.Request {
	r := discover()
	r.Type = booter.TypeRequest
	r.ServerID, r.Requested = server, reserved
	return r
}

// discover is what EDK2 sends.
func discover() booter.Request {
	return booter.Request{
		Type: booter.TypeDiscover, HType: booter.EthernetType, HLen: booter.EthernetLen,
		MAC: booter.MAC{0x52, 0x54, 0, 0x12, 0x34, 0x56}, Broadcast: true,
		MaxMessage: 1472, Class: "PXEClient:Arch:00007:UNDI:003000", Archs: []booter.Arch{7},
		Source: netip.MustParseAddrPort("0.0.0.0:68"), Interface: "adm0",
	}
}

// inform is an INFORM of a client that has its address.
func inform() booter.Request {
	r := discover()
	r.Type, r.ClientIP = booter.TypeInform, reserved
	r.Source = netip.AddrPortFrom(reserved, 68)
	return r
}

// boot4011 is EDK2's request to port 4011.
func boot4011() booter.Request {
	r := discover()
	r.Type, r.BootPort, r.Broadcast = booter.TypeRequest, true, false
	r.ClientIP, r.Source = reserved, netip.AddrPortFrom(reserved, 4011)
	return r
}

// bare is the REQUEST of firmware that leaves class and architecture out, so
// long after an offer.
func bare(age time.Duration) booter.Request {
	r := request()
	r.Class, r.Archs, r.MaxMessage = "", nil, 0
	r.Recent.Offer = booter.Offered{At: now.Add(-age), Address: reserved, Client: booter.Client{Stage: booter.PXE, Platform: booter.ARM64}}
	return r
}

// with is a request but for a change.
func with(r booter.Request, change func(*booter.Request)) booter.Request {
	change(&r)
	return r
}
