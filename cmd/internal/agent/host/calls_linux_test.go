package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// traced, in the environment, says that this test binary is traced.
const traced = "INGOT_TEST_TRACED"

// TestCallsOfTheSystem sees what a clock that is set and a restart ask of the kernel. A
// tracer answers in its place, and the process may do neither, so that this machine's
// clock and life are safe whatever happens. That the kernel does what it is asked is for
// a virtual machine to show.
func TestCallsOfTheSystem(t *testing.T) {
	if os.Getenv(traced) == "1" {
		h := machine(nil)
		for _, to := range []time.Time{time.Now().Add(time.Second), time.Unix(2_000_000_000, 123_000_000), time.Now().Add(-time.Second)} {
			if err := h.SetClock(to); err != nil {
				t.Error(err)
			}
		}
		if err := h.Restart(); err != nil {
			t.Error(err)
		}
		return
	}
	for name, debian := range map[string]string{"strace": "strace", "setpriv": "util-linux"} {
		if _, err := exec.LookPath(name); err != nil {
			missing(t, name+" is missing: apt-get install "+debian)
		}
	}
	if os.Getuid() != 0 {
		missing(t, "only root can lose a capability: run the test as root")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command("setpriv", "--bounding-set=-sys_time,-sys_boot", "strace", "-f", "-qq", "-e", "signal=none", "-o", log, "-e", "trace=clock_settime,settimeofday,adjtimex,sync,reboot",
		"-e", "inject=clock_settime,reboot:retval=0", self, "-test.run=^TestCallsOfTheSystem$", "-test.v")
	cmd.Env = append(os.Environ(), traced+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	// A thread that ends as the process does may be a line without a call.
	calls := regexp.MustCompile(`(?m)^\d+ +(\?\?\?\( <detached \.\.\.>\n)?`).ReplaceAllString(string(raw), "")
	want := regexp.MustCompile(`^clock_settime\(CLOCK_REALTIME, \{tv_sec=2000000000, tv_nsec=123000000\}\) += 0 \(INJECTED\)\nsync\(\) += 0\nreboot\(LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_RESTART.*\) += 0 \(INJECTED\)\n$`)
	if !want.MatchString(calls) {
		t.Errorf("the kernel is asked:\n%s", calls)
	}
}
