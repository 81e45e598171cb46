package booter_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

// The tests named TestChecklistOf... are what a DHCP server for network boot must do,
// case by case in words: go test -v -run Checklist ./booter/...

// What is right or wrong only after the packets that came before.
func TestChecklistOfConversations(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"SELECTING another server forgets our OFFER":                         offersAreRemembered,
		"chain loop: the same MAC at the same stage, 10 times in 10 minutes": bootLoop,
		"one MAC is heard 20 times in 10 s":                                  rateOfOneMAC,
		"all MACs are heard 5,000 times in 1 s":                              rateOfTheSite,
		"DECLINE and RELEASE keep the reservation, whoever sends them":       declineKeepsTheAddress,
		"RENEWING, REBINDING and INIT-REBOOT need no OFFER before":           withoutOffer,
	} {
		t.Run(name, test)
	}
}

func declineKeepsTheAddress(t *testing.T) {
	for _, kind := range []booter.MessageType{booter.TypeDecline, booter.TypeRelease} {
		b := open(booter.Limits{})
		b.send(discover(), now)
		b.send(request(), now)
		for _, id := range []netip.Addr{server, other, nobody} {
			req := request()
			req.Type, req.ServerID = kind, id
			if why := b.send(req, now); why != booter.TypeNotServed {
				t.Errorf("type %d to %s: %q", kind, id, why)
			}
		}
		req := discover()
		req.Recent = b.m.Recall(&b.p, req, now)
		if got, why := b.p.Answer(enrolling(), req, now); why != "" || got.Address != reserved {
			t.Errorf("after type %d: %q, %s", kind, why, got.Address)
		}
	}
}

func withoutOffer(t *testing.T) {
	for name, change := range map[string]func(*booter.Request){
		"renewing":    func(q *booter.Request) { q.ServerID, q.Requested, q.ClientIP = nobody, nobody, reserved },
		"init-reboot": func(q *booter.Request) { q.ServerID = nobody },
	} {
		req := request()
		change(&req)
		if why := open(booter.Limits{}).send(req, now.Add(time.Hour)); why != "" {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// What option 97 says decides nothing: not whether, nor what, nor to whom.
func TestChecklistOfUUIDs(t *testing.T) {
	p := site()
	want, _ := p.Answer(enrolling(), request(), now)
	for name, uuid := range map[string][16]byte{
		"absent, or of another type or length":         {},
		"all ones":                                     [16]byte(slices.Repeat([]byte{0xff}, 16)),
		"the placeholder 03000200-0400-0500-0006-0007": {0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9},
		"one of its own":                               {0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77, 0x99},
	} {
		t.Run("UUID never keys a machine: "+name, func(t *testing.T) {
			req := request()
			req.UUID = uuid
			if got, why := p.Answer(enrolling(), req, now); why != "" || got != want {
				t.Errorf("%q, %+v", why, got)
			}
		})
	}
}

// DHCP answers by the same gate as TFTP and HTTP, which go by Boot (BOOT-9).
func TestChecklistOfTheOneGate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*booter.Policy, *booter.Record)
		want   booter.Silence
	}{
		"boot allowed: by DHCP, TFTP and HTTP alike":                 {func(*booter.Policy, *booter.Record) {}, ""},
		"decommissioned: no file by any protocol":                    {func(_ *booter.Policy, r *booter.Record) { r.State = netboot.Decommissioned }, booter.StateDecommissioned},
		"decommissioned in mode rescue: by every protocol":           {func(_ *booter.Policy, r *booter.Record) { r.State, r.Rescue = netboot.Decommissioned, true }, ""},
		"discovered: no file by any protocol":                        {func(_ *booter.Policy, r *booter.Record) { r.State = netboot.Discovered }, booter.StateDiscovered},
		"unknown MAC: no file by any protocol":                       {func(_ *booter.Policy, r *booter.Record) { *r = booter.Record{Address: reserved} }, booter.NoRecord},
		"an image that is not staged is not offered by any protocol": {func(p *booter.Policy, _ *booter.Record) { p.Staged = nil }, booter.ImageUnstaged},
	} {
		t.Run(name, func(t *testing.T) {
			p, rec := site(), enrolling()
			c.change(&p, &rec)
			boot, file := p.Boot(rec)
			for _, req := range []booter.Request{discover(), request(), inform(), boot4011()} {
				got, why := p.Answer(rec, req, now)
				if why != c.want || file != c.want || got.Boot != boot {
					t.Errorf("type %d: %q with %+v, files %q with %+v; want %q", req.Type, why, got.Boot, file, boot, c.want)
				}
			}
		})
	}
}

