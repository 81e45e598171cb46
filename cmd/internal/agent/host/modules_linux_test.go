package host

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

// Modules are loaded in the order of the list, and one that fails keeps no other back.
func TestLoadModules(t *testing.T) {
	root := fstest.MapFS{
		ModulesFile:          {Data: []byte("lib/modules/1/a.ko\nlib/modules/1/gone.ko\n\nlib/modules/1/b.ko\nlib/modules/1/c.ko\n")},
		"lib/modules/1/a.ko": {Data: []byte("a")}, "lib/modules/1/b.ko": {Data: []byte("b")}, "lib/modules/1/c.ko": {Data: []byte("c")},
	}
	var got []string
	var out bytes.Buffer
	broken := errors.New("this kernel takes no such thing")
	load := func(f fs.File) error {
		s, err := f.Stat()
		got = append(got, s.Name())
		if s.Name() == "b.ko" {
			return broken
		}
		return err
	}
	err := LoadModules(root, load, slog.New(slog.NewTextHandler(&out, nil)))
	if !slices.Equal(got, []string{"a.ko", "b.ko", "c.ko"}) || !errors.Is(err, broken) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", got, err)
	}
	for _, want := range []string{"lib/modules/1/gone.ko", "takes no such thing", "loaded=2 failed=2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it never says %q:\n%s", want, out.String())
		}
	}
	if err := LoadModules(fstest.MapFS{}, load, slog.New(slog.DiscardHandler)); err != nil || len(got) != 3 {
		t.Errorf("without a list: %v, %v", got, err)
	}
}

func TestInserted(t *testing.T) {
	for err, want := range map[error]error{nil: nil, unix.EEXIST: nil, unix.ENODEV: nil, unix.ENOEXEC: unix.ENOEXEC, unix.EPERM: unix.EPERM, unix.EKEYREJECTED: unix.EKEYREJECTED} {
		if got := inserted(err); got != want {
			t.Errorf("%v gives %v", err, got)
		}
	}
}

// The kernel refuses what is no module, or who may not load one.
func TestInsertIsAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.ko")
	if err := os.WriteFile(path, []byte("this is no module"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Insert(f); err == nil {
		t.Error("a text was loaded")
	}
	m, err := fstest.MapFS{"m": {}}.Open("m")
	if err != nil {
		t.Fatal(err)
	}
	if err := Insert(m); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}
