package dhcp4

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

// What is malformed and what is not (BOOT-23), and what each option comes to.
func TestChecklistOfReading(t *testing.T) {
	discover := opt(optType, 1)
	long := bytes.Repeat([]byte{'x'}, 200)
	for _, c := range []struct {
		name string
		raw  []byte
		flaw booter.Flaw
		want func(*Packet) bool
	}{
		{"0 bytes are malformed", nil, booter.FlawShort, nil},
		{"under 240 bytes are malformed", built(nil)[:239], booter.FlawShort, nil},
		{"op other than 1 is malformed", built(func(h []byte) { h[0] = 2 }, discover, end), booter.FlawOp, nil},
		{"a wrong cookie is malformed", built(func(h []byte) { h[offCookie] = 0 }, discover, end), booter.FlawCookie, nil},
		{"no option 53 is BOOTP", built(nil), "", func(p *Packet) bool { return p.Type == booter.TypeBOOTP }},
		{"missing END after a whole option is tolerated", built(nil, discover), "", func(p *Packet) bool { return p.Type == booter.TypeDiscover }},
		{"missing END, pads to the end, is tolerated", built(nil, discover, make([]byte, 20)), "", func(p *Packet) bool { return p.Type == booter.TypeDiscover }},
		{"missing END: an option without its length is cut", built(nil, discover, []byte{optClass}), booter.FlawOption, nil},
		{"a cut option is malformed", built(nil, discover, []byte{optClass, 9, 'P'}), booter.FlawOption, nil},
		{"what follows END is not read", built(nil, discover, end, []byte{optClass, 200}), "", func(p *Packet) bool { return p.Class == "" }},
		{"pads anywhere", built(nil, []byte{0, 0}, discover, []byte{0}, text(optClass, "PXEClient"), end), "", func(p *Packet) bool { return p.Class == "PXEClient" }},
		{"53 of two bytes counts as absent", built(nil, opt(optType, 1, 1), end), "", func(p *Packet) bool { return p.Type == booter.TypeBOOTP }},
		{"53 twice is 53 of two bytes, and counts as absent", built(nil, discover, discover, end), "", func(p *Packet) bool { return p.Type == booter.TypeBOOTP }},
		{"split options concatenate in their order", built(nil, text(optClass, "PXE"), discover, text(optClass, "Cli"), text(optClass, "ent"), end), "", func(p *Packet) bool { return p.Class == "PXEClient" }},
		{"zero-length options are kept, and join", built(nil, text(optClass, ""), text(optClass, "PXEClient"), text(optClass, ""), end), "", func(p *Packet) bool { return p.Class == "PXEClient" }},
		{"split options without end are malformed", built(nil, bytes.Repeat(slices.Concat([]byte{optClass, 50}, long[:50]), 20), end), booter.FlawOption, nil},
		{"empty 93 is a bad architecture, not BIOS", built(nil, opt(optArch), end), "", func(p *Packet) bool { return slices.Equal(p.Archs, []booter.Arch{booter.BadArch}) }},
		{"odd 93 is a bad architecture, not BIOS", built(nil, opt(optArch, 0, 7, 0), end), "", func(p *Packet) bool { return slices.Equal(p.Archs, []booter.Arch{booter.BadArch}) }},
		{"93 is a list", built(nil, opt(optArch, 0, 6, 0, 7), end), "", func(p *Packet) bool { return slices.Equal(p.Archs, []booter.Arch{6, 7}) }},
		{"93 is read up to a bound", built(nil, opt(optArch, make([]byte, 40)...), end), "", func(p *Packet) bool { return len(p.Archs) == MaxArchs }},
		{"57 of one byte counts as absent", built(nil, opt(optMaxMessage, 9), end), "", func(p *Packet) bool { return p.MaxMessage == 0 }},
		{"54 of another length than 4 counts as absent", built(nil, opt(optServerID, 1, 2, 3), end), "", func(p *Packet) bool { return !p.ServerID.IsValid() }},
		{"97 of another type is no UUID, and is echoed", built(nil, opt(optMachine, slices.Concat([]byte{1}, long[:16])...), end), "", func(p *Packet) bool { return p.UUID == [16]byte{} && len(p.Machine) == 17 }},
		{"97 of another length is ignored, and the packet is read", built(nil, opt(optMachine, 0, 1, 2), end), "", func(p *Packet) bool { return p.UUID == [16]byte{} && p.Machine == nil }},
		{"97 of no length is ignored", built(nil, opt(optMachine), end), "", func(p *Packet) bool { return p.Machine == nil }},
		{"77 raw, as iPXE sends it", built(nil, text(optUserClass, "iPXE"), end), "", func(p *Packet) bool { return slices.Equal(p.UserClasses, []string{"iPXE"}) }},
		{"77 in the tuples of RFC 3004", built(nil, opt(optUserClass, slices.Concat([]byte{4}, []byte("iPXE"), []byte{2}, []byte("go"))...), end), "", func(p *Packet) bool { return slices.Equal(p.UserClasses, []string{"iPXE", "go"}) }},
		{"77 that is nearly tuples is one value", built(nil, opt(optUserClass, 1, 'a', 3, 'b'), end), "", func(p *Packet) bool { return slices.Equal(p.UserClasses, []string{"\x01a\x03b"}) }},
		{"zero-length 175 is an iPXE", built(nil, opt(optIPXE), end), "", func(p *Packet) bool { return p.IPXE }},
		{"175 that lists HTTP", built(nil, opt(optIPXE, 0xb1, 1, 9, 0x11, 1, 1, 0x13, 1, 1), end), "", func(p *Packet) bool { return p.IPXE && !p.NoHTTP }},
		{"175 that lists features without HTTP", built(nil, opt(optIPXE, 0xb1, 1, 9, 0x15, 1, 1, 0xeb, 3, 1, 0, 0), end), "", func(p *Packet) bool { return p.IPXE && p.NoHTTP }},
		{"175 that lists no features says nothing of HTTP", built(nil, opt(optIPXE, 0xb1, 1, 0x15, 0xeb, 3, 1, 0, 0), end), "", func(p *Packet) bool { return p.IPXE && !p.NoHTTP }},
		{"175 that is cut inside is an iPXE", built(nil, opt(optIPXE, 0xb1, 9), end), "", func(p *Packet) bool { return p.IPXE && !p.NoHTTP }},
		{"61 of one byte counts as absent", built(nil, opt(optClientID, 1), end), "", func(p *Packet) bool { return p.ClientID == nil }},
		{"boot item of 43/71", built(nil, opt(optVendor, vendorBootItem, 4, 0x80, 0, 0, 1, 255), end), "", func(p *Packet) bool { return p.Item == BootItem{true, 0x8000, 1} }},
		{"boot item whose layer asks for credentials counts as no choice", built(nil, opt(optVendor, vendorBootItem, 4, 0x80, 0, 0x80, 1), end), "", func(p *Packet) bool { return !p.Item.Set }},
		{"boot item that is cut counts as no choice", built(nil, opt(optVendor, vendorBootItem, 4, 0x80, 0), end), "", func(p *Packet) bool { return !p.Item.Set }},
		{"82/5, 82/11 and 82/19 are read", built(nil, opt(optAgent, 1, 2, 9, 9, subLink, 4, 10, 0, 7, 0, subServerID, 4, 10, 0, 7, 1, subRelayPort, 2, 0, 0), end), "", func(p *Packet) bool {
			return p.LinkSelection == netip.MustParseAddr("10.0.7.0") && p.ServerOverride == netip.MustParseAddr("10.0.7.1") && p.RelayPort && len(p.Agent) == 20
		}},
		{"82 keeps its trailing zero", built(nil, opt(optAgent, subRelayPort, 0, 0), end), "", func(p *Packet) bool { return p.RelayPort && len(p.Agent) == 3 }},
		{"82 that is cut inside is kept whole", built(nil, opt(optAgent, 1, 9, 9), end), "", func(p *Packet) bool { return len(p.Agent) == 3 && !p.RelayPort }},
		{"overload of 0 is malformed", built(nil, opt(optOverload, 0), end), booter.FlawOverload, nil},
		{"overload of 4 is malformed", built(nil, opt(optOverload, 4), end), booter.FlawOverload, nil},
		{"overload of two bytes is malformed", built(nil, opt(optOverload, 1, 1), end), booter.FlawOverload, nil},
		{"overload 1: options in file are parsed", built(func(h []byte) { copy(h[offFile:], text(optClass, "PXEClient")) }, discover, opt(optOverload, 1), end), "", func(p *Packet) bool { return p.Class == "PXEClient" }},
		{"overload 2: options in sname are parsed", built(func(h []byte) { copy(h[offServer:], text(optClass, "PXEClient")) }, discover, opt(optOverload, 2), end), "", func(p *Packet) bool { return p.Class == "PXEClient" }},
		{"overload 3: options, then file, then sname, joined in this order", built(func(h []byte) {
			copy(h[offFile:], text(optClass, "Cli"))
			copy(h[offServer:], text(optClass, "ent"))
		}, text(optClass, "PXE"), opt(optOverload, 3), end), "", func(p *Packet) bool { return p.Class == "PXEClient" }},
		{"overload: an option that is cut in file is malformed", built(func(h []byte) { h[offCookie-2], h[offCookie-1] = optClass, 1 }, opt(optOverload, 1), end), booter.FlawOption, nil},
		{"without overload file holds no options", built(func(h []byte) { copy(h[offFile:], text(optClass, "PXEClient")) }, discover, end), "", func(p *Packet) bool { return p.Class == "" }},
		{"over 1,500 bytes are read as far as that", append(built(nil, discover, end), make([]byte, 2000)...), "", func(p *Packet) bool { return p.Type == booter.TypeDiscover }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Packet
			p.Read(bytes.Repeat([]byte{0xff}, 300)) // what came before leaves nothing
			p.Read(c.raw)
			if p.Parsed != c.flaw {
				t.Errorf("%q, want %q", p.Parsed, c.flaw)
			} else if c.want != nil && !c.want(&p) {
				t.Errorf("%+v", p.Request)
			}
		})
	}
}

