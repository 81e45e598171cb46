package dhcp4

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
)

// What a reply is, byte by byte; what is decided before it is in package booter.
func TestChecklistOfReplies(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"header: op 2, hops 0, secs 0, the rest the client's":                                 replyHeader,
		"hlen, hops, flags and addresses of a request come through as they are":               headerComesThrough,
		"options by kind and stage, and no other: 53 first, 82 last, no 150, 209, 210":        optionsByKindAndStage,
		"file of 127 bytes at most, a longer name in 67 alone, never cut; size bounds":        sizes,
		"lease, renewal and rebinding times, and the mask":                                    leaseTimes,
		"boot item of 43/71 is echoed on 4011":                                                bootItemEcho,
		"boot item 80 00 00 00 without 97 boots, by REQUEST and INFORM":                       bootItemAnywhere,
		"reply of 300 bytes at least, of every kind":                                          leastSize,
		"82 is echoed byte for byte in every reply, with or without giaddr":                   agentEcho,
		"82 that was absent is absent":                                                        agentAbsent,
		"61 is echoed, opaque":                                                                clientIDEcho,
		"ACK repeats its OFFER but for option 53":                                             ackRepeatsOffer,
		"an address that is not IPv4 is left out, never a panic":                              strayAddresses,
		"no PAD between options: the NUL of 67, for ROMs that read on, is inside its value":   noInnerPads,
		"server mode: address and boot fields in one OFFER; 54, siaddr and 66 are one server": oneOffer,
		"overload: what a client puts into file is no name":                                   overloadIsNoName,
	} {
		t.Run(name, test)
	}
}

// firmware is a packet of a client that boots.
func firmware(kind byte, class string, arch byte, more ...[]byte) [][]byte {
	return append([][]byte{opt(optType, kind), text(optClass, class), opt(optArch, 0, arch)}, more...)
}

// asked is the reply to a packet, and its options.
func asked(t *testing.T, p *booter.Policy, source string, edit func(h []byte), o ...[]byte) ([]byte, *options) {
	t.Helper()
	out, why := answer(t, p, enrolling(), came(built(edit, append(slices.Clone(o), end)...), source))
	if why != "" {
		t.Fatalf("silent: %s", why)
	}
	got := &options{}
	if flaw := got.read(out); flaw != "" {
		t.Fatalf("the reply is %s", flaw)
	}
	return out, got
}

func value(o *options, code byte) string { v, _ := o.get(code); return string(v) }

func has(o *options, codes ...byte) (out []byte) {
	for _, c := range codes {
		if _, ok := o.get(c); ok {
			out = append(out, c)
		}
	}
	return out
}

const direct, on4011 = "0.0.0.0:68", "10.78.0.58:4011"

// at sets ciaddr.
func at(a netip.Addr) func(h []byte) {
	return func(h []byte) { copy(h[offClient:], a.AsSlice()) }
}

// every is a packet that leads to each kind of reply: its policy, source and bytes.
func every(more ...[]byte) map[booter.Kind]func(t *testing.T) ([]byte, *options) {
	proxy := site()
	proxy.Proxy = true
	pxe := func(kind byte) [][]byte { return firmware(kind, "PXEClient", 7, more...) }
	selecting := append(pxe(3), opt(optServerID, us.AsSlice()...), opt(optRequested, reserved.AsSlice()...))
	ask := func(p *booter.Policy, source string, edit func([]byte), o [][]byte) func(t *testing.T) ([]byte, *options) {
		return func(t *testing.T) ([]byte, *options) { return asked(t, p, source, edit, o...) }
	}
	return map[booter.Kind]func(t *testing.T) ([]byte, *options){
		booter.Offer:      ask(site(), direct, nil, pxe(1)),
		booter.Ack:        ask(site(), direct, nil, selecting),
		"init-reboot":     ask(site(), direct, nil, append(pxe(3), opt(optRequested, reserved.AsSlice()...))),
		booter.ProxyOffer: ask(proxy, direct, nil, pxe(1)),
		booter.InformAck:  ask(site(), "10.78.0.58:68", at(reserved), pxe(8)),
		booter.BootAck:    ask(site(), on4011, at(reserved), pxe(3)),
		"relayed": ask(site(), "10.78.0.250:67", func(h []byte) {
			h[offHops] = 1
			copy(h[offRelay:], []byte{10, 78, 0, 250})
		}, pxe(1)),
	}
}

