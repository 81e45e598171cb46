package bootscript

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write golden files instead of comparing them")

// golden compares text with the file at path, or writes the file.
func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != text {
		t.Errorf("%s has drifted (%v): run the test with -update and review the difference; now:\n%s", path, err, text)
	}
}
