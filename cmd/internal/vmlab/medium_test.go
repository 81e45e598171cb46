package vmlab

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ingotmetal/ingot/disklayout/apply"
)

// A medium is a disk with the program on its ESP; what is no program makes none, and a
// file that is there is left alone.
func TestStartable(t *testing.T) {
	dir := t.TempDir()
	program := pe()
	path := filepath.Join(dir, "a")
	if err := startable(t.Context(), path, program); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) != mediumSize || string(raw[512:520]) != "EFI PART" || !bytes.Contains(raw, program) {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	if err := startable(t.Context(), path, program); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	err = startable(t.Context(), filepath.Join(dir, "b"), []byte("no program"))
	if _, ok := errors.AsType[*apply.Refused](err); !ok {
		t.Errorf("no program: %v", err)
	}
}

// pe is the least that is taken for a program of UEFI on x86-64.
func pe() []byte {
	b := bytes.Repeat([]byte("ingot"), 2000)
	copy(b, "MZ")
	copy(b[0x3c:], []byte{0x40, 0, 0, 0})
	copy(b[0x40:], "PE\x00\x00\x64\x86\x00\x00") // without sections
	clear(b[0x48:0x58])
	return b
}
