package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Many commands at once lose nothing of the file, and nobody else may read it.
func TestContextsAreEditedWhole(t *testing.T) {
	f := newFake(t)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			if got := f.runIn(nil, "", "context", "set", fmt.Sprintf("c%d", i), "--server", "https://x"); got.code != 0 {
				t.Error(got.err)
			}
		})
	}
	wait.Wait()
	got := f.runIn(nil, "", "context", "list", "-q", ".contexts | length")
	if got.out != "20\n" {
		t.Errorf("%s contexts", got.out)
	}
	dir := filepath.Join(f.home, ".config", "ingot")
	for name, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "contexts.yaml"): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A context that gets another server loses what signed one in at the old one.
func TestAContextThatMovesLosesItsCredential(t *testing.T) {
	f := newFake(t)
	f.write(".config/ingot/contexts.yaml", "contexts: {lab: {server: 'https://x', token: t, key_file: /k, pin: p, readonly: true}}\n")
	if got := f.runIn(nil, "", "context", "set", "lab", "--server", "https://y"); got.code != 0 {
		t.Fatal(got.err)
	}
	raw, err := os.ReadFile(filepath.Join(f.home, ".config/ingot/contexts.yaml"))
	must(t, err)
	if want := "contexts:\n  lab:\n    readonly: true\n    server: https://y\ncurrent: lab\n"; string(raw) != want {
		t.Errorf("got\n%s", raw)
	}
}

// A file that has what this program does not know is not used, nor changed.
func TestUnknownContextFieldsAreRefused(t *testing.T) {
	f := newFake(t)
	name := f.write(".config/ingot/contexts.yaml", "contexts: {lab: {server: 'https://x', readonyl: true}}\n")
	for _, args := range [][]string{{"node", "list"}, {"context", "set", "lab", "--protected"}} {
		if got := f.runIn(nil, "", args...); got.code != 2 {
			t.Errorf("%q: %d", args, got.code)
		}
	}
	if raw, _ := os.ReadFile(name); len(raw) != 55 {
		t.Errorf("the file has changed: %s", raw)
	}
}
