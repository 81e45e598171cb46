package host_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ingotmetal/ingot/cmd/internal/agent/host"
)

// reaper, in the environment, makes this test binary a first process.
const reaper = "INGOT_TEST_REAPER"

// TestReap runs Reap in a process of its own, since it waits for whatever child there
// is: an orphan that the kernel gives it must not stay a zombie.
func TestReap(t *testing.T) {
	if os.Getenv(reaper) == "1" {
		adopt(t)
		return
	}
	if _, err := exec.LookPath("sh"); err != nil {
		missing(t, "a shell is missing: apt-get install dash")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestReap$", "-test.v")
	cmd.Env = append(os.Environ(), reaper+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "reaped") {
		t.Errorf("%v\n%s", err, out)
	}
}

func missing(t *testing.T, what string) {
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// adopt makes this process the parent of orphans and has one.
func adopt(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { host.Reap(ctx, log) })
	// The shell's child outlives it, and ends in turn.
	attr := &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "sleep 0.2 & exit 0"}, attr)
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Release() // Reap waits for it
	until := time.Now().Add(10 * time.Second)
	for time.Now().Before(until) && children() {
		time.Sleep(50 * time.Millisecond)
	}
	cancel()
	done.Wait()
	if children() || strings.Count(out.String(), "a process ended") != 2 {
		t.Fatalf("children are left, or too few ended:\n%s", out.String())
	}
	t.Log("reaped")
}

// children reports whether this process has any.
func children() bool {
	raw, err := os.ReadFile("/proc/thread-self/children")
	if err == nil && len(bytes.TrimSpace(raw)) > 0 {
		return true
	}
	all, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return true
	}
	for _, e := range all {
		raw, _ := os.ReadFile("/proc/self/task/" + e.Name() + "/children")
		if len(bytes.TrimSpace(raw)) > 0 {
			return true
		}
	}
	return false
}
