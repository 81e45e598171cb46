package dhcp4

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	ours "github.com/ingotmetal/ingot/booter/dhcp4"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

var (
	noon     = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	us       = netip.MustParseAddr("10.78.0.1")
	reserved = netip.MustParseAddr("10.78.0.58")
	network  = netip.MustParsePrefix("10.78.0.0/24")
)

const file = "b/52540012345600112233445566778899aabbccddeeff/efi-x64.efi"

// captured are the DHCPv4 packets of real firmware, by label.
func captured(t testing.TB) map[string][]byte {
	t.Helper()
	f, err := os.Open("../../booter/dhcp4/testdata/packets.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packets, label := map[string][]byte{}, ""
	for s := bufio.NewScanner(f); s.Scan(); {
		if l, ok := strings.CutPrefix(s.Text(), "## "); ok {
			label = l
		} else if raw, err := hex.DecodeString(s.Text()); err == nil && len(raw) > 240 {
			packets[label] = raw
		}
	}
	return packets
}

// request is the one that is measured: EDK2's.
func request(t testing.TB) []byte {
	raw, ok := captured(t)["edk2-pxe4-request (57=0xff00)"]
	if !ok {
		t.Fatal("no such packet")
	}
	return raw
}

func site() *booter.Policy {
	return &booter.Policy{Networks: []netip.Prefix{network}, Links: []booter.Link{{Name: "adm0", ServerID: us, Networks: []netip.Prefix{network}}},
		Staged: map[string]bool{"enroll": true}, Enrollment: "enroll"}
}

// mine decides and writes the reply as ingot does.
func mine(buf []byte, p *ours.Packet, policy *booter.Policy, rec booter.Record) ([]byte, error) {
	r, _ := policy.Answer(rec, p.Request, noon)
	return ours.Append(buf, p, &r, &ours.Fields{Mask: network, Router: us, Boot: bootscript.First{Server: us, File: file, Discovery: true}})
}

// theirs writes the same reply by the library. It decides nothing.
func theirs(p *dhcpv4.DHCPv4) ([]byte, error) {
	ip := net.IP(us.AsSlice())
	r, err := dhcpv4.NewReplyFromRequest(p,
		dhcpv4.WithMessageType(dhcpv4.MessageTypeAck), dhcpv4.WithYourIP(net.IP(reserved.AsSlice())), dhcpv4.WithServerIP(ip),
		dhcpv4.WithNetmask(net.CIDRMask(24, 32)), dhcpv4.WithRouter(ip), dhcpv4.WithLeaseTime(3600),
		dhcpv4.WithOption(dhcpv4.OptServerIdentifier(ip)),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionVendorSpecificInformation, []byte{6, 1, 8, 255})),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionRenewTimeValue, []byte{0, 0, 7, 8})),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionRebindingTimeValue, []byte{0, 0, 12, 78})),
		dhcpv4.WithOption(dhcpv4.OptClassIdentifier("PXEClient")),
		dhcpv4.WithOption(dhcpv4.OptTFTPServerName("10.78.0.1")), dhcpv4.WithOption(dhcpv4.OptBootFileName(file+"\x00")),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionClientMachineIdentifier, p.GetOneOption(dhcpv4.OptionClientMachineIdentifier))))
	if err != nil {
		return nil, err
	}
	r.BootFileName = file
	return r.ToBytes(), nil
}

// Both read the same out of every captured packet.
func TestParityOfReading(t *testing.T) {
	for label, raw := range captured(t) {
		lib, err := dhcpv4.FromBytes(raw)
		var p ours.Packet
		p.Read(raw)
		if (err == nil) != (p.Parsed == "") {
			t.Errorf("%s: %v and %q", label, err, p.Parsed)
			continue
		}
		if err != nil {
			continue
		}
		archs := lib.ClientArch()
		same := byte(lib.MessageType()) == byte(p.Type) && lib.ClassIdentifier() == p.Class && bytes.Equal(lib.ClientHWAddr, p.MAC[:]) &&
			lib.IsBroadcast() == p.Broadcast && len(archs) == len(p.Archs) && uint16(archs[0]) == uint16(p.Archs[0]) &&
			bytes.Equal(lib.GetOneOption(dhcpv4.OptionClientMachineIdentifier), p.Machine) && lib.ClientIPAddr.Equal(p.ClientIP.AsSlice())
		if !same {
			t.Errorf("%s:\n%s\n%+v", label, lib.Summary(), p.Request)
		}
	}
}

// Both write a reply that says the same.
func TestParityOfReplies(t *testing.T) {
	raw := request(t)
	lib, err := dhcpv4.FromBytes(raw)
	if err != nil {
		t.Fatal(err)
	}
	want, err := theirs(lib)
	if err != nil {
		t.Fatal(err)
	}
	var p ours.Packet
	p.Read(raw)
	p.Interface = "adm0"
	got, err := mine(nil, &p, site(), booter.Record{State: netboot.Enrolling, Address: reserved})
	if err != nil {
		t.Fatal(err)
	}
	a, err := dhcpv4.FromBytes(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := dhcpv4.FromBytes(want)
	if err != nil {
		t.Fatal(err)
	}
	if a.Summary() != b.Summary() {
		t.Errorf("%s\n%s", a.Summary(), b.Summary())
	}
}

func BenchmarkRead(b *testing.B) {
	raw := request(b)
	b.Run("ingot", func(b *testing.B) {
		var p ours.Packet
		b.ReportAllocs()
		for b.Loop() {
			if p.Read(raw); p.Parsed != "" {
				b.Fatal(p.Parsed)
			}
		}
	})
	b.Run("insomniacslk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := dhcpv4.FromBytes(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Ours decides too.
func BenchmarkReply(b *testing.B) {
	raw := request(b)
	b.Run("ingot", func(b *testing.B) {
		var p ours.Packet
		p.Read(raw)
		p.Interface = "adm0"
		policy, rec, buf := site(), booter.Record{State: netboot.Enrolling, Address: reserved}, make([]byte, 0, 1500)
		b.ReportAllocs()
		for b.Loop() {
			if out, err := mine(buf[:0], &p, policy, rec); err != nil || len(out) < 300 {
				b.Fatal(err)
			}
		}
	})
	b.Run("insomniacslk", func(b *testing.B) {
		p, err := dhcpv4.FromBytes(raw)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := theirs(p); err != nil {
				b.Fatal(err)
			}
		}
	})
}
