package pcap

import (
	"encoding/binary"
	"net/netip"
)

// A linkType says where a frame has its protocol, and where what it carries begins.
type linkType struct{ protocol, payload int }

// links are the link types that are read, by libpcap's numbers: Ethernet, and Linux
// cooked captures of both versions.
func links() map[uint32]linkType {
	return map[uint32]linkType{1: {12, 14}, 113: {14, 16}, 276: {0, 20}}
}

// Types of Ethernet.
const (
	typeIPv4 = 0x0800
	typeIPv6 = 0x86dd
	typeVLAN = 0x8100
	typeQinQ = 0x88a8
)

// maxTags is how many VLAN tags a frame may have.
const maxTags = 2

func (l linkType) datagram(frame []byte) (Datagram, bool) {
	if len(frame) < l.payload {
		return Datagram{}, false
	}
	kind, rest := binary.BigEndian.Uint16(frame[l.protocol:]), frame[l.payload:]
	for tags := 0; (kind == typeVLAN || kind == typeQinQ) && tags < maxTags && len(rest) >= 4; tags++ {
		kind, rest = binary.BigEndian.Uint16(rest[2:]), rest[4:]
	}
	switch kind {
	case typeIPv4:
		return ipv4(rest)
	case typeIPv6:
		return ipv6(rest)
	}
	return Datagram{}, false
}

const protocolUDP = 17

func ipv4(b []byte) (Datagram, bool) {
	if len(b) < 20 || b[0]>>4 != 4 || b[9] != protocolUDP {
		return Datagram{}, false
	}
	header, total := int(b[0]&15)*4, int(binary.BigEndian.Uint16(b[2:]))
	if header < 20 || len(b) < header || total < header || binary.BigEndian.Uint16(b[6:])&0x3fff != 0 {
		return Datagram{}, false // the last is a fragment's
	}
	from, to := netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
	return udp(b[header:min(total, len(b))], from, to)
}

func ipv6(b []byte) (Datagram, bool) {
	if len(b) < 40 || b[0]>>4 != 6 || b[6] != protocolUDP { // none that boots puts headers between
		return Datagram{}, false
	}
	end := 40 + int(binary.BigEndian.Uint16(b[4:]))
	return udp(b[40:min(end, len(b))], netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:])))
}

func udp(b []byte, from, to netip.Addr) (Datagram, bool) {
	if len(b) < 8 {
		return Datagram{}, false
	}
	port := func(at int) uint16 { return binary.BigEndian.Uint16(b[at:]) }
	size := int(port(4))
	if size < 8 {
		return Datagram{}, false
	}
	end := min(size, len(b))
	return Datagram{Source: netip.AddrPortFrom(from, port(0)), Dest: netip.AddrPortFrom(to, port(2)), Payload: b[8:end:end], Cut: len(b) < size}, true
}
