package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mdlayher/packet"

	"github.com/ingotmetal/ingot/cmd/internal/agent"
)

// process is this process's world.
func process(out io.Writer) World {
	return World{Out: out, Now: time.Now, Entropy: rand.Reader, Listen: net.Listen, Dial: net.Dial,
		DialFrom: func(ctx context.Context, from netip.Addr, network, address string) (net.Conn, error) {
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}, Timeout: 10 * time.Second}).DialContext(ctx, network, address)
		},
		Packet: func(ctx context.Context, network, address string) (net.PacketConn, error) {
			return (&net.ListenConfig{}).ListenPacket(ctx, network, address)
		}}
}

// folder is short, since sockets are in it, and in memory where that can be: these
// tests are not about the disk of this host, and many of them sync it at once.
func folder(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "demo")
	if err != nil {
		dir, err = os.MkdirTemp("/tmp", "demo")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "d")
}

// Every demo ends well, whatever goes wrong in it, and its timeline has each step of
// each machine's life, in order.
func TestDemosEndWell(t *testing.T) {
	var all sync.WaitGroup
	defer all.Wait()
	room := make(chan struct{}, 5) // they wait for most of their time
	for _, f := range Faults() {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			t.Run(string(f), func(t *testing.T) { endsWell(t, f) })
		})
	}
}

func endsWell(t *testing.T, f Fault) {
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := Run(ctx, process(&out), Options{Machines: 3, JSON: true, Keep: folder(t), Fault: f}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	lives := map[string][]string{}
	for line := range strings.Lines(out.String()) {
		var m moment
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lives[m.Who] = append(lives[m.Who], m.What)
	}
	for _, who := range []string{"m001", "m002", "m003"} {
		if want := []string{"booted", "loaded", "announced", "approve", "sentinel", "reboot", "booted", "loaded", "approved", "disabled", "reset", "deleted"}; !within(lives[who], want) {
			t.Errorf("%s lived %v", who, lives[who])
		}
	}
}

// within reports whether want is a part of got, in its order.
func within(got, want []string) bool {
	for _, g := range got {
		if len(want) > 0 && g == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func TestOptionsThatCannotBeMeant(t *testing.T) {
	for _, o := range []Options{{Machines: 0}, {Machines: MaxMachines + 1}, {Machines: 1, Fault: "fire"}} {
		if err := Run(t.Context(), process(io.Discard), o); !errors.As(err, new(*Invalid)) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// What goes over the network of a demo holds no key of a booter, no key of a machine,
// no ticket key, and not the site's master secret; a kernel's name, it does.
func TestNothingSecretOnTheWire(t *testing.T) {
	capture := listen(t)
	dir := folder(t)
	if err := Run(t.Context(), process(io.Discard), Options{Machines: 2, Keep: dir}); err != nil {
		t.Fatal(err)
	}
	wire := capture()
	for _, plain := range []string{"#!ipxe", "PXEClient", "vmlinuz"} {
		if !bytes.Contains(wire, []byte(plain)) {
			t.Errorf("%q was not seen: this capture sees nothing", plain)
		}
	}
	secrets := map[string][]byte{}
	for _, name := range []string{"booter-1-booter.key", "booter-1-ur_enroll.key", "ingotd/site.key", "booter-1/token.key", rootFile} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		secrets[name] = bytes.TrimSpace(raw)
	}
	for _, name := range []string{"m001", "m002"} {
		for what, s := range keptBy(t, filepath.Join(dir, "disks", name)) {
			secrets[name+" "+what] = s
		}
	}
	for name, s := range secrets {
		if len(s) < 16 || bytes.Contains(wire, s) {
			t.Errorf("%s was seen", name)
		}
	}
}

// keptBy are the secrets that an agent keeps on its disk.
func keptBy(t *testing.T, path string) map[string][]byte {
	raw := make([]byte, agent.KeepSize)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]byte{}
	for _, at := range []int64{agent.KeepFirst, agent.KeepSecond} {
		if _, err := f.ReadAt(raw, at); err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.FieldsFunc(string(raw), func(r rune) bool { return r == '"' }) {
			if strings.HasPrefix(word, "ik_") || strings.HasPrefix(word, "tk_") || strings.HasPrefix(word, "ingot_") {
				out[word[:8]] = []byte(word)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s keeps no key: %q", path, bytes.Trim(raw, "\x00"))
	}
	return out
}

// listen captures all that goes over loopback until the function is called.
func listen(t *testing.T) func() []byte {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	const all = 3 // ETH_P_ALL
	c, err := packet.Listen(lo, packet.Raw, all, nil)
	if err != nil {
		if os.Getenv("INGOT_TEST_ALL") != "" {
			t.Fatalf("capturing needs root or CAP_NET_RAW: %v", err)
		}
		t.Skip("capturing needs root or CAP_NET_RAW")
	}
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUFFORCE, 64<<20)
	})
	var wire []byte
	var done sync.WaitGroup
	done.Go(func() {
		for buf := make([]byte, 1<<17); ; {
			n, _, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			wire = append(wire, buf[:n]...)
		}
	})
	return func() []byte {
		time.Sleep(100 * time.Millisecond) // what is in the kernel's buffer
		_ = c.Close()
		done.Wait()
		return wire
	}
}
