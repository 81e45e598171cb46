package serve

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/serve/servetest"
)

func socket(t *testing.T) UnixSocket {
	dir, err := os.MkdirTemp("", "s") // a short path: the kernel takes 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return UnixSocket{Path: filepath.Join(dir, "run", "i.sock"), Mode: 0o620, Listen: net.Listen, Dial: net.Dial}
}

func TestSocketFile(t *testing.T) {
	u := socket(t)
	var seen fs.FileMode
	u.Listen = func(network, address string) (net.Listener, error) {
		if fi, err := os.Stat(filepath.Dir(address)); err != nil || fi.Mode().Perm() != 0o700 {
			t.Errorf("it is made where others can see it: %v, %v", fi, err)
		}
		if _, err := os.Lstat(u.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is there before its mode is: %v", err)
		}
		return net.Listen(network, address)
	}
	l, err := u.Open()
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(u.Path); err == nil {
		seen = fi.Mode()
	}
	if seen.Perm() != 0o620 || seen.Type() != fs.ModeSocket {
		t.Errorf("mode %s", seen)
	}
	if left, _ := os.ReadDir(filepath.Dir(u.Path)); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}()
	c, err := net.Dial("unix", u.Path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(u.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the close: %v", err)
	}
}

func TestSocketTakesOnlyAStalePlace(t *testing.T) {
	u := socket(t)
	first, err := u.Open()
	if err != nil {
		t.Fatal(err)
	}
	second, err := u.Open()
	if e, ok := errors.AsType[*Socket](err); !ok || second != nil || !strings.Contains(e.Error(), "another process answers there") {
		t.Fatalf("%v, %v", second, err)
	}
	// The first dies without removing its file.
	if err := first.(*socketFile).Listener.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := u.Open()
	if err != nil {
		t.Fatalf("a stale socket: %v", err)
	}
	if err := first.Close(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := os.Lstat(u.Path); err != nil {
		t.Errorf("the first removed the file of the third: %v", err)
	}
	third.Close()
	if err := os.WriteFile(u.Path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Open(); err == nil || !strings.Contains(err.Error(), "is no socket; move it away") {
		t.Error(err)
	}
	if raw, _ := os.ReadFile(u.Path); string(raw) != "precious" {
		t.Errorf("%q", raw)
	}
}

func TestInherited(t *testing.T) {
	a, b := servetest.Listen("192.0.2.1:1"), servetest.ListenUnix("/s")
	tcp, unix, err := Inherited([]net.Listener{b, a, b})
	if err != nil || len(tcp) != 1 || len(unix) != 2 || tcp[0] != a {
		t.Error(tcp, unix, err)
	}
	if _, _, err := Inherited([]net.Listener{a, nil}); err == nil || !strings.Contains(err.Error(), "socket 1 of the service manager") {
		t.Error(err)
	}
}
