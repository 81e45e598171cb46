package crashtest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

// roleVar names what this binary does instead of testing, in a child of a test.
const roleVar = "INGOT_CRASH_ROLE"

func TestMain(m *testing.M) {
	roles := map[string]func() error{"work": work, "serve": serve}
	role, child := os.LookupEnv(roleVar)
	if !child {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // strace counts calls by thread
	if err := roles[role](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// lacking skips a test, or fails it where every test has to run.
func lacking(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("INGOT_TEST_ALL") == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// full reports whether all of the campaign is to run.
func full() bool { return os.Getenv("INGOT_CRASH") == "full" }

// either is n in an ordinary run, and all in a full one.
func either(n, all int) int {
	if full() {
		return all
	}
	return n
}

// seed is where the draws of a test begin.
func seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv("INGOT_CRASH_SEED")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("INGOT_CRASH_SEED is %q, want a number", text)
	}
	return n
}

// strace finds strace, and proves that it may trace.
func strace(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		lacking(t, "strace is not here: install the package strace")
	}
	if out, err := exec.Command(path, "-f", "-o", os.DevNull, "-e", "trace=write", "-e", "inject=write:error=EIO:when=1000", "true").CombinedOutput(); err != nil {
		lacking(t, fmt.Sprintf("strace may not trace here (%v: %s): allow ptrace, as by docker run --cap-add SYS_PTRACE", err, out))
	}
	return path
}
