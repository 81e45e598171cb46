package statemachinetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "page.md")
	golden := func(text string) []string {
		quiet := &recorder{TB: t}
		quiet.run(func() { Golden(quiet, path, text) })
		return quiet.errors
	}
	if errs := golden("one\ntwo\n"); len(errs) != 1 || !strings.Contains(errs[0], "run the test with -update") {
		t.Errorf("a missing file: %q", errs)
	}
	set(t, "update", "true")
	if errs := golden("one\ntwo\n"); len(errs) != 0 {
		t.Fatalf("update: %q", errs)
	}
	set(t, "update", "false")
	if errs := golden("one\ntwo\n"); len(errs) != 0 {
		t.Errorf("no drift: %q", errs)
	}
	for text, want := range map[string]string{
		"one\n2\n":         "at line 2: run the test with -update and review the difference\nfile: two\nnow:  2",
		"one\n":            "at line 2: run the test with -update and review the difference\nfile: two\nnow:  ",
		"one\ntwo\nthree":  "at line 3: run the test with -update and review the difference\nfile: \nnow:  three",
		"one\ntwo\n\nfour": "at line 4: run the test with -update and review the difference\nfile: (end of text)\nnow:  four",
	} {
		if errs := golden(text); len(errs) != 1 || !strings.Contains(errs[0], want) {
			t.Errorf("%q: got %q\nwant %q", text, errs, want)
		}
	}
	if raw, _ := os.ReadFile(path); string(raw) != "one\ntwo\n" {
		t.Errorf("the file has changed: %q", raw)
	}
}

func TestGoldenThatCannotBeWritten(t *testing.T) {
	set(t, "update", "true")
	quiet := &recorder{TB: t}
	quiet.run(func() { Golden(quiet, "/dev/null/page.md", "") })
	if !quiet.failed {
		t.Error("it went unnoticed")
	}
}
