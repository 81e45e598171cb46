package dhcp4

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
)

// reply is an answer that a client of any stage may get.
func reply(kind booter.Kind, stage booter.Stage) booter.Reply {
	return booter.Reply{Kind: kind, Client: booter.Client{Stage: stage, Platform: booter.X64}, Address: reserved, ServerID: us, MaxSize: booter.DefaultSize}
}

// Each kind and stage has its own options and no other.
func optionsByKindAndStage(t *testing.T) {
	lease := []byte{optMask, optRouter, optLease, optRenewal, optRebinding}
	f := Fields{Mask: network, Router: us, DNS: []netip.Addr{us}, Boot: bootscript.First{Server: us, File: "x", Discovery: true}}
	p := came(built(nil, opt(optType, 1), opt(optClientID, 1, 2), opt(optMachine, make([]byte, 17)...), opt(optAgent, 1, 1, 7), end), "0.0.0.0:68")
	always := []byte{optType, optServerID, optDNS, optClientID, optMachine, optAgent, optServerName, optBootFile}
	for _, c := range []struct {
		kind  booter.Kind
		stage booter.Stage
		want  []byte
		class string
	}{
		{booter.Offer, booter.PXE, slices.Concat(lease, []byte{optVendor, optClass}), "PXEClient"},
		{booter.Ack, booter.HTTP, slices.Concat(lease, []byte{optClass}), "HTTPClient"},
		{booter.Offer, booter.IPXE, slices.Concat(lease, []byte{optIPXE}), ""},
		{booter.Offer, booter.Chained, slices.Concat(lease, []byte{optIPXE}), ""},
		{booter.Ack, booter.UBoot, lease, ""},
		{booter.Ack, booter.UBootHTTP, slices.Concat(lease, []byte{optClass}), "HTTPClient"},
		{booter.Ack, booter.Plain, lease, ""},
		{booter.ProxyOffer, booter.PXE, []byte{optVendor, optClass}, "PXEClient"},
		{booter.ProxyOffer, booter.IPXE, []byte{optIPXE, optClass}, "PXEClient"},
		{booter.BootAck, booter.PXE, []byte{optVendor, optClass}, "PXEClient"},
		{booter.InformAck, booter.PXE, []byte{optVendor, optClass}, "PXEClient"},
	} {
		r := reply(c.kind, c.stage)
		out, err := Append(nil, p, &r, &f)
		if err != nil {
			t.Fatal(err)
		}
		var o options
		if flaw := o.read(out); flaw != "" {
			t.Fatal(flaw)
		}
		for code := range 255 {
			want := slices.Contains(c.want, byte(code)) || slices.Contains(always, byte(code))
			if _, got := o.get(byte(code)); got != want {
				t.Errorf("%s to %s: option %d is there: %t", c.kind, c.stage, code, got)
			}
		}
		if class, _ := o.get(optClass); string(class) != c.class {
			t.Errorf("%s to %s: class %q", c.kind, c.stage, class)
		}
		if o.packet[offOptions] != optType || !bytes.HasSuffix(bytes.TrimRight(out, "\x00"), append(opt(optAgent, 1, 1, 7), optEnd)) {
			t.Errorf("%s to %s: 53 is not first, or 82 not last", c.kind, c.stage)
		}
	}
}

// The header answers the client's, and nothing of it is made up (RFC 2131 table 3).
func replyHeader(t *testing.T) {
	p := came(built(func(h []byte) {
		h[offHops], h[offSecs+1], h[offFlags] = 4, 9, 0x80
		copy(h[offClient:], reserved.AsSlice())
		copy(h[offRelay:], []byte{10, 0, 7, 1})
		copy(h[offHW+6:], "tail of chaddr")
	}, opt(optType, 3), end), "10.0.7.1:67")
	for kind, ciaddr := range map[booter.Kind]netip.Addr{booter.Ack: reserved, booter.Offer: netip.IPv4Unspecified()} {
		r := reply(kind, booter.PXE)
		out, err := Append([]byte("before"), p, &r, &Fields{Boot: bootscript.First{Server: us, File: strings.Repeat("f", 127)}})
		if err != nil || string(out[:6]) != "before" {
			t.Fatal(err)
		}
		h := out[6:]
		if h[0] != 2 || h[1] != 1 || h[2] != 6 || h[offHops] != 0 || h[offSecs+1] != 0 || h[offFlags] != 0x80 || !bytes.Equal(h[4:8], []byte{1, 2, 3, 4}) {
			t.Errorf("%x", h[:12])
		}
		if address(h[offClient:]) != ciaddr || address(h[offYour:]) != reserved || address(h[offNext:]) != us || address(h[offRelay:]) != p.RelayIP || !bytes.Equal(h[offHW:offServer], p.Hardware[:]) {
			t.Errorf("%s: %x", kind, h[offClient:offServer])
		}
		if string(h[offFile:offCookie]) != strings.Repeat("f", 127)+"\x00" {
			t.Errorf("file %q", h[offFile:offCookie])
		}
	}
}

