package tftp

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// askLocal wants the kernel to say where each packet was sent to. A socket of
// IPv6 says it for IPv4 too; each family's option fails on the other's socket
// or does no harm.
func askLocal(c *net.UDPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var err4, err6 error
	err = raw.Control(func(fd uintptr) {
		err4 = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
		err6 = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	})
	if err4 == nil || err6 == nil {
		return err
	}
	return errors.Join(err, err4, err6)
}

func pktinfoDoor(c *net.UDPConn) door {
	control := make([]byte, 256)
	return door{func(b []byte) (int, netip.AddrPort, netip.Addr, error) {
		n, m, _, from, err := c.ReadMsgUDPAddrPort(b, control)
		if err != nil {
			return 0, netip.AddrPort{}, netip.Addr{}, err
		}
		return n, plain(from), sentTo(control[:m]), nil
	}}
}

// sentTo reads the address from control messages, invalid if there is none.
// A packet that was sent to a group or a broadcast address shows as sent to
// 255.255.255.255.
func sentTo(control []byte) netip.Addr {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return netip.Addr{}
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_PKTINFO && len(m.Data) >= unix.SizeofInet4Pktinfo:
			return sentTo4((*unix.Inet4Pktinfo)(unsafe.Pointer(&m.Data[0])))
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_PKTINFO && len(m.Data) >= unix.SizeofInet6Pktinfo:
			info := (*unix.Inet6Pktinfo)(unsafe.Pointer(&m.Data[0]))
			local := netip.AddrFrom16(info.Addr).Unmap()
			if local.IsLinkLocalUnicast() && local.Is6() {
				local = local.WithZone(strconv.Itoa(int(info.Ifindex)))
			}
			return local
		}
	}
	return netip.Addr{}
}

// sentTo4 compares the address in the packet's head with the local one that
// the kernel would answer from (ip(7)). That is zero for a packet that came
// before it was asked for.
func sentTo4(info *unix.Inet4Pktinfo) netip.Addr {
	if head := netip.AddrFrom4(info.Addr); info.Spec_dst == info.Addr || info.Spec_dst == [4]byte{} {
		return head
	}
	return broadcast
}
