package images

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

// tester is what testing and rapid have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// opened is a store in dir, closed after the test.
func opened(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// a is an image of a kernel and an initrd, with the sources of both.
func a(name, kernel, initrd string) (Manifest, map[string]Source) {
	return Manifest{
			Name: name, Files: []File{{Name: "initrd"}, {Name: "vmlinuz"}},
			Boots: map[booter.Platform]Boots{Any: {Kernel: "vmlinuz", Initrds: []string{"initrd"}}},
		}, map[string]Source{
			"vmlinuz": {Reader: strings.NewReader(kernel)}, "initrd": {Reader: strings.NewReader(initrd)},
		}
}

func stage(t testing.TB, s *Store, name, kernel, initrd string) Image {
	t.Helper()
	m, sources := a(name, kernel, initrd)
	i, err := s.Stage(t.Context(), m, sources, nil)
	must(t, err)
	return i
}

// text is what a file of an image has, "" where it cannot be opened.
func text(t tester, s *Store, image, file string) string {
	t.Helper()
	b, err := s.OpenFile(image, file)
	if err != nil {
		return ""
	}
	defer b.Close()
	raw, err := io.ReadAll(b)
	must(t, err)
	return string(raw)
}

// tree lists the files below dir, but for the lock.
func tree(t tester, dir string) (out []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != lockFile {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return err
	}))
	slices.Sort(out)
	return out
}

func blobPath(dir, text string) string { return filepath.Join(dir, blobsDir, sum(text)) }
