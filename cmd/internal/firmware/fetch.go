package firmware

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// fetch reads a file by TFTP (RFC 1350, with blocks of 1,428 bytes by RFC 2348).
func (f *Firmware) fetch(ctx context.Context, l lease) ([]byte, error) {
	conn, err := f.Packet(ctx, "udp4", netip.AddrPortFrom(l.address, 0).String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ask := append(append([]byte{0, 1}, l.file...), "\x00octet\x00blksize\x001428\x00"...)
	return (&transfer{conn: conn, ctx: ctx, now: f.Now, block: 512}).read(ask, net.UDPAddrFromAddrPort(f.TFTP))
}

// A transfer is a TFTP client's end of one file.
type transfer struct {
	conn  net.PacketConn
	ctx   context.Context
	now   func() time.Time
	block int
	next  uint16
	out   []byte
}

// tries is how often a packet is sent again before the file is given up.
const tries = 20

func (t *transfer) read(ask []byte, to net.Addr) ([]byte, error) {
	last, left := ask, tries
	buf := make([]byte, 2048)
	for t.next = 1; ; {
		if _, err := t.conn.WriteTo(last, to); err != nil {
			return nil, err
		}
		_ = t.conn.SetReadDeadline(t.now().Add(time.Second))
		n, from, err := t.conn.ReadFrom(buf)
		if t.ctx.Err() != nil {
			return nil, context.Cause(t.ctx)
		}
		if err != nil || n < 4 {
			if left--; left == 0 {
				return nil, errors.New("TFTP: no answer")
			}
			continue
		}
		reply, done, err := t.take(buf[:n])
		if err != nil {
			return nil, err
		}
		last, to, left = reply, from, tries
		if done {
			_, err := t.conn.WriteTo(last, to)
			return t.out, err
		}
	}
}

// take takes a packet of the server, and returns what to answer.
func (t *transfer) take(b []byte) (reply []byte, done bool, err error) {
	switch binary.BigEndian.Uint16(b) {
	case 6: // OACK: 1428 was asked for, and only that
		t.block = 1428
		return []byte{0, 4, 0, 0}, false, nil
	case 3:
		n := binary.BigEndian.Uint16(b[2:])
		if n == t.next {
			t.out = append(t.out, b[4:]...)
			t.next++
			done = len(b)-4 < t.block
		}
		return []byte{0, 4, b[2], b[3]}, done, nil
	case 5:
		return nil, false, fmt.Errorf("TFTP: %q", b[4:])
	}
	return nil, false, errors.New("TFTP: a packet of no kind")
}
