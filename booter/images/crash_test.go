package images

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// crashDir names the folder in which this process stages, and dies at a step.
const crashDir, crashStep = "INGOT_IMAGES_CRASH_DIR", "INGOT_IMAGES_CRASH_STEP"

// TestDies is the process that dies.
func TestDies(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("only TestCrashes runs this")
	}
	at, err := strconv.Atoi(os.Getenv(crashStep))
	must(t, err)
	s, err := Open(dir)
	must(t, err)
	step := 0
	s.at = func(string) error {
		if step++; step > at {
			os.Exit(77)
		}
		return nil
	}
	m, sources := a("one", "kernel 2", "initrd 2")
	_, err = s.Stage(t.Context(), m, sources, nil)
	must(t, err)
}

// A crash at any step leaves the old image or the new one, and nothing else after
// the folder is opened.
func TestCrashes(t *testing.T) {
	died := 0
	for at := 0; ; at++ {
		dir := t.TempDir()
		s := opened(t, dir)
		stage(t, s, "one", "kernel", "initrd")
		stage(t, s, "two", "kernel", "initrd 2")
		cmd := exec.Command(os.Args[0], "-test.run=^TestDies$")
		cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("%s=%d", crashStep, at))
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		died++
		if cmd.ProcessState.ExitCode() != 77 {
			t.Fatalf("%v: %s", err, out)
		}
		after := opened(t, dir)
		got := text(t, after, "one", "vmlinuz") + ", " + text(t, after, "one", "initrd")
		if got != "kernel, initrd" && got != "kernel 2, initrd 2" {
			t.Errorf("step %d: the image is %s", at, got)
		}
		if found, err := after.Verify(t.Context(), "", nil); err != nil || len(found) != 4 || strings.Contains(fmt.Sprint(found), "content") {
			t.Errorf("step %d: %v, %v", at, found, err)
		}
		want := 2 + 3 // two images that share the first kernel, or the second's initrd
		if files := tree(t, dir); len(files) != want {
			t.Errorf("step %d: the folder has %v", at, files)
		}
		if got != "kernel, initrd" {
			continue
		}
		stage(t, after, "one", "kernel 2", "initrd 2")
		if got := text(t, after, "one", "vmlinuz"); got != "kernel 2" {
			t.Errorf("step %d: staged again it is %q", at, got)
		}
	}
	if died != 7 { // before each copy, each name, the sync, the manifest, and after it
		t.Errorf("it died in %d ways", died)
	}
}

// A full disk says what to free, and stages nothing.
func TestFullDisk(t *testing.T) {
	for _, at := range []string{"copy", "name", "manifest"} {
		dir := t.TempDir()
		s := opened(t, dir)
		stage(t, s, "one", "kernel", "initrd")
		stage(t, s, "two", "a larger kernel", "initrd")
		s.at = func(step string) error {
			if step == at {
				return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
			}
			return nil
		}
		m, sources := a("three", "kernel 3", "initrd 3")
		_, err := s.Stage(t.Context(), m, sources, nil)
		full, ok := errors.AsType[*Full](err)
		if !ok || full.Code() != "UNAVAILABLE" || !errors.Is(err, syscall.ENOSPC) || full.Largest != "two" || full.Frees != 21 || full.Need < 1 || full.Dir != dir {
			t.Errorf("%s: %+v, %v", at, full, err)
		}
		if got := tree(t, dir); len(got) != 5 || len(s.Staged()) != 2 {
			t.Errorf("%s: the folder has %v", at, got)
		}
	}
	empty := &Full{Dir: "d", Need: 1, Err: syscall.ENOSPC}
	if !strings.Contains(empty.Error(), "larger disk") || strings.Contains(empty.Error(), "the largest is") {
		t.Error(empty)
	}
}