// An image is offered to those alone whose platform it has a program for.
func TestChecklistOfPlatforms(t *testing.T) {
	all := map[string]map[booter.Platform]bool{"enroll": {booter.X64: true, booter.BIOS: true}, "own": nil}
	for name, c := range map[string]struct {
		arch  booter.Arch
		class string
		boots map[string]map[booter.Platform]bool
		want  booter.Silence
	}{
		"an image with a program for the platform is offered":                {7, "PXEClient", all, ""},
		"an image without a program for the platform is not offered":         {11, "PXEClient", all, booter.ImageUnstaged},
		"an image of which nothing is known is offered":                      {11, "PXEClient", nil, ""},
		"an unknown platform is blamed for itself, and not the image":        {99, "PXEClient", all, booter.UnknownArch},
		"a client that does not boot needs no program":                       {0, "", all, ""},
		"an image without a program for the platform is not offered by HTTP": {19, "HTTPClient", all, booter.ImageUnstaged},
	} {
		t.Run(name, func(t *testing.T) {
			p, req := site(), discover()
			p.Boots, p.AnswerAny, req.Class, req.Archs = c.boots, true, c.class, []booter.Arch{c.arch}
			if c.class == "" {
				req.Archs = nil
			}
			want := []booter.Silence{c.want}
			if c.want == "" {
				want = nil
			}
			if got := p.Why(enrolling(), req, now); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestChecklistOfAddresses(t *testing.T) {
	for name, a := range map[string]string{
		"a reservation of IPv6 is no address, and no panic":    "fd00::50",
		"a reservation in mapped form is no address":           "::ffff:10.0.0.50",
		"a reservation of a group is no address":               "224.0.0.1",
		"a reservation of 0.0.0.0 is no address":               "0.0.0.0",
		"a reservation of the limited broadcast is no address": "255.255.255.255",
	} {
		t.Run(name, func(t *testing.T) {
			p, rec := site(), enrolling()
			rec.Address = netip.MustParseAddr(a)
			if got, why := p.Answer(rec, discover(), now); why != booter.NoAddress {
				t.Errorf("%q, %+v", why, got)
			}
		})
	}
}

// Every HTTP architecture, and what has no platform here.
func TestChecklistOfArchitectures(t *testing.T) {
	for name, archs := range map[string]map[booter.Arch]booter.Stage{
		"HTTP boot: architectures 15, 16, 18, 19, 20":                   {15: booter.HTTP, 16: booter.HTTP, 18: booter.HTTP, 19: booter.HTTP, 20: booter.HTTP},
		"U-Boot by HTTP: architectures 23 and 24":                       {23: booter.UBootHTTP, 24: booter.UBootHTTP},
		"PXE: architectures 0, 6, 7, 9, 10, 11":                         {0: booter.PXE, 6: booter.PXE, 7: booter.PXE, 9: booter.PXE, 10: booter.PXE, 11: booter.PXE},
		"RISC-V, LoongArch and Raspberry Pi's 41 have no platform here": {25: "", 26: "", 27: "", 28: "", 37: "", 39: "", 41: ""},
		"architectures that nobody has are unknown, and not BIOS":       {1: "", 2: "", 8: "", 12: "", 17: "", booter.BadArch: ""},
	} {
		t.Run(name, func(t *testing.T) {
			for arch, want := range archs {
				p, req := site(), discover()
				p.UBoot, req.Archs, req.Class = true, []booter.Arch{arch}, "PXEClient"
				if want == booter.HTTP || want == booter.UBootHTTP {
					req.Class = "HTTPClient"
				}
				got, why := p.Answer(enrolling(), req, now)
				if got.Client.Stage != want || (why == booter.UnknownArch) != (want == "") {
					t.Errorf("%d: %q, %+v; want %q", arch, why, got.Client, want)
				}
			}
		})
	}
}

// Nothing that is answered is a NAK (BOOT-6): a client that is refused falls back by
// its own time-out, and no server breaks another's exchange.
func TestChecklistOfKinds(t *testing.T) {
	for _, k := range []booter.Kind{booter.Offer, booter.Ack, booter.ProxyOffer, booter.InformAck, booter.BootAck} {
		t.Run("never a NAK: "+string(k), func(t *testing.T) {
			if m := k.Message(); m != booter.TypeOffer && m != booter.TypeAck {
				t.Errorf("option 53 is %d", m)
			}
		})
	}
}
