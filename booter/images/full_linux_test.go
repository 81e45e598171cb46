package images

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What TestFullDisk shows, on a disk that is full in earnest.
func TestFullDiskInEarnest(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatalf("a small disk is needed: %v; run this as root", err)
		}
		t.Skipf("a small disk is needed: %v; run this as root", err)
	}
	defer func() { must(t, syscall.Unmount(dir, 0)) }()
	s := opened(t, dir)
	defer s.Close()
	stage(t, s, "one", "kernel", "initrd")
	big := filepath.Join(t.TempDir(), "big")
	must(t, os.WriteFile(big, make([]byte, 1<<20), 0o600))
	m, sources := a("two", "", "initrd")
	sources["vmlinuz"], m.Files[0].Size = Source{Path: big}, 6
	_, err := s.Stage(t.Context(), m, sources, nil)
	full, ok := errors.AsType[*Full](err)
	if !ok || full.Largest != "one" || full.Need != 1<<20 {
		t.Errorf("%v", err)
	}
	if got := tree(t, dir); len(got) != 3 {
		t.Errorf("the folder has %v", got)
	}
	if got := text(t, s, "one", "vmlinuz"); got != "kernel" {
		t.Errorf("the kernel is %q", got)
	}
}
