package vmlab

import (
	"os"
	"path/filepath"
	"testing"
)

// disk makes a file of a size with bytes at some places.
func disk(t *testing.T, size int64, at map[int64]string) Drive {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := blank(path, size); err != nil {
		t.Fatal(err)
	}
	d := Drive{path, "S1", NVMe}
	for off, what := range at {
		scribble(t, d, off, what)
	}
	return d
}

func scribble(t *testing.T, d Drive, at int64, what string) {
	t.Helper()
	f, err := os.OpenFile(d.Path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(what), at); err != nil {
		t.Fatal(err)
	}
}

// A print changes with any byte, with its place and with the size, and not with holes.
func TestPrint(t *testing.T) {
	const size = 8<<20 + 512
	of := func(size int64, at map[int64]string) Print {
		p, err := PrintOf(disk(t, size, at).Path)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	base := of(size, map[int64]string{5 << 20: "x"})
	if base != of(size, map[int64]string{5 << 20: "x", 0: "\x00", 7 << 20: "\x00\x00", size - 1: "\x00"}) {
		t.Error("zeros that were written count")
	}
	for what, other := range map[string]Print{
		"nothing":            of(size, nil),
		"another byte":       of(size, map[int64]string{5 << 20: "y"}),
		"another place":      of(size, map[int64]string{5<<20 + 1: "x"}),
		"another block":      of(size, map[int64]string{6 << 20: "x"}),
		"a byte more":        of(size, map[int64]string{5 << 20: "x", 0: "x"}),
		"its last byte":      of(size, map[int64]string{5 << 20: "x", size - 1: "x"}),
		"half a block later": of(size, map[int64]string{5 << 20: "x", 5<<20 + printBlock/2: "x"}),
		"a sector less":      of(size-512, map[int64]string{5 << 20: "x"}),
	} {
		if other == base {
			t.Errorf("%s has the same print", what)
		}
	}
}

func TestUntouched(t *testing.T) {
	d := disk(t, 1<<20, nil)
	if err := untouched([]Drive{d}, func() error { return nil }); err != nil {
		t.Error(err)
	}
	if err := untouched([]Drive{d}, func() error { scribble(t, d, 77, "x"); return nil }); err == nil {
		t.Error("a byte was written, and nobody says so")
	}
	if err := untouched([]Drive{d}, func() error { return os.ErrClosed }); err != os.ErrClosed {
		t.Error(err)
	}
	if err := untouched([]Drive{{Path: d.Path + "2"}}, func() error { return nil }); err == nil {
		t.Error("a disk without a file is untouched")
	}
}
