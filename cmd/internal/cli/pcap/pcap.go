// Package pcap reads UDP datagrams from captures in the classic format of libpcap, of
// either byte order, with times in microseconds or nanoseconds, from Ethernet (with
// VLAN tags) and from Linux's "any" device (cooked, version 1 and 2). It holds nothing
// but what it is given.
package pcap

import (
	"encoding/binary"
	"fmt"
	"iter"
	"net/netip"
	"time"
)

// MaxRecord bounds the bytes of one packet, as libpcap does.
const MaxRecord = 256 << 10

// A Datagram is a UDP datagram of a capture.
type Datagram struct {
	Number  int // of the packet in the capture, from 1
	Time    time.Time
	Source  netip.AddrPort
	Dest    netip.AddrPort
	Payload []byte // part of what Read was given
	Cut     bool   // the capture has only the beginning
}

// An Unsupported reports a capture of a kind that is not read here.
type Unsupported struct{ What, Next string }

// Error says what it is, and what to do.
func (e *Unsupported) Error() string { return e.What + "; " + e.Next }

// Code is the error's wire name (API-3).
func (*Unsupported) Code() string { return "UNSUPPORTED" }

// A Damaged reports a capture that breaks off, or is none.
type Damaged struct {
	Offset int // in bytes
	What   string
}

// Error says where.
func (e *Damaged) Error() string {
	return fmt.Sprintf("the capture is damaged at byte %d: %s", e.Offset, e.What)
}

// Code is the error's wire name (API-3).
func (*Damaged) Code() string { return "INVALID_INPUT" }

// The first four bytes of a capture.
var (
	magicMicros = [4]byte{0xa1, 0xb2, 0xc3, 0xd4}
	magicNanos  = [4]byte{0xa1, 0xb2, 0x3c, 0x4d}
	magicNG     = [4]byte{0x0a, 0x0d, 0x0d, 0x0a}
)

// Sizes of the format, in bytes.
const (
	fileHeader   = 24
	recordHeader = 16
)

// Is reports whether raw begins as a capture does, of a kind that Read knows or not.
func Is(raw []byte) bool {
	if len(raw) < 4 {
		return false
	}
	m := [4]byte(raw)
	_, _, ok := order(m)
	return ok || m == magicNG
}

// order is the byte order of a capture, and the unit of its times.
func order(m [4]byte) (binary.ByteOrder, time.Duration, bool) {
	swapped := [4]byte{m[3], m[2], m[1], m[0]}
	switch {
	case m == magicMicros:
		return binary.BigEndian, time.Microsecond, true
	case m == magicNanos:
		return binary.BigEndian, time.Nanosecond, true
	case swapped == magicMicros:
		return binary.LittleEndian, time.Microsecond, true
	case swapped == magicNanos:
		return binary.LittleEndian, time.Nanosecond, true
	}
	return nil, 0, false
}

// A capture is one in reading.
type capture struct {
	raw   []byte
	order binary.ByteOrder
	unit  time.Duration
	link  linkType
}

// Read yields the UDP datagrams of a capture in their order. What is no UDP, and
// fragments of IP, are passed over. An error, *Unsupported or *Damaged, is the last.
func Read(raw []byte) iter.Seq2[Datagram, error] {
	return func(yield func(Datagram, error) bool) {
		c, err := open(raw)
		if err != nil {
			yield(Datagram{}, err)
			return
		}
		c.each(yield)
	}
}

func open(raw []byte) (*capture, error) {
	if len(raw) >= 4 && [4]byte(raw) == magicNG {
		return nil, &Unsupported{"this is a capture in the format pcapng", "convert it: editcap -F pcap IN OUT, or capture with tcpdump -w"}
	}
	if len(raw) < fileHeader {
		return nil, &Damaged{0, "it has no whole header"}
	}
	o, unit, ok := order([4]byte(raw))
	if !ok {
		return nil, &Damaged{0, "it does not begin as a capture of libpcap does"}
	}
	if major := o.Uint16(raw[4:]); major != 2 {
		return nil, &Unsupported{fmt.Sprintf("this is a capture of version %d", major), "version 2 is read"}
	}
	link, ok := links()[o.Uint32(raw[20:])&0x0fffffff] // the rest tells of checksums
	if !ok {
		return nil, &Unsupported{fmt.Sprintf("this is a capture of link type %d", o.Uint32(raw[20:])&0x0fffffff), "capture on an Ethernet interface, or on any"}
	}
	return &capture{raw, o, unit, link}, nil
}

func (c *capture) each(yield func(Datagram, error) bool) {
	n := 0
	for at := fileHeader; at < len(c.raw); n++ {
		if len(c.raw)-at < recordHeader {
			yield(Datagram{}, &Damaged{at, "it breaks off in the header of a packet"})
			return
		}
		h := c.raw[at:]
		size := uint64(c.order.Uint32(h[8:]))
		if size > MaxRecord {
			yield(Datagram{}, &Damaged{at, fmt.Sprintf("a packet of %d bytes, of at most %d", size, MaxRecord)})
			return
		}
		if uint64(len(h)-recordHeader) < size {
			yield(Datagram{}, &Damaged{at, "it breaks off in a packet"})
			return
		}
		d, ok := c.link.datagram(h[recordHeader : recordHeader+size])
		d.Number, d.Time = n+1, time.Unix(int64(c.order.Uint32(h)), int64(c.order.Uint32(h[4:]))*int64(c.unit)).UTC()
		if ok && !yield(d, nil) {
			return
		}
		at += recordHeader + int(size)
	}
}
