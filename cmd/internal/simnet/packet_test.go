package simnet_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/simnet"
)

func anyPort(number uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.IPv4Unspecified(), number)
}

// lan opens a port of a host on the segment "lan".
func lan(t *testing.T, n *simnet.Net, host string, number uint16) *simnet.PacketConn {
	t.Helper()
	p, err := n.Host(host).ListenPacket("lan", anyPort(number))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hear(p net.PacketConn) string {
	b := make([]byte, 100)
	p.SetReadDeadline(time.Now().Add(time.Minute))
	k, from, err := p.ReadFrom(b)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s from %s", b[:k], from)
}

func tell(t *testing.T, p *simnet.PacketConn, what, to string) {
	t.Helper()
	if _, err := p.WriteTo([]byte(what), net.UDPAddrFromAddrPort(netip.MustParseAddrPort(to))); err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBroadcastAndUnicast(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		n.Host("booter").Join("lan", netip.MustParseAddr("192.0.2.1"))
		booter, second, node := lan(t, n, "booter", 67), lan(t, n, "second", 67), lan(t, n, "node", 68)
		elsewhere, err := n.Host("booter").ListenPacket("other", anyPort(67))
		if err != nil {
			t.Fatal(err)
		}
		tell(t, node, "discover", "255.255.255.255:67")
		equal(t, hear(booter), "discover from 0.0.0.0:68")
		equal(t, hear(second), "discover from 0.0.0.0:68")
		tell(t, booter, "offer", "255.255.255.255:68")
		equal(t, hear(node), "offer from 192.0.2.1:67")
		n.Host("node").Join("lan", netip.MustParseAddr("192.0.2.9"))
		tell(t, node, "renew", "192.0.2.1:67")
		equal(t, hear(booter), "renew from 192.0.2.9:68")
		tell(t, booter, "ack", "192.0.2.9:68")
		equal(t, hear(node), "ack from 192.0.2.1:67")
		for _, p := range []net.PacketConn{second, elsewhere} {
			p.SetReadDeadline(time.Now().Add(time.Second))
			_, _, err := p.ReadFrom(make([]byte, 10))
			wants(t, err, os.ErrDeadlineExceeded)
		}
	})
}

// heard sends a thousand packets, a millisecond apart, under a rule.
func heard(t *testing.T, n *simnet.Net, r simnet.Rule) (numbers []int) {
	t.Helper()
	n.SetRule("a", "b", r)
	n.Host("b").Join("lan", netip.MustParseAddr("192.0.2.2"))
	a, b := lan(t, n, "a", 1), lan(t, n, "b", 2)
	go func() {
		for i := range 1000 {
			a.WriteToUDPAddrPort(fmt.Append(nil, i), netip.MustParseAddrPort("192.0.2.2:2"))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		b.Close()
	}()
	for buf := make([]byte, 10); ; {
		k, _, err := b.ReadFromUDPAddrPort(buf)
		if err != nil {
			return numbers
		}
		var i int
		fmt.Sscan(string(buf[:k]), &i)
		numbers = append(numbers, i)
	}
}

func TestPacketFaults(t *testing.T) {
	latency := simnet.Span{Min: time.Millisecond, Max: 20 * time.Millisecond}
	for _, c := range []struct {
		rule       simnet.Rule
		kind       simnet.Kind
		least, max int // packets heard
		sorted     bool
	}{
		{simnet.Rule{Latency: latency}, simnet.Deliver, 1000, 1000, true},
		{simnet.Rule{Latency: latency, Drop: 0.5}, simnet.Drop, 400, 600, true},
		{simnet.Rule{Latency: latency, Duplicate: 0.5}, simnet.Duplicate, 1400, 1600, false},
		{simnet.Rule{Reorder: 0.5, ReorderBy: latency}, simnet.Reorder, 1000, 1000, false},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			in(t, simnet.Options{}, func(t *testing.T, n *simnet.Net) {
				got := heard(t, n, c.rule)
				if len(got) < c.least || len(got) > c.max || slices.IsSorted(got) != c.sorted {
					t.Errorf("heard %d, sorted %t: %v", len(got), slices.IsSorted(got), got)
				}
				if k := n.Counts()[c.kind]; k < 400 {
					t.Errorf("%s happened %d times", c.kind, k)
				}
			})
		})
	}
}

func TestPacketsGetLost(t *testing.T) {
	in(t, slow(), func(t *testing.T, n *simnet.Net) {
		n.Host("b").Join("lan", netip.MustParseAddr("192.0.2.2"))
		a, b := lan(t, n, "a", 1), lan(t, n, "b", 2)
		tell(t, a, "nobody", "192.0.2.3:2")
		n.Cut("a", "b")
		tell(t, a, "cut", "192.0.2.2:2")
		time.Sleep(time.Second)
		n.Heal("a", "b")
		for range 300 {
			tell(t, a, "more than the queue holds", "192.0.2.2:2")
		}
		time.Sleep(time.Second)
		b.Close()
		tell(t, a, "closed", "192.0.2.2:2")
		time.Sleep(time.Second)
		if c := n.Counts(); c[simnet.Unheard] != 2 || c[simnet.Drop] != 1 || c[simnet.Overflow] != 300-256 {
			t.Errorf("counts %v", c)
		}
	})
}
