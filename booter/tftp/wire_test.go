package tftp

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// pair is a socket to send from and one to read at, on loopback.
func pair(t testing.TB) (from, at *net.UDPConn) {
	t.Helper()
	var out [2]*net.UDPConn
	for i := range out {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		out[i] = c
	}
	return out[0], out[1]
}

// arrived returns the packets that come until they make n bytes.
func arrived(t *testing.T, c *net.UDPConn, n int) (all [][]byte) {
	t.Helper()
	b := make([]byte, 1<<16)
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	for n > 0 {
		m, _, err := c.ReadFromUDPAddrPort(b)
		if err != nil {
			t.Fatalf("%d bytes are missing after %d packets: %v", n, len(all), err)
		}
		all = append(all, bytes.Clone(b[:m]))
		n -= m
	}
	return all
}

// Packets sent in one call arrive as those sent one by one do.
func TestWriteAll(t *testing.T) {
	for _, c := range []struct{ size, length int }{
		{516, 100}, {516, 516}, {516, 517}, {516, 64 * 516}, {1472, 64 * 1472}, {1472, 63*1472 + 4}, {12, 64*12 - 1}, {60000, 3*60000 + 1},
	} {
		for _, single := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d of %d single %t", c.length, c.size, single), func(t *testing.T) {
				from, at := pair(t)
				w := newWire(from)
				w.single = single
				sent := content(c.length)
				if err := w.writeAll(sent, c.size, plain(at.LocalAddr().(*net.UDPAddr).AddrPort())); err != nil {
					t.Fatal(err)
				}
				if w.single != single && runtime.GOOS == "linux" {
					t.Error("the kernel did not take them in one call")
				}
				all := arrived(t, at, c.length)
				if len(all) != (c.length+c.size-1)/c.size || !bytes.Equal(bytes.Join(all, nil), sent) {
					t.Errorf("%d packets", len(all))
				}
			})
		}
	}
}

// A server on all addresses answers from the one that was asked, in a network
// of either family.
func answersFromTheAddressAsked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the address is known on Linux alone; elsewhere bind to it")
	}
	for _, c := range []struct{ network, bind, ask string }{
		{"udp4", "0.0.0.0:0", "127.0.0.1"}, {"udp4", "0.0.0.0:0", "127.0.0.7"},
		{"udp", "[::]:0", "127.0.0.7"}, {"udp", "[::]:0", "::1"}, {"udp4", "127.0.0.9:0", "127.0.0.9"},
	} {
		t.Run(c.bind+" "+c.ask, func(t *testing.T) {
			door, err := net.ListenPacket(c.network, c.bind)
			if err != nil {
				t.Skipf("no such address here: %v", err)
			}
			defer door.Close()
			done := make(chan Transfer, 1)
			var closed atomic.Int64
			s := &Server{Done: func(d Transfer) { done <- d }, Open: func(context.Context, Request) (File, error) {
				return inMemory{bytes.NewReader(nil), 0, &closed}, nil
			}}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Serve(ctx, door) }()

			client, err := net.ListenPacket("udp", net.JoinHostPort(c.ask, "0"))
			if err != nil {
				t.Skipf("no such address here: %v", err)
			}
			defer client.Close()
			to := netip.AddrPortFrom(netip.MustParseAddr(c.ask), uint16(door.LocalAddr().(*net.UDPAddr).Port))
			if _, err := client.WriteTo(rrq("x", "octet"), net.UDPAddrFromAddrPort(to)); err != nil {
				t.Fatal(err)
			}
			client.SetReadDeadline(time.Now().Add(10 * time.Second))
			b := make([]byte, 100)
			_, from, err := client.ReadFrom(b)
			if err != nil || addrPort(from).Addr() != to.Addr() {
				t.Errorf("answered from %v, %v", from, err)
			}
			client.WriteTo(ack(1), from)
			if d := <-done; d.Local != to.Addr() || d.Outcome != Complete {
				t.Errorf("%+v", d)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// A window of 16 blocks, in one call and one by one.
func BenchmarkWriteAll(b *testing.B) {
	for _, single := range []bool{false, true} {
		b.Run(fmt.Sprintf("single=%t", single), func(b *testing.B) {
			from, at := pair(b)
			w, packets := newWire(from), content(16*1472)
			w.single = single
			to := plain(at.LocalAddr().(*net.UDPAddr).AddrPort())
			b.SetBytes(int64(len(packets)))
			b.ReportAllocs()
			for b.Loop() {
				if err := w.writeAll(packets, 1472, to); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
