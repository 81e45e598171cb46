package secrets_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// same reports whether two masters derive the same keys.
func same(a, b secrets.Master) bool {
	return a.Key(secrets.Cursors).MAC(nil) == b.Key(secrets.Cursors).MAC(nil)
}

func write(t testing.TB, path string, content []byte, mode os.FileMode) {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestCreateAndLoad(t *testing.T) {
	old := syscall.Umask(0) // the mode must not rest on it
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "master")
	made, err := secrets.Create(path, &steps{1})
	if err != nil {
		t.Fatal(err)
	}
	read, err := secrets.Load(path)
	if err != nil || !same(made, read) {
		t.Errorf("%v, %v", read, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 || info.Size() != secrets.Size {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	raw, err := os.ReadFile(path)
	want := make([]byte, secrets.Size)
	_, _ = io.ReadFull(&steps{1}, want)
	if err != nil || !bytes.Equal(raw, want) {
		t.Errorf("holds %x, %v", raw, err)
	}
	nothingBeside(t, path)
}

// nothingBeside wants nothing beside path in its folder.
func nothingBeside(t *testing.T, path string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	hidden, err2 := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err := errors.Join(err, err2); err != nil || len(names) > 1 || len(hidden) != 0 {
		t.Errorf("left behind: %v %v, %v", names, hidden, err)
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	dir := t.TempDir()
	for name, prepare := range map[string]func(string) error{
		"file":    func(p string) error { return os.WriteFile(p, []byte("old"), 0o644) },
		"empty":   func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"folder":  func(p string) error { return os.Mkdir(p, 0o700) },
		"nowhere": func(p string) error { return os.Symlink("nowhere-at-all", p) },
	} {
		path := filepath.Join(dir, name)
		if err := prepare(path); err != nil {
			t.Fatal(err)
		}
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := secrets.Create(path, rand.Reader)
		wants(t, name, err, "CONFLICT", "stays as it is")
		after, err := os.Lstat(path)
		if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() || !m.IsZero() {
			t.Errorf("%s: changed: %v, %v", name, after, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere-at-all")); err == nil {
		t.Error("was written through a symbolic link")
	}
}

func TestCreateRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master")
	for name, c := range map[string]struct {
		path    string
		entropy io.Reader
		why     string
	}{
		"zeros":     {path, bytes.NewReader(make([]byte, 64)), "no cryptographic source"},
		"short":     {path, strings.NewReader("short"), "no entropy"},
		"no folder": {filepath.Join(path, "below"), &steps{1}, "cannot be made"},
	} {
		m, err := secrets.Create(c.path, c.entropy)
		wants(t, name, err, "INVALID_CONFIG", c.why)
		if _, err := os.Lstat(c.path); err == nil || !m.IsZero() {
			t.Errorf("%s: made all the same", name)
		}
	}
	nothingBeside(t, path)
}

func TestOfManyCreatorsOneWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master")
	made := make(chan secrets.Master, 8)
	var all sync.WaitGroup
	for range cap(made) {
		all.Go(func() {
			m, err := secrets.Create(path, rand.Reader)
			if err == nil {
				made <- m
			} else if bad, ok := errors.AsType[*secrets.BadFile](err); !ok || bad.Code() != "CONFLICT" {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(made)
	m, err := secrets.Load(path)
	if first := <-made; err != nil || !same(first, m) || len(made) != 0 {
		t.Errorf("%d more winners; %v", len(made), err)
	}
	nothingBeside(t, path)
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	good := bytes.Repeat([]byte{0x6b}, secrets.Size)
	file := func(name string, content []byte, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		write(t, path, content, mode)
		return path
	}
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	target := file("target", good, 0o600)
	if err := errors.Join(os.Symlink(target, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, code, why string }{
		"absent":      {filepath.Join(dir, "absent"), "NOT_FOUND", "restore it"},
		"link":        {link, "INVALID_CONFIG", "symbolic link"},
		"pipe":        {pipe, "INVALID_CONFIG", "regular file"},
		"folder":      {dir, "INVALID_CONFIG", "regular file"},
		"group reads": {file("g", good, 0o640), "INVALID_CONFIG", "mode 0640"},
		"others read": {file("o", good, 0o604), "INVALID_CONFIG", "chmod 600"},
		"runs":        {file("x", good, 0o700), "INVALID_CONFIG", "mode 0700"},
		"empty":       {file("empty", nil, 0o600), "INVALID_CONFIG", "exactly 32"},
		"short":       {file("short", good[1:], 0o600), "INVALID_CONFIG", "exactly 32"},
		"long":        {file("long", append(good, '\n'), 0o600), "INVALID_CONFIG", "exactly 32"},
		"zeros":       {file("zeros", make([]byte, secrets.Size), 0o600), "INVALID_CONFIG", "zeros"},
	} {
		m, err := secrets.Load(c.path)
		wants(t, name, err, c.code, c.why)
		if !m.IsZero() || strings.Contains(fmt.Sprintf("%v %#v", err, err), "kkkk") {
			t.Errorf("%s: loads all the same or tells: %v", name, err)
		}
	}
	for _, mode := range []os.FileMode{0o600, 0o400} {
		if _, err := secrets.Load(file("fit", good, mode)); err != nil {
			t.Errorf("%04o: %v", mode, err)
		}
	}
}

func TestLoadRefusesAnothersFile(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal("run as root")
		}
		t.Skip("needs root to give a file away")
	}
	path := filepath.Join(t.TempDir(), "master")
	write(t, path, bytes.Repeat([]byte{1}, secrets.Size), 0o600)
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	_, err := secrets.Load(path)
	wants(t, "another's", err, "INVALID_CONFIG", "another user")
}

func FuzzLoad(f *testing.F) {
	f.Add(bytes.Repeat([]byte{1}, secrets.Size))
	f.Add(make([]byte, secrets.Size))
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "master")
	f.Fuzz(func(t *testing.T, content []byte) {
		write(t, path, content, 0o600)
		m, err := secrets.Load(path)
		fit := len(content) == secrets.Size && !bytes.Equal(content, make([]byte, secrets.Size))
		if (err == nil) != fit || m.IsZero() == fit {
			t.Fatalf("%x: %v", content, err)
		}
	})
}
