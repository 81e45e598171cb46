package tftp_test

import (
	"bytes"
	"net"
	"net/netip"
	"testing"

	"github.com/ingotmetal/ingot/booter/tftp"
)

// lossy is a transfer's socket that loses every nth packet it sends.
type lossy struct {
	net.PacketConn
	nth, sent int
}

func (l *lossy) WriteTo(b []byte, to net.Addr) (int, error) {
	if l.sent++; l.sent%l.nth == 0 {
		return len(b), nil
	}
	return l.PacketConn.WriteTo(b, to)
}

// Every client at hand gets its bytes where packets are lost. One that knows
// windows says what it misses, so that nobody waits for a timer.
func TestPeersOverLoss(t *testing.T) {
	file := pattern(40_000)
	for _, p := range peers() {
		if p.patient {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel() // they wait more than they work
			path := program(t, p.program, p.debian)
			done := newLedger()
			s := &tftp.Server{Open: shelf{"boot": file}.Open, Done: done.add}
			s.Listen = func(local netip.AddrPort) (net.PacketConn, error) {
				c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(local))
				return &lossy{PacketConn: c, nth: 26_000 / p.block}, err
			}
			if p.window > 1 { // a few in every window
				s.Listen = func(local netip.AddrPort) (net.PacketConn, error) {
					c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(local))
					return &lossy{PacketConn: c, nth: 11}, err
				}
			}
			at := serve(t, s, "127.0.0.1:0")
			if got := p.fetch(t, path, at.Port, "boot"); !bytes.Equal(got, file) {
				t.Fatalf("got %d bytes", len(got))
			}
			d := done.wait(t, 1)[0]
			if d.Outcome != tftp.Complete || d.Resent == 0 {
				t.Errorf("a transfer went by %+v", d)
			}
		})
	}
}
