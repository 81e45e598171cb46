package dhcp4

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter"
)

// How a reply leaves this host, over loopback.
func TestChecklistOfSockets(t *testing.T) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{}) // of all addresses, as Linux drops broadcasts to others
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := Listen(conn)
	if err != nil {
		t.Fatal(err)
	}
	defer wrapped.Close()
	from := netip.MustParseAddr("127.0.0.5")
	client, err := net.ListenUDP("udp4", &net.UDPAddr{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	port := client.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	sent := func(t *testing.T, to booter.Destination) {
		t.Helper()
		if err := wrapped.Send([]byte("reply"), from, to); err != nil {
			t.Fatal(err)
		}
		_ = client.SetReadDeadline(time.Now().Add(10 * time.Second))
		buf := make([]byte, 100)
		n, at, err := client.ReadFromUDPAddrPort(buf)
		want := netip.AddrPortFrom(from, conn.LocalAddr().(*net.UDPAddr).AddrPort().Port())
		if err != nil || string(buf[:n]) != "reply" || netip.AddrPortFrom(at.Addr().Unmap(), at.Port()) != want {
			t.Errorf("%q from %s, want from %s: %v", buf[:n], at, want, err)
		}
	}
	t.Run("source is the server ID, of several addresses of a host", func(t *testing.T) {
		sent(t, booter.Destination{Via: booter.Routed, To: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.9"), port)})
	})
	t.Run("broadcast where a packet socket cannot be had", func(t *testing.T) {
		if err := wrapped.(*udpConn).direct.close(); err != nil {
			t.Fatal(err)
		}
		sent(t, booter.Destination{Via: booter.Direct, To: netip.AddrPortFrom(reserved, port), Interface: "lo", Hardware: booter.MAC{2}})
	})
}
