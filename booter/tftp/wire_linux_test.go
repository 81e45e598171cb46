package tftp

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// Where the kernel cannot cut packets, they go out one by one.
func TestWriteAllWithoutTheKernel(t *testing.T) {
	from, at := pair(t)
	raw, err := from.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) { // no checksums, no segments
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_NO_CHECK, 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(from)
	if err := w.writeAll(content(10*516), 516, plain(at.LocalAddr().(*net.UDPAddr).AddrPort())); err != nil || !w.single {
		t.Errorf("%v, one by one: %t", err, w.single)
	}
	if n := len(arrived(t, at, 10*516)); n != 10 {
		t.Errorf("%d packets", n)
	}
}

// A broadcast does not pass for one of our addresses.
func TestBroadcastShows(t *testing.T) {
	door, err := net.ListenUDP("udp4", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	if err := askLocal(door); err != nil {
		t.Fatal(err)
	}
	client, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	to := net.UDPAddr{IP: net.IPv4(127, 255, 255, 255), Port: door.LocalAddr().(*net.UDPAddr).Port}
	if _, err := client.WriteTo([]byte("x"), &to); err != nil {
		t.Skipf("no broadcast here: %v", err)
	}
	if _, _, local, err := pktinfoDoor(door).read(make([]byte, 10)); err != nil || !group(local) {
		t.Errorf("sent to %s, %v", local, err)
	}
}
