package tftp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	maxSegments = 64    // of one call (udp(7), UDP_SEGMENT)
	maxDatagram = 65507 // bytes of one call: IPv4's largest payload of UDP
)

// writeSegments hands the kernel many packets at once and lets it cut them
// (UDP_SEGMENT, Linux 4.18). It fails where a packet is larger than the
// route's MTU, which a plain send would fragment.
func writeSegments(c *net.UDPConn, b []byte, size int, to netip.AddrPort) error {
	const data = 2
	control := make([]byte, unix.CmsgSpace(data))
	head := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	head.Level, head.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
	head.SetLen(unix.CmsgLen(data))
	binary.NativeEndian.PutUint16(control[unix.CmsgLen(0):], uint16(size))
	chunk := min(maxSegments, maxDatagram/size) * size
	for len(b) > 0 {
		n := min(chunk, len(b))
		if _, _, err := c.WriteMsgUDPAddrPort(b[:n], control, to); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
