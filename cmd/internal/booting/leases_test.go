package booting

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/bootscript"
)

// Whatever comes, an address is one machine's and a machine has one, the last.
func TestLeases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Leases
		last := map[booter.MAC]netip.Addr{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			mac, from := numbered(rapid.IntRange(0, 5).Draw(t, "mac")), netip.AddrFrom4([4]byte{10, 0, 0, rapid.Byte().Draw(t, "from") % 6})
			l.Take(mac, from)
			for m, a := range last {
				if a == from {
					delete(last, m)
				}
			}
			last[mac] = from
			if rapid.Bool().Draw(t, "forget") {
				gone := numbered(rapid.IntRange(0, 5).Draw(t, "gone"))
				l.Keep(func(m booter.MAC) bool { return m != gone })
				delete(last, gone)
			}
		}
		if len(l.of) != len(last) || len(l.at) != len(last) {
			t.Fatalf("%v and %v, want %v", l.of, l.at, last)
		}
		for mac, from := range last {
			if got, ok := l.At(from); !ok || got != mac {
				t.Fatalf("%s is %s's, want %s", from, got, mac)
			}
		}
	})
}

// Beside another DHCP server the agent keeps the address that iPXE got, and its
// connection from there was seen with its MAC (SET-18). The address that the site
// reserved is nobody's then.
func TestProxyKeepsTheLease(t *testing.T) {
	p := place()
	p.Proxy = true
	d := newDesk(t, p, still, fleet()...)
	lease, reserved := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("10.78.0.9")
	if got := d.seenWith(lease, []string{known}); len(got) != 0 {
		t.Fatalf("seen before it asked: %q", got)
	}
	f, err := d.fetch(stageHTTP, bootscript.Path{Token: d.key.Token(mac(known)), Leaf: bootscript.Script, Platform: booter.X64}.String(), lease)
	if err != nil || f.why != "" {
		t.Fatal(err, f.why)
	}
	if text := string(f.text); !strings.Contains(text, " ingot.lease=${netX/ip}/${netX/netmask}/${netX/gateway}") || strings.Contains(text, "ingot.address") {
		t.Error(text)
	}
	if got := d.seenWith(lease, []string{known, held}); strings.Join(got, " ") != known {
		t.Errorf("seen with %q", got)
	}
	if got := d.seenWith(reserved, []string{known}); len(got) != 0 {
		t.Errorf("the reserved address is seen with %q", got)
	}
}
