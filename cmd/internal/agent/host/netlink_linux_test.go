package host_test

import (
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ingotmetal/ingot/cmd/internal/agent/host"
)

// segment, in the environment, says that this test binary is in a network namespace of
// its own.
const segment = "INGOT_TEST_SEGMENT"

// TestNetlink sets up a network with a real kernel, in a namespace that ends with the
// process that it is run in.
func TestNetlink(t *testing.T) {
	if os.Getenv(segment) == "1" {
		t.Run("network", realNetwork)
		return
	}
	if _, err := exec.LookPath("ip"); err != nil {
		missing(t, "ip is missing: apt-get install iproute2")
	}
	if os.Getuid() != 0 {
		missing(t, "network namespaces need root: run the test as root")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestNetlink$", "-test.v")
	cmd.Env = append(os.Environ(), segment+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		missing(t, "no network namespace can be made here: "+err.Error())
	case err != nil || !strings.Contains(string(out), "--- PASS: TestNetlink/network"):
		t.Errorf("%v\n%s", err, out)
	}
}

func ip(t *testing.T, words string) string {
	t.Helper()
	out, err := exec.Command("ip", strings.Fields(words)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ip %s: %v\n%s", words, err, out)
	}
	return string(out)
}

func realNetwork(t *testing.T) {
	ip(t, "link add eth0 mtu 1400 type veth peer name switch")
	ip(t, "link set eth0 address "+bootMAC)
	ip(t, "link add eth1 type veth peer name other")
	var log strings.Builder
	n := host.Network{Links: host.Links, Do: host.Set, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil)), Patience: 300 * time.Millisecond}

	err := n.Up(t.Context(), wanted)
	if e, ok := errors.AsType[*host.NoCarrier](err); !ok || e.Link != "eth0" {
		t.Errorf("without a cable: %v", err)
	}
	var cable sync.WaitGroup
	cable.Go(func() { ip(t, "link set switch up") })
	n.Patience = 20 * time.Second
	if err := n.Up(t.Context(), wanted); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	cable.Wait()
	for range 2 {
		holds(t)
		if err := n.Up(t.Context(), wanted); err != nil {
			t.Fatalf("again: %v", err)
		}
	}
	ip(t, "route replace default via 192.0.2.99")
	if err := n.Up(t.Context(), wanted); err != nil {
		t.Fatalf("with another's route: %v", err)
	}
	holds(t)
	refusedByTheKernel(t, n)
}

// holds looks at the network with another program.
func holds(t *testing.T) {
	t.Helper()
	for _, c := range []struct{ words, want string }{
		{"-o addr show dev lo", "127.0.0.1/8"}, {"-o -4 addr show dev eth0", "inet 192.0.2.7/24"}, {"-o link show dev eth0", "mtu 1400"}, {"-o link show dev eth0", ",UP"},
		{"-4 route show default", "default via 192.0.2.1 dev eth0"}, {"-4 route get 198.51.100.1", "via 192.0.2.1 dev eth0 src 192.0.2.7"}, {"-o link show dev eth1", "state DOWN"},
	} {
		if out := ip(t, c.words); !strings.Contains(out, c.want) {
			t.Errorf("ip %s has no %q: %s", c.words, c.want, out)
		}
	}
	if n := strings.Count(ip(t, "-o -4 addr show dev eth0"), "inet "); n != 1 {
		t.Errorf("eth0 has %d addresses", n)
	}
	if n := strings.Count(ip(t, "-4 route show default"), "default"); n != 1 {
		t.Errorf("there are %d default routes", n)
	}
}

func refusedByTheKernel(t *testing.T, n host.Network) {
	w := wanted
	w.Gateway = netip.MustParseAddr("224.0.0.1")
	if e, ok := errors.AsType[*host.Unset](n.Up(t.Context(), w)); !ok || !errors.Is(e, unix.EINVAL) {
		t.Errorf("a group as the gateway: %v", e)
	}
	w.Gateway = netip.MustParseAddr("203.0.113.1") // of no network that it knows
	if err := n.Up(t.Context(), w); err != nil {
		t.Errorf("a gateway on the link: %v", err)
	}
	if err := host.Set(host.Step{Link: "eth9", Index: 999}); !errors.Is(err, unix.ENODEV) {
		t.Errorf("an interface that is gone: %v", err)
	}
}
