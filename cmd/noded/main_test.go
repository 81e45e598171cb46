package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The agent runs in an image that has nothing else: it is one static file.
func TestStatic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noded")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if len(libraries) > 0 || err != nil {
		t.Errorf("it needs %v, %v", libraries, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("it needs a loader")
		}
	}
	s, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("noded has %.1f MiB", float64(s.Size())/(1<<20)); s.Size() > 12<<20 {
		t.Errorf("noded has %d bytes, at most 12 MiB fit an image well", s.Size())
	}
	links(t)
}

// links are the packages that the agent must not bring along.
func links(t *testing.T) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{"cmd/internal/store", "cmd/internal/control", "cmd/internal/server", "cmd/daemon", "huma", "prometheus", "bbolt", "pgx"} {
		if strings.Contains(string(out), no) {
			t.Errorf("it links %s", no)
		}
	}
}