// Hardware addresses that are no MAC, and addresses that no host can have, are the
// decision's to refuse; they must come through as they are.
func headerComesThrough(t *testing.T) {
	p := came(built(func(h []byte) {
		h[offLen], h[offHops], h[offFlags] = 255, 3, 0x80
		copy(h[offClient:], []byte{10, 78, 0, 58})
		copy(h[offRelay:], []byte{224, 0, 0, 1})
	}, opt(optType, 3), end), "10.78.0.58:68")
	if p.HLen != 255 || p.Hops != 3 || !p.Broadcast || p.ClientIP != reserved || p.XID != [4]byte{1, 2, 3, 4} || p.Flaw() != booter.FlawHardware {
		t.Errorf("%+v", p)
	}
}

// No bytes at all make the parser panic, or read what is not there; and what it calls
// whole it calls whole again.
func FuzzRead(f *testing.F) {
	labels, packets := captured(f)
	for _, l := range labels {
		f.Add(packets[l])
	}
	f.Add(built(func(h []byte) { copy(h[offFile:], text(optClass, "PXE")) }, opt(optOverload, 3), text(optClass, "Client"), opt(optAgent, 1, 9, 9), end))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, again := came(raw, "10.78.0.58:68"), &Packet{}
		again.Read(append([]byte(nil), raw...))
		if p.Parsed != again.Parsed || p.Class != again.Class || p.Type != again.Type {
			t.Errorf("%+v and %+v", p.Request, again.Request)
		}
		out, why := answer(t, site(), enrolling(), p)
		if why != "" {
			return
		}
		var o options
		if flaw := o.read(out); flaw != "" || len(out) < minReply || len(out) > booter.LargestSize {
			t.Errorf("the reply is %q, %d bytes", flaw, len(out))
		}
		if got, _ := o.get(optAgent); !bytes.Equal(got, p.Agent) {
			t.Errorf("option 82 %x came back as %x", p.Agent, got)
		}
		if strings.Contains(string(out[offOptions:offOptions+3]), "\x35\x01\x06") {
			t.Error("a NAK")
		}
	})
}
