package tftp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter/tftp"
	pin "github.com/pin/tftp/v3"
)

const fileName = "image"

// folder makes the file that all serve.
func folder(tb testing.TB, size int) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "ingot-tftp")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // servers drop their rights
		tb.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, fileName))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyN(f, rand.NewChaCha8([32]byte{}), int64(size)); err != nil {
		tb.Fatal(err)
	}
	return dir
}

type onDisk struct {
	*os.File
	size int64
}

func (f onDisk) Size() int64 { return f.size }

// A server starts on a folder and says where it listens. windows tells
// whether it knows windowsize.
type server struct {
	name    string
	windows bool
	start   func(tb testing.TB, dir string) netip.AddrPort
}

func servers() []server {
	return []server{{"ingot", true, ingot}, {"pin", false, pinned}, {"tftpd-hpa", false, hpa}, {"dnsmasq", false, dnsmasq}}
}

func ingot(tb testing.TB, dir string) netip.AddrPort {
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	s := &tftp.Server{Open: func(_ context.Context, r tftp.Request) (tftp.File, error) {
		f, err := root.Open(r.Name)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return onDisk{f, info.Size()}, nil
	}}
	c := listen(tb)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, c) }()
	tb.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, c.Close(), root.Close()); err != nil {
			tb.Error(err)
		}
	})
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

func listen(tb testing.TB) *net.UDPConn {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func pinned(tb testing.TB, dir string) netip.AddrPort {
	s := pin.NewServer(func(name string, to io.ReaderFrom) error {
		f, err := os.Open(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = to.ReadFrom(f)
		return err
	}, nil)
	s.SetBlockSize(blockSize) // its default is 512
	c := listen(tb)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(c) }()
	tb.Cleanup(func() {
		s.Shutdown()
		<-ended
	})
	at := c.LocalAddr().(*net.UDPAddr).AddrPort()
	if !answers(tb, at) { // its first answers may come before it knows the MTU
		tb.Fatal("pin/tftp does not answer")
	}
	return at
}

func hpa(tb testing.TB, dir string) netip.AddrPort {
	c := listen(tb)
	at := c.LocalAddr().(*net.UDPAddr).AddrPort()
	c.Close()
	return run(tb, at, "in.tftpd", "tftpd-hpa", "-L", "-a", at.String(), "-u", "nobody", "-s", dir)
}

// dnsmasq listens on port 69 alone, which only root may: it gets an address
// of loopback that nobody else has.
func dnsmasq(tb testing.TB, dir string) netip.AddrPort {
	at := netip.MustParseAddrPort("127.0.69.69:69")
	return run(tb, at, "dnsmasq", "dnsmasq-base", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--pid-file=",
		"--listen-address="+at.Addr().String(), "--bind-interfaces", "--enable-tftp", "--tftp-root="+dir, "--quiet-tftp", "--user=nobody")
}

// run starts a program, and waits until it answers.
func run(tb testing.TB, at netip.AddrPort, program, debian string, args ...string) netip.AddrPort {
	path, err := exec.LookPath(program)
	if err != nil {
		tb.Skipf("%s is missing: install the Debian package %s", program, debian)
	}
	if os.Getuid() != 0 {
		tb.Skipf("%s needs root to change its user", program)
	}
	cmd := exec.Command(path, args...)
	if err := cmd.Start(); err != nil {
		tb.Skipf("%s does not start: %v", program, err)
	}
	tb.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if !answers(tb, at) {
		tb.Skipf("%s does not answer", program)
	}
	return at
}

// answers waits until the server refuses a file that is not there.
func answers(tb testing.TB, at netip.AddrPort) bool {
	c := listen(tb)
	defer c.Close()
	for range 50 {
		c.WriteToUDPAddrPort([]byte("\x00\x01none\x00octet\x00"), at)
		c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if _, _, err := c.ReadFrom(make([]byte, 100)); err == nil {
			return true
		}
	}
	return false
}

// All give the same bytes, whatever the window is.
func TestParity(t *testing.T) {
	dir := folder(t, 8<<20+1)
	want := sha256.New()
	f, err := os.Open(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(want, f); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers() {
		t.Run(s.name, func(t *testing.T) {
			at := s.start(t, dir)
			for _, window := range []int{1, 16} {
				got := sha256.New()
				if n, err := fetch(at, fileName, window, got); err != nil || string(got.Sum(nil)) != string(want.Sum(nil)) {
					t.Errorf("window %d: %d bytes, %v", window, n, err)
				}
			}
			if _, err := fetch(at, "none", 1, sha256.New()); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file that is not there: %v", err)
			}
		})
	}
}

// One file of 64 MiB, or of 8 with -short, by windows of 1, 16 and 64 blocks where the server has
// them. Allocations are those of client and server together, which for a
// program are the client's alone.
func BenchmarkServe(b *testing.B) {
	size := 64 << 20
	if testing.Short() {
		size = 8 << 20
	}
	dir := folder(b, size)
	for _, window := range []int{1, 16, 64} {
		b.Run("window-"+strconv.Itoa(window), func(b *testing.B) {
			for _, s := range servers() {
				if window > 1 && !s.windows {
					continue
				}
				b.Run(s.name, func(b *testing.B) { serve(b, s.start(b, dir), window, size) })
			}
		})
	}
}

func serve(b *testing.B, at netip.AddrPort, window, size int) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if n, err := fetch(at, fileName, window, nothing{}); err != nil || n != int64(size) {
			b.Fatal(fmt.Errorf("%d bytes: %w", n, err))
		}
	}
}

// nothing is a hash of nothing, so that only the transfer is measured.
type nothing struct{ hash.Hash }

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
