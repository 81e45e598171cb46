package whole

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestReplaceAndNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	broken := errors.New("broken")
	half := func(f *os.File) error {
		_, err := f.WriteString("half")
		return errors.Join(err, broken)
	}
	for _, c := range []struct {
		name string
		make func() error
		want error
		has  string
	}{
		{"new, broken off", func() error { return New(path, half) }, broken, ""},
		{"replace, broken off, of nothing", func() error { return Replace(path, half) }, broken, ""},
		{"new", func() error { return New(path, Bytes([]byte("one"))) }, nil, "one"},
		{"new again", func() error { return New(path, Bytes([]byte("two"))) }, fs.ErrExist, "one"},
		{"replace, broken off", func() error { return Replace(path, half) }, broken, "one"},
		{"replace", func() error { return Replace(path, Bytes([]byte("three"))) }, nil, "three"},
		{"in no folder", func() error { return Replace(filepath.Join(path, "g"), Bytes(nil)) }, syscall.ENOTDIR, "three"},
	} {
		if err := c.make(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		got, _ := os.ReadFile(path)
		all, _ := os.ReadDir(dir)
		if string(got) != c.has || len(all) != len(c.has[:min(1, len(c.has))]) {
			t.Errorf("%s: the file has %q, the folder %v", c.name, got, all)
		}
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}
