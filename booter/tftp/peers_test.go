package tftp_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/booter/tftp"
)

// memory is a file in memory.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

// shelf serves files from memory.
type shelf map[string][]byte

func (s shelf) Open(_ context.Context, r tftp.Request) (tftp.File, error) {
	if b, ok := s[r.Name]; ok {
		return memory{bytes.NewReader(b)}, nil
	}
	return nil, fs.ErrNotExist
}

// A ledger collects what Done was told.
type ledger chan tftp.Transfer

func newLedger() ledger { return make(ledger, 1000) }

func (l ledger) add(t tftp.Transfer) { l <- t }

// wait returns the next n transfers that ended.
func (l ledger) wait(t *testing.T, n int) []tftp.Transfer {
	t.Helper()
	all := make([]tftp.Transfer, 0, n)
	for len(all) < n {
		select {
		case d := <-l:
			all = append(all, d)
		case <-time.After(20 * time.Second):
			t.Fatalf("%d of %d transfers ended", len(all), n)
		}
	}
	return all
}

// serve runs s on a port of loopback's until the test ends.
func serve(t *testing.T, s *tftp.Server, address string) *net.UDPAddr {
	t.Helper()
	c, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		c.Close()
	})
	return c.LocalAddr().(*net.UDPAddr)
}

// pattern is n bytes in which no block is like another.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16*7)
	}
	return b
}

// program skips the test, or fails it where every test must run.
func program(t *testing.T, name, debian string) string {
	t.Helper()
	p, err := exec.LookPath(name)
	switch {
	case err == nil:
		return p
	case os.Getenv("INGOT_TEST_ALL") == "1":
		t.Fatalf("%s is missing: install the Debian package %s", name, debian)
	}
	t.Skipf("%s is missing: install the Debian package %s", name, debian)
	return ""
}

// peer is a client of others: its arguments to fetch a name into a file.
type peer struct {
	name, program, debian string
	args                  func(port, name, out string) []string
	block, window         int  // that it comes to
	least                 int  // bytes of the smallest file it can fetch
	patient               bool // it asks for a timeout of many seconds
}

func peers() []peer {
	return []peer{
		{"curl", "curl", "curl", func(port, name, out string) []string {
			return []string{"-sS", "-m", "20", "-o", out, "tftp://127.0.0.1:" + port + "/" + name}
		}, 512, 1, 1, true}, // it takes a tsize of 0 for an error
		{"curl with blocks", "curl", "curl", func(port, name, out string) []string {
			return []string{"-sS", "-m", "20", "--tftp-blksize", "1400", "-o", out, "tftp://127.0.0.1:" + port + "/" + name}
		}, 1400, 1, 1, true},
		{"curl without options", "curl", "curl", func(port, name, out string) []string {
			return []string{"-sS", "-m", "20", "--tftp-no-options", "-o", out, "tftp://127.0.0.1:" + port + "/" + name}
		}, 512, 1, 0, false},
		{"busybox", "busybox", "busybox", func(port, name, out string) []string {
			return []string{"tftp", "-g", "-b", "1468", "-r", name, "-l", out, "127.0.0.1", port}
		}, 1468, 1, 0, false},
		{"tftp-hpa", "tftp", "tftp-hpa", func(port, name, out string) []string {
			return []string{"-m", "binary", "127.0.0.1", port, "-c", "get", name, out}
		}, 512, 1, 0, false},
		{"atftp", "atftp", "atftp", func(port, name, out string) []string {
			return []string{"--option", "blksize 9000", "--option", "windowsize 16", "--option", "timeout 2", "--option", "tsize 0",
				"--get", "--remote-file", name, "--local-file", out, "127.0.0.1", port}
		}, 1468, 16, 0, false},
	}
}

// Every client at hand gets every size right: none, part of a block, whole
// blocks, many.
func TestPeers(t *testing.T) {
	sizes := []int{0, 1, 511, 512, 513, 1468, 3 * 1468 * 16, 1 << 20}
	files := shelf{}
	for _, n := range sizes {
		files["f"+strconv.Itoa(n)] = pattern(n)
	}
	for _, p := range peers() {
		t.Run(p.name, func(t *testing.T) {
			path := program(t, p.program, p.debian)
			done := newLedger()
			at := serve(t, &tftp.Server{Open: files.Open, Done: done.add}, "127.0.0.1:0")
			for _, n := range sizes {
				if n < p.least {
					continue
				}
				name := "f" + strconv.Itoa(n)
				if got := p.fetch(t, path, at.Port, name); !bytes.Equal(got, files[name]) {
					t.Fatalf("%s: got %d bytes", name, len(got))
				}
			}
			if all := done.wait(t, 1); all[0].Outcome != tftp.Complete || all[0].Block != p.block || all[0].Window != p.window {
				t.Errorf("a transfer went by %+v", all[0])
			}
		})
	}
}

// fetch runs the client and returns what it wrote.
func (p peer) fetch(t *testing.T, path string, port int, name string) []byte {
	out := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if said, err := exec.CommandContext(ctx, path, p.args(strconv.Itoa(port), name, out)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, said)
	}
	got, err := os.ReadFile(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // some write no file for no bytes
		t.Fatal(err)
	}
	return got
}
