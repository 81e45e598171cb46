package vmlab

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// On a disk that is full in earnest a lab is not made, says so, and leaves nothing.
func TestFullDisk(t *testing.T) {
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=256k"); err != nil {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatalf("a small disk is needed: %v; run this as root", err)
		}
		t.Skipf("a small disk is needed: %v; run this as root", err)
	}
	defer func() { must(t, syscall.Unmount(small, 0)) }()
	for name, write := range map[string]func(*Lab) error{
		"the root": func(l *Lab) error {
			return os.WriteFile(filepath.Join(l.Dir, "root.img"), make([]byte, 1<<20), 0o600)
		},
		"an image": func(l *Lab) error {
			return l.stageAll(t.Context(), []byte("bios"), make([]byte, 1<<20), made{kernel: []byte("k"), initrd: []byte("i"), enroll: []byte("e"), disk: []byte("d"), loader: []byte("l"), unsigned: []byte("u")})
		},
	} {
		l := &Lab{Options: Options{Dir: filepath.Join(small, "lab"), Images: filepath.Join(small, "lab", "images"), Out: io.Discard, Now: time.Now}}
		must(t, Folder(l.Dir))
		err := l.making(t.Context(), func(context.Context) error { return write(l) })
		if f, ok := errors.AsType[*Failed](err); !ok || !strings.Contains(f.Next, "the disk is full") || f.Step != "building what the machines boot" {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := filepath.Glob(small + "/*"); len(left) != 0 {
			t.Errorf("%s: left: %q", name, left)
		}
	}
	m := &Machine{Spec: Spec{Name: "m1"}, dir: small}
	if err := m.failed("its setup", io.ErrNoProgress); !strings.Contains(err.Error(), "the disk under "+small+" is full") || !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("%v", err)
	}
}