func leastSize(t *testing.T) {
	plain := site()
	plain.AnswerAny = true
	out, _ := asked(t, plain, direct, nil, opt(optType, 1)) // nothing that fills it
	if len(out) != 300 || !bytes.Equal(out[290:], make([]byte, 10)) {
		t.Errorf("%d bytes, %x", len(out), out[offOptions:])
	}
	for kind, ask := range every() {
		if out, _ := ask(t); len(out) < 300 {
			t.Errorf("%s: %d bytes", kind, len(out))
		}
	}
}

func agentEcho(t *testing.T) {
	for _, agent := range [][]byte{{1, 2, 9, 9, 200, 1, 7, subRelayPort, 0, 0}, {0}, {1, 9, 9}, bytes.Repeat([]byte{151, 1, 5}, 80)} {
		for kind, ask := range every(opt(optAgent, agent...), opt(optMaxMessage, 5, 192)) {
			out, o := ask(t)
			if value(o, optAgent) != string(agent) || !bytes.HasSuffix(bytes.TrimRight(out, "\x00"), append(opt(optAgent, agent...), optEnd)) {
				t.Errorf("%s: %x came back as %x", kind, agent, value(o, optAgent))
			}
		}
	}
}

func agentAbsent(t *testing.T) {
	for kind, ask := range every() {
		if _, o := ask(t); len(has(o, optAgent)) > 0 {
			t.Errorf("%s has one", kind)
		}
	}
}

func clientIDEcho(t *testing.T) {
	id := "\xff\x00\x01\x02 any bytes \x00"
	for kind, ask := range every(text(optClientID, id)) {
		if _, o := ask(t); value(o, optClientID) != id {
			t.Errorf("%s: %q", kind, value(o, optClientID))
		}
	}
}

func ackRepeatsOffer(t *testing.T) {
	for _, class := range []string{"PXEClient", "HTTPClient"} {
		for _, user := range []string{"", "iPXE", "ingot"} {
			o := firmware(1, class, 7, text(optUserClass, user))
			offer, _ := asked(t, site(), direct, nil, o...)
			ack, _ := asked(t, site(), direct, nil, append([][]byte{opt(optType, 3), opt(optServerID, us.AsSlice()...), opt(optRequested, reserved.AsSlice()...)}, o[1:]...)...)
			if offer[offOptions+2] != 2 || ack[offOptions+2] != 5 {
				t.Fatalf("types %d and %d", offer[offOptions+2], ack[offOptions+2])
			}
			if offer[offOptions+2] = 5; !bytes.Equal(offer, ack) {
				t.Errorf("%s %s:\n%x\n%x", class, user, offer, ack)
			}
		}
	}
}

func strayAddresses(t *testing.T) {
	six := netip.MustParseAddr("fd00::1")
	p := came(built(nil, opt(optType, 1), end), direct)
	p.ClientIP, p.RelayIP = six, six
	for _, a := range []netip.Addr{six, {}} {
		r := booter.Reply{Kind: booter.Ack, Client: booter.Client{Stage: booter.PXE}, Address: a, ServerID: a, MaxSize: booter.DefaultSize}
		out, err := Append(nil, p, &r, &Fields{Router: a, DNS: []netip.Addr{a}, Boot: bootscript.First{Server: a, File: "x"}})
		var o options
		if err != nil || o.read(out) != "" || !bytes.Equal(out[offClient:offHW], make([]byte, 16)) || len(has(&o, optServerID, optRouter, optDNS, optServerName)) > 0 {
			t.Errorf("%s: %v, %x", a, err, out)
		}
	}
}

func noInnerPads(t *testing.T) {
	for kind, ask := range every() {
		out, _ := ask(t)
		at := offOptions
		for out[at] != optEnd {
			if out[at] == optPad {
				t.Fatalf("%s: a PAD at %d of %x", kind, at, out)
			}
			if out[at] == optBootFile && out[at+1+int(out[at+1])] != 0 {
				t.Errorf("%s: 67 ends in %x", kind, out[at+1+int(out[at+1])])
			}
			at += 2 + int(out[at+1])
		}
	}
}

