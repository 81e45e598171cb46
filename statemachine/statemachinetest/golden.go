package statemachinetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// update tells Golden to write files instead of comparing them.
var update = updateFlag()

// updateFlag declares -update unless a package before this one has, and reads
// it late: flags are parsed after packages are initialised.
func updateFlag() func() bool {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "write golden files instead of comparing them")
	}
	return func() bool { return flag.Lookup("update").Value.String() == "true" }
}

// Golden compares text with the file at path and reports the first line that
// differs. With the flag -update it writes the file, and its folder, instead.
func Golden(t testing.TB, path, text string) {
	t.Helper()
	if update() {
		write(t, path, text)
		return
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v: run the test with -update to write it", err)
		return
	}
	if string(raw) != text {
		n, was, is := drift(string(raw), text)
		t.Errorf("%s has drifted at line %d: run the test with -update and review the difference\nfile: %s\nnow:  %s", path, n, was, is)
	}
}

// write fails the test at once: after -update, a file that was not written would
// be reviewed as if it had been.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// drift finds the first line in which two texts differ. The rest of the diff is
// Git's to show, after -update.
func drift(was, is string) (line int, a, b string) {
	old, now := strings.Split(was, "\n"), strings.Split(is, "\n")
	for n := range max(len(old), len(now)) {
		a, b = at(old, n), at(now, n)
		if a != b {
			return n + 1, a, b
		}
	}
	return 0, "", ""
}

// at is a line of a text, or a mark where the text has ended.
func at(lines []string, n int) string {
	if n < len(lines) {
		return lines[n]
	}
	return "(end of text)"
}