// A name that the header does not hold is in option 67 alone, a value that one option
// does not hold is split, and what does not fit the client is no reply.
func sizes(t *testing.T) {
	p := came(built(nil, opt(optType, 1), end), "0.0.0.0:68")
	for _, c := range []struct {
		url, agent, max, dns int
		dropped              bool
		err                  bool
	}{
		{url: 1, max: 548},
		{url: 128, max: 548},
		{url: 300, max: 1472},
		{url: 200, max: 548, dns: 60, dropped: true},
		{url: 280, max: 548, err: true},
		{url: 100, agent: 255, max: 1472},
		{url: 100, agent: 600, max: 1472},
		{url: 1300, max: 1472, err: true},
	} {
		r, name := reply(booter.Ack, booter.Chained), strings.Repeat("u", c.url)
		r.MaxSize = c.max
		p.Agent = bytes.Repeat([]byte{7}, c.agent)
		f := Fields{Boot: bootscript.First{File: name}, DNS: slices.Repeat([]netip.Addr{us}, c.dns)}
		out, err := Append(nil, p, &r, &f)
		if large, ok := errors.AsType[*TooLarge](err); ok != c.err {
			t.Errorf("%+v: %v", c, err)
		} else if ok {
			if large.Max != c.max || large.Size <= c.max || len(out) != 0 || large.Code() != "UNSUPPORTED" {
				t.Errorf("%+v: %v", c, large)
			}
			continue
		}
		var o options
		if flaw := o.read(out); flaw != "" || len(out) > c.max || len(out) < 300 {
			t.Errorf("%+v: %q, %d bytes", c, flaw, len(out))
		}
		file, _ := o.get(optBootFile)
		agent, _ := o.get(optAgent)
		if _, dns := o.get(optDNS); string(file) != name || len(agent) != c.agent || dns != (c.dns > 0 && !c.dropped) {
			t.Errorf("%+v: file of %d, agent of %d, DNS %t", c, len(file), len(agent), dns)
		}
		if inHeader := out[offFile] != 0; inHeader != (c.url <= maxFile) {
			t.Errorf("%+v: file in the header: %t", c, inHeader)
		}
	}
}

func leaseTimes(t *testing.T) {
	p := came(built(nil, opt(optType, 1), end), "0.0.0.0:68")
	r := reply(booter.Ack, booter.PXE)
	out, err := Append(nil, p, &r, &Fields{Lease: 800 * time.Second, Mask: netip.MustParsePrefix("10.64.0.0/10")})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]byte{opt(optLease, 0, 0, 3, 32), opt(optRenewal, 0, 0, 1, 144), opt(optRebinding, 0, 0, 2, 188), opt(optMask, 255, 192, 0, 0)} {
		if !bytes.Contains(out, want) {
			t.Errorf("no %x in %x", want, out[offOptions:])
		}
	}
}

// The boot menu's item that a client chose comes back to it.
func bootItemEcho(t *testing.T) {
	p := came(built(nil, opt(optType, 3), opt(optVendor, vendorBootItem, 4, 0x80, 0, 0, 0), end), "10.78.0.60:4011")
	r := reply(booter.BootAck, booter.PXE)
	out, err := Append(nil, p, &r, &Fields{})
	if err != nil || !bytes.Contains(out, opt(optVendor, vendorBootItem, 4, 0x80, 0, 0, 0, 255)) {
		t.Errorf("%x, %v", out[offOptions:], err)
	}
}
