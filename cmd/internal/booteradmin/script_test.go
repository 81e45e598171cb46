package booteradmin

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ingotmetal/ingot/cmd/internal/guidetest"
)

// A script has the three programs, and a folder with their files: the control plane's
// ingotd.yaml, the booter's booterd.yaml, boot programs and captures. $PORT is the
// control plane's.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	build(t, bin)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			port, dir := guidetest.FreePort(t), env.WorkDir
			env.Setenv("PORT", port)
			env.Setenv("HOME", dir)
			env.Setenv("XDG_CONFIG_HOME", dir)
			env.Setenv("PATH", filepath.Join(bin, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			stubs(t, dir)
			for _, page := range []string{plane, guide} {
				guidetest.Read(t, page, onLoopback(dir, port), "").Write(t, dir)
			}
			write(t, filepath.Join(dir, "discover.hex"), hex.EncodeToString(discover(t)))
			whole := capture(discover(t))
			write(t, filepath.Join(dir, "cut.pcap"), string(whole[:len(whole)-20]))
			write(t, filepath.Join(dir, "ng.pcap"), "\x0a\x0d\x0d\x0a"+strings.Repeat("\x00", 60))
			write(t, filepath.Join(dir, "tcp.pcap"), string(whole[:24]))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"ends": ends, "within": within, "fill": fill},
	})
}

// ends CODE PROGRAM ARGUMENTS... runs a program that must end with a code.
func ends(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("it ended with %d, want %d", code, want)
	}
}

// within 10s PROGRAM ARGUMENTS... runs a program until it succeeds.
func within(ts *testscript.TestScript, _ bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	for end := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		if err = ts.Exec(args[1], args[2:]...); err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%v never succeeded: %v", args[1:], err)
		}
	}
}

// fill FILE WORD FROM puts what a file has into the place of a word.
func fill(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), args[1], strings.TrimSpace(ts.ReadFile(args[2])))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
