package dhcp4

import (
	"bufio"
	"encoding/hex"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
	"github.com/ingotmetal/ingot/statemachine/netboot"
)

var (
	noon     = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	us       = netip.MustParseAddr("10.78.0.1")
	reserved = netip.MustParseAddr("10.78.0.58")
	network  = netip.MustParsePrefix("10.78.0.0/24")
)

// captured are the packets of testdata/packets.txt, by label.
func captured(t testing.TB) (labels []string, packets map[string][]byte) {
	t.Helper()
	f, err := os.Open("testdata/packets.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packets = map[string][]byte{}
	label := ""
	for s := bufio.NewScanner(f); s.Scan(); {
		if l, ok := strings.CutPrefix(s.Text(), "## "); ok {
			label = l
			labels = append(labels, l)
		} else if raw, err := hex.DecodeString(s.Text()); err == nil && len(raw) > 0 {
			packets[label] = raw
		}
	}
	return labels, packets
}

// site is a policy that serves the network of the captures.
func site() *booter.Policy {
	return &booter.Policy{
		Networks:   []netip.Prefix{network},
		Links:      []booter.Link{{Name: "adm0", ServerID: us, Networks: []netip.Prefix{network}}},
		Staged:     map[string]bool{"enroll": true},
		Enrollment: "enroll",
		ChainClass: "ingot",
	}
}

func enrolling() booter.Record {
	return booter.Record{State: netboot.Enrolling, Address: reserved}
}

func pointer() bootscript.Site {
	return bootscript.Site{TFTP: us, HTTP: netip.AddrPortFrom(us, 8080),
		Loaders: map[booter.Platform]bool{booter.BIOS: true, booter.IA32: true, booter.X64: true, booter.ARM32: true, booter.ARM64: true}}
}

const token = "525400123456" + "00112233445566778899aabbccddeeff"

// answer is the reply to a packet of a machine that enrolls.
func answer(t testing.TB, p *booter.Policy, rec booter.Record, packet *Packet) ([]byte, booter.Silence) {
	t.Helper()
	r, why := p.Answer(rec, packet.Request, noon)
	if why != "" {
		return nil, why
	}
	first, ok := pointer().First(r.Client, r.Kind, token)
	if !ok {
		t.Fatalf("no first boot program for %+v", r.Client)
	}
	out, err := Append(nil, packet, &r, &Fields{Mask: network, Router: netip.MustParseAddr("10.78.0.254"), Boot: first})
	if err != nil {
		t.Fatal(err)
	}
	return out, ""
}

// came is a packet that came in from a client.
func came(raw []byte, source string) *Packet {
	p := &Packet{}
	p.Read(raw)
	p.Source, p.Interface = netip.MustParseAddrPort(source), "adm0"
	p.BootPort = p.Source.Port() == booter.BootPort
	return p
}

// built is a packet of a header and options.
func built(edit func(h []byte), options ...[]byte) []byte {
	b := make([]byte, offOptions)
	b[0], b[1], b[2] = 1, 1, 6
	copy(b[offXID:], []byte{1, 2, 3, 4})
	copy(b[offHW:], []byte{0x52, 0x54, 0, 0x12, 0x34, 0x56})
	copy(b[offCookie:], cookie[:])
	if edit != nil {
		edit(b)
	}
	for _, o := range options {
		b = append(b, o...)
	}
	return b
}

func opt(code byte, v ...byte) []byte { return append([]byte{code, byte(len(v))}, v...) }

func text(code byte, v string) []byte { return opt(code, []byte(v)...) }

var end = []byte{optEnd}
