//go:build linux

package operators

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// accepted runs dial, which must connect to the socket that it is given, and
// returns the other end.
func accepted(t *testing.T, dial func(path string)) *net.UnixConn {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{filepath.Dir(dir), dir, path} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	dial(path)
	c, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestPeerOf(t *testing.T) {
	c := accepted(t, func(path string) {
		out, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = out.Close() })
	})
	p, err := PeerOf(c)
	if want := (Peer{uint32(os.Geteuid()), uint32(os.Getegid()), int32(os.Getpid())}); err != nil || p != want {
		t.Errorf("%+v, %v, want %+v", p, err, want)
	}
	if !p.Host(uint32(os.Geteuid())) {
		t.Error("this process is not on the host")
	}
	_ = c.Close()
	_, err = PeerOf(c)
	wants(t, "closed", err, "UNAUTHENTICATED", "sign in over the API")
}

// Another user is seen as that user. One thread becomes it for good, and ends
// with its goroutine.
func TestPeerOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal("run as root")
		}
		t.Skip("needs root to be another user")
	}
	c := accepted(t, func(path string) {
		done := make(chan error)
		go func() {
			runtime.LockOSThread()
			done <- connectAs(12345, 12346, path)
		}()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
	p, err := PeerOf(c)
	if want := (Peer{12345, 12346, int32(os.Getpid())}); err != nil || p != want || p.Host(0) || !p.Host(12345) {
		t.Errorf("%+v, %v", p, err)
	}
}

// connectAs changes the user of the calling thread alone.
func connectAs(uid, gid uintptr, path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); e != 0 {
		return e
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); e != 0 {
		return e
	}
	return errors.Join(unix.Connect(fd, &unix.SockaddrUnix{Name: path}), unix.Close(fd))
}

func TestHost(t *testing.T) {
	for _, c := range []struct {
		uid, self uint32
		want      bool
	}{{0, 997, true}, {997, 997, true}, {1000, 997, false}, {0, 0, true}, {1000, 0, false}, {65534, 65534, false}, {65534, 0, false}} {
		if got := (Peer{UID: c.uid}).Host(c.self); got != c.want {
			t.Errorf("%d to %d: %v", c.uid, c.self, got)
		}
	}
}
