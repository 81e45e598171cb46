package firmware

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pause"
	"github.com/ingotmetal/ingot/disklayout"
)

// The retries of firmware, which never gives up before its operator does.
const (
	firstAsk = 50 * time.Millisecond
	lastAsk  = 2 * time.Second
)

// lease is an address and a file to go on with.
type lease struct {
	address netip.Addr
	file    string
}

// The stages as a client shows them.
var (
	firmwareClass = [][]byte{option(60, "PXEClient:Arch:00007:UNDI:003000"), option(93, "\x00\x07"), option(94, "\x01\x03\x00")}
	ipxeClass     = [][]byte{option(60, "PXEClient:Arch:00007:UNDI:003000"), option(77, "iPXE"), option(93, "\x00\x07"), option(94, "\x01\x03\x00")}
)

func option(code byte, v string) []byte { return append([]byte{code, byte(len(v))}, v...) }

// lease asks until it is answered: DISCOVER and OFFER, REQUEST and ACK.
func (f *Firmware) lease(ctx context.Context, conn net.PacketConn, class [][]byte) (lease, error) {
	for wait := firstAsk; ; wait = min(2*wait, lastAsk) {
		offer, err := f.ask(ctx, conn, wait, 1, class)
		if err != nil {
			return lease{}, err
		}
		if offer == nil {
			continue
		}
		id, address := find(offer, 54), offer[16:20]
		ack, err := f.ask(ctx, conn, wait, 3, append(class[:len(class):len(class)], option(54, string(id)), option(50, string(address))))
		if err != nil {
			return lease{}, err
		}
		if ack == nil || find(ack, 53)[0] != 5 {
			continue
		}
		file := find(ack, 67)
		return lease{netip.AddrFrom4([4]byte(address)), strings.TrimRight(string(file), "\x00")}, nil
	}
}

// ask sends one message and waits so long for its reply, nil where there is none.
func (f *Firmware) ask(ctx context.Context, conn net.PacketConn, wait time.Duration, kind byte, options [][]byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if _, err := conn.WriteTo(f.message(kind, options), net.UDPAddrFromAddrPort(f.DHCP)); err != nil && ctx.Err() == nil {
		pause.For(ctx, wait) // nobody is there, for the moment
		return nil, nil
	}
	_ = conn.SetReadDeadline(f.Now().Add(wait))
	for buf := make([]byte, 1500); ; {
		n, _, err := conn.ReadFrom(buf)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, nil
		case n > 244 && binary.BigEndian.Uint32(buf[4:]) == f.xid: // else it answers an earlier one
			return buf[:n], nil
		}
	}
}

// message is a DHCP message that came by this machine as its own relay: with where it
// stands (82/5) and that the reply goes to the port it came from (82/19).
func (f *Firmware) message(kind byte, options [][]byte) []byte {
	b := make([]byte, 240, 512)
	b[0], b[1], b[2], b[3] = 1, 1, 6, 1
	f.xid++
	binary.BigEndian.PutUint32(b[4:], f.xid)
	relay, net := f.Relay.As4(), f.Link.As4()
	copy(b[24:], relay[:])
	copy(b[28:], f.MAC[:])
	copy(b[236:], []byte{99, 130, 83, 99})
	b = append(b, 53, 1, kind)
	for _, o := range options {
		b = append(b, o...)
	}
	b = append(append(b, 97, 17, 0), f.UUID[:]...)
	b = append(append(b, 82, 8, 5, 4), net[:]...)
	return append(b, 19, 0, 255)
}

// find is an option of a reply.
func find(reply []byte, code byte) []byte {
	for b := reply[240:]; len(b) > 1 && b[0] != 255; {
		switch {
		case b[0] == 0:
			b = b[1:]
			continue
		case len(b) < 2+int(b[1]):
			return nil
		case b[0] == code:
			return b[2 : 2+int(b[1])]
		}
		b = b[2+int(b[1]):]
	}
	return []byte{0}
}

// UUID is a UUID as firmware sends it in option 97: the first three parts in little
// endian. One that cannot be read is all zeros.
func UUID(text string) [16]byte {
	var u disklayout.UUID
	_ = u.UnmarshalText([]byte(text))
	return [16]byte{u[3], u[2], u[1], u[0], u[5], u[4], u[7], u[6], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]}
}
