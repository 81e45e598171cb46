package booter_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

func ExamplePolicy_Answer() {
	p := booter.Policy{
		Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")},
		Links: []booter.Link{{
			Name: "eno1", ServerID: netip.MustParseAddr("10.0.0.1"),
			Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")},
		}},
		Staged:     map[string]bool{"20260501T000000Z": true},
		Enrollment: "20260501T000000Z",
	}
	discover := booter.Request{
		Type: booter.TypeDiscover, HType: booter.EthernetType, HLen: booter.EthernetLen,
		MAC:   booter.MAC{0x52, 0x54, 0, 0x12, 0x34, 0x56},
		Class: "PXEClient:Arch:00007:UNDI:003000", Archs: []booter.Arch{7},
		Interface: "eno1",
	}
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

	rec := booter.Record{State: netboot.Discovered}
	for _, why := range p.Why(rec, discover, at) {
		fmt.Printf("%s: %s\n", why, why.Reason().Change)
	}

	rec = booter.Record{State: netboot.Enrolling, Address: netip.MustParseAddr("10.0.0.50")}
	reply, why := p.Answer(rec, discover, at)
	fmt.Printf("%q %s %s for %s to %s by %s\n", why, reply.Kind, reply.Image, reply.Client.Platform, reply.Address, reply.To.Via)
	// Output:
	// discovered: Enroll it, let the policy admit it, give it a boot entry, or set mode rescue.
	// no-address: Free or add addresses in the admin network, then enroll the MAC.
	// "" offer 20260501T000000Z for efi-x64 to 10.0.0.50 by direct
}

// A booter remembers every packet, whatever came of it.
func ExampleMemory() {
	p := booter.Policy{Limits: booter.Limits{MAC: booter.Limit{Max: 1, Per: time.Second}}}
	m := booter.NewMemory(p.Limits)
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for range 2 {
		req := booter.Request{Type: booter.TypeDiscover, HType: booter.EthernetType, HLen: booter.EthernetLen, MAC: booter.MAC{0x52}}
		req.Recent = m.Recall(&p, req, at)
		reply, why := p.Answer(booter.Record{}, req, at)
		m.Note(req, reply, why, at)
		fmt.Println(why)
	}
	// Output:
	// not-pxe
	// rate-mac
}