// oneOffer is for firmware that keeps no proxy's packets (old Dells), and for that which
// loads from the DHCP server whatever siaddr says (Raspberry Pi).
func oneOffer(t *testing.T) {
	out, o := asked(t, site(), direct, nil, firmware(1, "PXEClient", 7)...)
	if address(out[offYour:]) != reserved || len(has(o, optLease, optMask, optRouter, optBootFile, optClass)) != 5 {
		t.Errorf("%x", out)
	}
	if id := value(o, optServerID); id != string(out[offNext:offNext+4]) || value(o, optServerName) != us.String() || id != string(us.AsSlice()) {
		t.Errorf("54 is %x, siaddr %x, 66 %q", id, out[offNext:offNext+4], value(o, optServerName))
	}
}

func overloadIsNoName(t *testing.T) {
	edit := func(h []byte) {
		copy(h[offFile:], slices.Concat(text(optClass, "PXEClient"), opt(optArch, 0, 0), end))
		copy(h[offServer:], slices.Concat(text(optUserClass, "iPXE"), end))
	}
	out, o := asked(t, site(), direct, edit, opt(optType, 1), opt(optOverload, 3))
	if file := string(bytes.TrimRight(out[offFile:offCookie], "\x00")); file != value(o, optBootFile) || !strings.HasSuffix(file, "/boot-bios.ipxe") || len(has(o, optOverload)) > 0 {
		t.Errorf("file %q, 67 %q", file, value(o, optBootFile))
	}
}

// bootItemAnywhere is the client of a boot menu, type 0x8000, without its GUID.
func bootItemAnywhere(t *testing.T) {
	for kind, ask := range every(opt(optVendor, vendorBootItem, 4, 0x80, 0, 0, 0)) {
		_, o := ask(t)
		if v, _ := o.get(optVendor); !bytes.Contains(v, []byte{vendorBootItem, 4, 0x80, 0, 0, 0}) || value(o, optBootFile) == "" {
			t.Errorf("%s: 43 %x, 67 %q", kind, v, value(o, optBootFile))
		}
	}
}

