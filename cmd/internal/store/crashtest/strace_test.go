package crashtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A run is one life of a worker under strace.
type run struct {
	dir          string
	clients, ops int
	trace        string   // what strace writes to; "" where nobody reads it
	calls        string   // the calls that are shown or injected
	inject       []string // as of strace -e inject=
	pad          int      // see worker.padCalls
}

// seen are the calls that change what a disk holds, or tell of it. Those of the
// second line nobody makes here: were one made, parsing would say so.
const seen = "openat,pwrite64,write,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat," +
	"pwritev,pwritev2,writev,truncate,fallocate,sync_file_range,copy_file_range,sendfile,splice,link,linkat,symlink,symlinkat,creat,syncfs"

// longest is the longest life of a worker.
const longest = 2 * time.Minute

// An outcome is how a worker ended.
type outcome struct {
	killed bool
	code   int
	out    string // what it printed
}

// live runs a worker to its end. Whatever it left running is killed with it.
func (r run) live(t testing.TB, tracer string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-f", "-y", "-xx", "-s", "10000000", "-e", "signal=none", "-o", r.trace, "-e", "trace=" + r.calls}
	if r.trace == "" {
		args = []string{"-f", "-o", os.DevNull, "-e", "trace=" + r.calls}
	}
	for _, in := range r.inject {
		args = append(args, "-e", "inject="+in)
	}
	cmd := exec.CommandContext(ctx, tracer, append(args, self)...)
	cmd.Env = append(os.Environ(), roleVar+"=work", "INGOT_CRASH_DIR="+r.dir, "GOTRACEBACK=single",
		fmt.Sprint("INGOT_CRASH_CLIENTS=", r.clients), fmt.Sprint("INGOT_CRASH_OPS=", r.ops), fmt.Sprint("INGOT_CRASH_PAD=", r.pad))
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("a worker ran for longer than %s: %s", longest, out)
	}
	code := cmd.ProcessState.ExitCode()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{killed: code == -1 || code == 137, code: code, out: string(out)}
}

// newDir is a folder for one store, in memory where that is possible: what a disk
// would do is up to the test, not to the disk.
func newDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(shm(), "ingot-crash-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// shm is a folder in memory, or "".
func shm() string {
	const dir = "/dev/shm"
	if f, err := os.CreateTemp(dir, ".ingot-*"); err == nil {
		f.Close()
		os.Remove(f.Name())
		return dir
	}
	return ""
}

// notesIn are the lines that workers noted in a folder; a last line that was cut off
// is none.
func notesIn(t testing.TB, dir string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, notesFile))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	return lines[:len(lines)-1]
}
