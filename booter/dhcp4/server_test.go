package dhcp4

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/booter"
)

// served is a site that answers by its policy and remembers.
func served(rec booter.Record) func(*Packet) (booter.Reply, Fields, bool) {
	p := site()
	p.AnswerAny = true
	memory, mu := booter.NewMemory(p.Limits), sync.Mutex{}
	return func(in *Packet) (booter.Reply, Fields, bool) {
		mu.Lock()
		defer mu.Unlock()
		in.Recent = memory.Recall(p, in.Request, noon)
		r, why := p.Answer(rec, in.Request, noon)
		memory.Note(in.Request, r, why, noon)
		first, ok := pointer().First(r.Client, r.Kind, token)
		return r, Fields{Mask: network, Boot: first}, why == "" && ok
	}
}

// A relay on loopback gets its replies at its own port (RFC 8357), and a server ends
// with its context.
func TestServeRelayOnLoopback(t *testing.T) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := Listen(conn)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s := &Server{Conn: wrapped, Answer: served(enrolling()), Log: slog.New(slog.DiscardHandler), Failed: func(_ *Packet, err error) { t.Error(err) }}
	go func() { ended <- s.Serve(ctx) }()
	relay, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 9)}, conn.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	ask := func(kind byte, options ...[]byte) []byte {
		head := func(h []byte) { h[offHops] = 1; copy(h[offRelay:], []byte{127, 0, 0, 9}) }
		all := append([][]byte{opt(optType, kind), text(optClass, "PXEClient"), opt(optArch, 0, 7)}, options...)
		all = append(all, opt(optAgent, subLink, 4, 10, 78, 0, 0, subRelayPort, 0), end)
		if _, err := relay.Write(built(head, all...)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 2000)
		_ = relay.SetReadDeadline(time.Now().Add(10 * time.Second))
		n, err := relay.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return buf[:n]
	}
	offer := ask(1)
	if address(offer[offYour:]) != reserved || offer[offOptions+2] != 2 {
		t.Errorf("%x", offer)
	}
	var o options
	o.read(offer)
	server, _ := o.get(optServerID)
	if ack := ask(3, opt(optServerID, server...), opt(optRequested, reserved.AsSlice()...)); ack[offOptions+2] != 5 {
		t.Errorf("%x", ack)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// scripted is a socket that fails in turn.
type scripted struct {
	errs []error
	sent []booter.Destination
	done chan struct{}
	once sync.Once
}

func (s *scripted) Receive([]Inbound) (int, error) {
	if len(s.errs) == 0 {
		<-s.done
		return 0, net.ErrClosed
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	return 0, err
}

func (s *scripted) Send(_ []byte, _ netip.Addr, to booter.Destination) error {
	s.sent = append(s.sent, to)
	return nil
}

func (s *scripted) Close() error { s.once.Do(func() { close(s.done) }); return nil }

// An error of one packet is no end; it is waited out, longer where it goes on. A
// closed socket is one, and so is the context's.
func TestServeOutlivesErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		odd := errors.New("connection refused")
		c := &scripted{errs: []error{odd, odd, odd}, done: make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		start, ended := time.Now(), make(chan error, 1)
		go func() { ended <- (&Server{Conn: c, Log: slog.New(slog.DiscardHandler)}).Serve(ctx) }()
		time.Sleep(time.Second)
		if len(c.errs) != 0 || time.Since(start) != time.Second {
			t.Error("it did not go on")
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		c = &scripted{errs: []error{net.ErrClosed}, done: make(chan struct{})}
		if err := (&Server{Conn: c, Log: slog.New(slog.DiscardHandler)}).Serve(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

// The checksums of IPv4 and UDP, by the rule that the sum of what they cover is all
// ones (RFC 1071), at lengths odd and even.
func TestDatagram(t *testing.T) {
	from, to := netip.MustParseAddrPort("10.78.0.1:67"), netip.MustParseAddrPort("10.78.0.58:68")
	for _, payload := range [][]byte{nil, {1}, {1, 2}, make([]byte, 301), built(nil)} {
		b := datagram(nil, payload, from, to)
		if len(b) != headers+len(payload) || int(binary.BigEndian.Uint16(b[2:])) != len(b) || b[9] != protoUDP || binary.BigEndian.Uint16(b[20:]) != 67 || binary.BigEndian.Uint16(b[22:]) != 68 {
			t.Errorf("%x", b[:headers])
		}
		if sum(0, b[:ipHeader]) != 0xffff || sum(uint32(sum(uint32(protoUDP+udpHeader+len(payload)), b[12:ipHeader])), b[ipHeader:]) != 0xffff {
			t.Errorf("checksums of %d bytes", len(payload))
		}
	}
}
