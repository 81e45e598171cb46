package host

import (
	"encoding/binary"
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// Set takes a step, by rtnetlink(7). A step that was taken before is no error.
func Set(s Step) error { return ask(s.message()) }

// message is a step as the kernel takes it. An address or a route that is there is
// replaced.
func (s Step) message() []byte {
	const put = unix.NLM_F_CREATE | unix.NLM_F_REPLACE
	index := binary.NativeEndian.AppendUint32(nil, uint32(s.Index))
	switch {
	case s.Address.IsValid():
		ip := s.Address.Addr().AsSlice()
		body := []byte{unix.AF_INET, byte(s.Address.Bits()), 0, unix.RT_SCOPE_UNIVERSE} // ifaddrmsg
		body = append(body, index...)
		return netlink(unix.RTM_NEWADDR, put, attribute(attribute(body, unix.IFA_LOCAL, ip), unix.IFA_ADDRESS, ip))
	case s.Gateway.IsValid():
		var flags uint32
		if s.OnLink {
			flags = unix.RTNH_F_ONLINK
		}
		body := []byte{unix.AF_INET, 0, 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_BOOT, unix.RT_SCOPE_UNIVERSE, unix.RTN_UNICAST} // rtmsg
		body = binary.NativeEndian.AppendUint32(body, flags)
		return netlink(unix.RTM_NEWROUTE, put, attribute(attribute(body, unix.RTA_GATEWAY, s.Gateway.AsSlice()), unix.RTA_OIF, index))
	}
	body := append([]byte{unix.AF_UNSPEC, 0, 0, 0}, index...) // ifinfomsg
	body = binary.NativeEndian.AppendUint32(body, unix.IFF_UP)
	return netlink(unix.RTM_NEWLINK, 0, binary.NativeEndian.AppendUint32(body, unix.IFF_UP)) // which flags change
}

// netlink is a message that the kernel acknowledges.
func netlink(kind, flags uint16, body []byte) []byte {
	out := binary.NativeEndian.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(body)))
	out = binary.NativeEndian.AppendUint16(out, kind)
	out = binary.NativeEndian.AppendUint16(out, unix.NLM_F_REQUEST|unix.NLM_F_ACK|flags)
	out = append(out, 1, 1, 1, 1, 0, 0, 0, 0) // its number, and no port
	return append(out, body...)
}

// attribute appends one whose value is of whole words.
func attribute(to []byte, kind uint16, value []byte) []byte {
	to = binary.NativeEndian.AppendUint16(to, uint16(unix.SizeofRtAttr+len(value)))
	return append(binary.NativeEndian.AppendUint16(to, kind), value...)
}

// askWait bounds how long the kernel's answer is waited for, in seconds. It answers at
// once.
const askWait = 5

// ask sends a message to the kernel and returns what it says.
func ask(message []byte) error {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	if err := unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: askWait}); err != nil {
		return err
	}
	if err := unix.Sendto(s, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 8<<10)
	n, _, err := unix.Recvfrom(s, answer, 0)
	for errors.Is(err, unix.EINTR) {
		n, _, err = unix.Recvfrom(s, answer, 0)
	}
	if err != nil {
		return err
	}
	return acknowledged(answer[:n])
}

// acknowledged reads the kernel's answer.
func acknowledged(answer []byte) error {
	all, err := syscall.ParseNetlinkMessage(answer)
	if err != nil || len(all) == 0 || all[0].Header.Type != unix.NLMSG_ERROR || len(all[0].Data) < 4 {
		return errors.New("the kernel's answer is none")
	}
	if no := int32(binary.NativeEndian.Uint32(all[0].Data)); no != 0 {
		return unix.Errno(-no)
	}
	return nil
}