// Where a client finds its boot program, as each kind of client looks for it.
func TestChecklistOfBootFields(t *testing.T) {
	const tftpName, url = "b/" + token + "/", "http://10.78.0.1:8080/b/" + token + "/"
	type found struct {
		siaddr           netip.Addr
		file, f66, f67   string
		class, f43, f175 string
	}
	proxy, uboot := site(), site()
	proxy.Proxy, uboot.UBoot = true, true
	none := netip.IPv4Unspecified()
	for _, c := range []struct {
		name    string
		policy  *booter.Policy
		source  string
		packet  [][]byte
		want    found
		without []byte
	}{
		{"PXE: siaddr, file, 66 in dots, 67 with NUL, 60; 43 says 06 01 08 ff: no discovery", site(), direct, firmware(1, "PXEClient", 7),
			found{us, tftpName + "efi-x64.efi", "10.78.0.1", tftpName + "efi-x64.efi\x00", "PXEClient", "\x06\x01\x08\xff", ""}, nil},
		{"BIOS PXE, not a menu: 43 has no items for iPXE to reload itself by", site(), direct, firmware(1, "PXEClient", 0),
			found{us, tftpName + "bios.kpxe", "10.78.0.1", tftpName + "bios.kpxe\x00", "PXEClient", "\x06\x01\x08\xff", ""}, nil},
		{"Raspberry Pi's boot code, no client of ours, gets no menu of its own in 43", site(), direct, firmware(1, "PXEClient:Arch:00000:UNDI:002001", 0, opt(optMachine, bytes.Repeat([]byte{0x44}, 17)...)),
			found{us, tftpName + "bios.kpxe", "10.78.0.1", tftpName + "bios.kpxe\x00", "PXEClient", "\x06\x01\x08\xff", ""}, nil},
		{"PXEClient with architecture 16 gets a name for TFTP, as 60 says", site(), direct, firmware(1, "PXEClient", 16),
			found{us, tftpName + "efi-x64.efi", "10.78.0.1", tftpName + "efi-x64.efi\x00", "PXEClient", "\x06\x01\x08\xff", ""}, nil},
		{"4011 answers BIOS, architecture 0: 53=5, 54, 60, siaddr, file, and no lease", site(), on4011, firmware(3, "PXEClient", 0),
			found{us, tftpName + "bios.kpxe", "10.78.0.1", tftpName + "bios.kpxe\x00", "PXEClient", "\x06\x01\x08\xff", ""}, []byte{optLease, optMask, optRouter, optRenewal}},
		{"4011 answers an iPXE in its second stage: no wait for a proxy in vain", site(), on4011, firmware(3, "PXEClient", 0, text(optUserClass, "iPXE")),
			found{us, url + "boot-bios.ipxe", "10.78.0.1", url + "boot-bios.ipxe", "PXEClient", "", "\xb0\x01\x01"}, []byte{optLease}},
		{"proxy OFFER: 60, no 51, 1, 3; UEFI asks 4011, where 43 is absent", proxy, direct, firmware(1, "PXEClient", 7),
			found{us, tftpName + "efi-x64.efi", "10.78.0.1", tftpName + "efi-x64.efi\x00", "PXEClient", "", ""}, []byte{optLease, optMask, optRouter, optRenewal, optRebinding}},
		{"HTTP boot: 60 HTTPClient, 67 a URL by address without NUL, no 43, 66, siaddr", site(), direct, firmware(1, "HTTPClient", 16),
			found{none, url + "efi-x64.efi", "", url + "efi-x64.efi", "HTTPClient", "", ""}, []byte{optVendor, optServerName}},
		{"HTTPClient with architecture 7 gets a URL, as 60 says", site(), direct, firmware(1, "HTTPClient", 7),
			found{none, url + "efi-x64.efi", "", url + "efi-x64.efi", "HTTPClient", "", ""}, []byte{optVendor}},
		{"iPXE: a URL of its script, 175/b0=01 against the wait for a proxy", site(), direct, firmware(1, "PXEClient", 7, text(optUserClass, "iPXE")),
			found{us, url + "boot-efi-x64.ipxe", "10.78.0.1", url + "boot-efi-x64.ipxe", "", "", "\xb0\x01\x01"}, []byte{optClass}},
		{"FlexBoot, by 175 without 77: a URL of its script", site(), direct, firmware(1, "PXEClient", 0, opt(optIPXE, 0x13, 1, 1)),
			found{us, url + "boot-bios.ipxe", "10.78.0.1", url + "boot-bios.ipxe", "", "", "\xb0\x01\x01"}, nil},
		{"foreign iPXE without HTTP among its features in 175: our own by a full tftp URL", site(), direct, firmware(1, "PXEClient", 0, text(optUserClass, "iPXE"), opt(optIPXE, 0x15, 1, 1)),
			found{us, "tftp://10.78.0.1/" + tftpName + "bios.kpxe", "10.78.0.1", "tftp://10.78.0.1/" + tftpName + "bios.kpxe", "", "", "\xb0\x01\x01"}, []byte{optClass, optVendor}},
		{"our own iPXE gets its script, whatever it lists", site(), direct, firmware(1, "PXEClient", 0, opt(optUserClass, []byte("\x04iPXE\x05ingot")...), opt(optIPXE, 0x15, 1, 1)),
			found{us, url + "boot-bios.ipxe", "10.78.0.1", url + "boot-bios.ipxe", "", "", "\xb0\x01\x01"}, []byte{optVendor}},
		{"U-Boot, which reads siaddr and file alone: both are there", uboot, direct, firmware(1, "U-Boot.armv8", 11),
			found{us, tftpName + "efi-arm64.efi", "10.78.0.1", tftpName + "efi-arm64.efi", "", "", ""}, []byte{optVendor}},
	} {
		t.Run(c.name, func(t *testing.T) {
			edit := func([]byte) {}
			if c.source == on4011 {
				edit = at(reserved)
			}
			out, o := asked(t, c.policy, c.source, edit, c.packet...)
			got := found{address(out[offNext:]), string(bytes.TrimRight(out[offFile:offCookie], "\x00")), value(o, optServerName), value(o, optBootFile), value(o, optClass), value(o, optVendor), value(o, optIPXE)}
			if got != c.want {
				t.Errorf("\n%q, want\n%q", fmt.Sprint(got), fmt.Sprint(c.want))
			}
			if bad := has(o, c.without...); len(bad) > 0 {
				t.Errorf("it has %v", bad)
			}
			if value(o, optServerID) != string(us.AsSlice()) || !bytes.Equal(out[offServer:offFile], make([]byte, offFile-offServer)) {
				t.Errorf("54 is %x, sname %x", value(o, optServerID), out[offServer:offFile])
			}
		})
	}
}
