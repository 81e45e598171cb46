package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pin"
)

// machineUUID is what the test's firmware says.
const machineUUID = "6b1f2c3d-0001-4000-8000-000000000077"

// enter makes what a machine has when its kernel starts the first process: namespaces
// of its own, a network interface, firmware and a command line. $1 is the image's root,
// $2 the firmware's sysfs, $3 the command line.
const enter = `set -e
ip link add eth0 type veth peer name switch
ip link set eth0 address 52:54:00:00:00:77
ip link set switch up
ip addr add 192.0.2.1/24 dev switch
mount --bind "$1" "$1"
mkdir -p "$1/proc" "$1/sys"
mount -t proc proc "$1/proc"
mount --bind "$3" "$1/proc/cmdline"
mount --bind "$2" "$1/sys"
exec chroot "$1" /init what the kernel gives
`

// missing skips where something is missing that only root or a package brings.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// propagation is how a namespace of mounts is made here, so that nothing that is mounted
// in it is seen outside. In a chroot the root is no mount, and cannot be made private:
// there it stays as it is where nothing is shared.
func propagation() string {
	raw, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 4 && f[4] == "/" || strings.Contains(line, " shared:") {
			return "private"
		}
	}
	return "unchanged"
}

// needs asks for root and programs, by their packages.
func needs(t *testing.T, programs map[string]string) {
	t.Helper()
	if os.Getuid() != 0 {
		missing(t, "namespaces need root: run the test as root")
	}
	for name, debian := range programs {
		if _, err := exec.LookPath(name); err != nil {
			missing(t, name+" is missing: apt-get install "+debian)
		}
	}
	if out, err := exec.Command("unshare", "--net", "--mount", "--propagation", propagation(), "--pid", "--fork", "true").CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("no namespaces can be made here: %v %s", err, out))
	}
}

// TestFirstProcess runs noded as the first process of namespaces, in an image that has
// nothing else: it mounts what it needs, sets up the network, calls its booter, and
// lives on whatever signal comes.
func TestFirstProcess(t *testing.T) {
	needs(t, map[string]string{"unshare": "util-linux", "ip": "iproute2", "chroot": "coreutils"})
	root := t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(root, "init"), ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	firstLife(t, root)
}

// firstLife is the life of the first process of an image that is unpacked at root.
func firstLife(t *testing.T, root string) {
	t.Helper()
	cmdline := file(t, filepath.Join(t.TempDir(), "cmdline"), "console=ttyS0 ingot.booter=192.0.2.1:9 ingot.booter_pin="+pin.Pin{1}.String()+
		" ingot.mac=52:54:00:00:00:77 ingot.address=192.0.2.7/24 ingot.gateway=192.0.2.254 ingot.later=1\n")
	out := new(said)
	cmd := exec.Command("unshare", "--net", "--mount", "--propagation", propagation(), "--pid", "--fork", "--kill-child", "sh", "-c", enter, "enter", root, firmware(t), cmdline)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for _, want := range []string{"later", "link=lo step=up", "link=eth0 step=up", `step="address 192.0.2.7/24"`, `step="default route by 192.0.2.254"`, machineUUID, "connection refused"} {
		out.wait(t, want, 1)
	}
	tries := strings.Count(out.String(), "connection refused")
	signalAll(t, cmd.Process.Pid)
	out.wait(t, "connection refused", tries+1) // it is there still
}

// file writes one.
func file(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// firmware is a sysfs with what noded reads of it.
func firmware(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file(t, filepath.Join(dir, "class/dmi/id/product_uuid"), machineUUID+"\n")
	nic := filepath.Join(dir, "class/net/eth0")
	file(t, filepath.Join(nic, "address"), "52:54:00:00:00:77\n")
	file(t, filepath.Join(nic, "type"), "1\n")
	file(t, filepath.Join(nic, "device/vendor"), "0x1af4\n")
	if err := os.MkdirAll(filepath.Join(dir, "block"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// signalAll sends the children of a process of this test's what would end a program.
func signalAll(t *testing.T, parent int) {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	children := strings.Fields(string(raw))
	if err != nil || len(children) == 0 {
		t.Fatalf("it has no child: %v", err)
	}
	for _, child := range children {
		pid, err := strconv.Atoi(child)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTERM} {
			if err := syscall.Kill(pid, s); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// said collects what a process says.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait waits until something was said so often.
func (s *said) wait(t *testing.T, want string, times int) {
	t.Helper()
	for range 600 {
		if strings.Count(s.String(), want) >= times {
			return
		}
		time.Sleep(50 * time.Millisecond) // a real process has a real clock
	}
	t.Fatalf("it never says %q %d times:\n%s", want, times, s.String())
}
