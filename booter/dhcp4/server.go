package dhcp4

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/ingotmetal/ingot/booter"
)

// An Inbound is a packet that came. Data is good until the next Receive.
type Inbound struct {
	Data      []byte
	Source    netip.AddrPort
	Interface string // that received it, as in [booter.Link]
}

// A Conn is a socket of a Server.
type Conn interface {
	// Receive waits for packets, fills in the first of them and returns how many.
	Receive([]Inbound) (int, error)
	// Send sends a message from an address of this host.
	Send(message []byte, from netip.Addr, to booter.Destination) error
	Close() error
}

// A Server answers the packets of one socket, one after the other in one goroutine:
// what it does with one takes microseconds, and the kernel's buffer holds the next.
type Server struct {
	Conn Conn
	// BootPort says that the socket is that of port 4011.
	BootPort bool
	// Answer decides the reply, false for silence. It must not wait. The packet is
	// good until it returns; servers that share one Answer call it at once.
	Answer func(*Packet) (booter.Reply, Fields, bool)
	// Failed hears of a reply that was not sent; may be nil.
	Failed func(*Packet, error)
	Log    *slog.Logger
}

// batch is how many packets are read at once.
const batch = 32

// Serve answers until ctx ends, which closes the socket, or until the socket fails.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.Conn.Close() })
	defer stop()
	var (
		packet Packet
		reply  = make([]byte, 0, booter.LargestSize)
		in     = make([]Inbound, batch)
		pause  time.Duration
	)
	for {
		n, err := s.Conn.Receive(in)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // of one packet, such as an ICMP error, or of the interface for a while
			pause = min(max(2*pause, time.Millisecond), time.Second)
			s.Log.Warn("a packet could not be read", "error", err)
			if !wait(ctx, pause) {
				return nil
			}
			continue
		}
		pause = 0
		for _, i := range in[:n] {
			reply = s.one(&packet, i, reply)
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// one answers a packet. It returns the buffer for the next reply.
func (s *Server) one(p *Packet, in Inbound, buf []byte) []byte {
	p.Read(in.Data)
	p.BootPort, p.Source, p.Interface = s.BootPort, in.Source, in.Interface
	reply, fields, ok := s.Answer(p)
	if !ok {
		return buf
	}
	out, err := Append(buf[:0], p, &reply, &fields)
	if err == nil {
		err = s.Conn.Send(out, reply.ServerID, reply.To)
	}
	if err != nil && s.Failed != nil {
		s.Failed(p, err)
	}
	return out[:0]
}
