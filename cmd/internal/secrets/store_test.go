package secrets_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// storeIn is the store of a folder.
func storeIn(dir string) *secrets.Store {
	return secrets.NewStore(filepath.Join(dir, "secrets.age"), filepath.Join(dir, "secrets.key"), rand.Reader)
}

func put(t testing.TB, s *secrets.Store, name, text string) secrets.Kept {
	t.Helper()
	k, err := s.Put(t.Context(), name, "root", password(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestStoreKeeps(t *testing.T) {
	old := syscall.Umask(0) // the modes must not rest on it
	defer syscall.Umask(old)
	dir := t.TempDir()
	s := storeIn(dir)
	if l, err := s.List(t.Context()); err != nil || len(l) != 0 {
		t.Errorf("%v, %v", l, err)
	}
	first := put(t, s, "node-1", "hunter2")
	c := gives(t, s, "secret://store/node-1", "root", "hunter2")
	if first.Ref.String() != "secret://store/node-1" || !first.Changed || first.Version != c.Version {
		t.Errorf("%+v, %+v", first, c)
	}
	if again := put(t, s, "node-1", "hunter2"); again.Changed || again.Version != first.Version {
		t.Errorf("the same pair is another version: %+v", again)
	}
	next := put(t, s, "node-1", "hunter3")
	if back := put(t, s, "node-1", "hunter2"); !next.Changed || next.Version == first.Version || back.Version == first.Version {
		t.Errorf("%+v, %+v, %+v", first, next, back)
	}
	put(t, s, "02:00:00:00:00:01", "hunter2")
	other := storeIn(dir) // another process
	gives(t, other, "secret://store/02:00:00:00:00:01", "root", "hunter2")
	l, err := other.List(t.Context())
	if err != nil || len(l) != 2 || l[0].Name != "02:00:00:00:00:01" || l[1].Pending != "" || strings.Contains(fmt.Sprintf("%+v", l), "root") {
		t.Errorf("%+v, %v", l, err)
	}
	if err := other.Delete(t.Context(), "node-1"); err != nil {
		t.Error(err)
	}
	_, err = s.Resolve(t.Context(), ref(t, "secret://store/node-1"))
	wants(t, "deleted", err, "NOT_FOUND", "no such name")
	wants(t, "deleted twice", s.Delete(t.Context(), "node-1"), "NOT_FOUND", "no name")
	for _, name := range []string{"secrets.age", "secrets.key", "secrets.age.lock"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		info, err2 := os.Stat(filepath.Join(dir, name))
		if err := errors.Join(err, err2); err != nil || info.Mode() != 0o600 || bytes.Contains(raw, []byte("hunter")) || bytes.Contains(raw, []byte("root")) {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestStoreRefuses(t *testing.T) {
	s := storeIn(t.TempDir())
	put(t, s, "a", "hunter2")
	for _, name := range []string{"", ".a", "-a", "a/b", "a b", long(129), "ä"} {
		_, err := s.Put(t.Context(), name, "root", password(t, "hunter2"))
		wants(t, name, err, "INVALID_INPUT", "name")
		_, err = s.Resolve(t.Context(), secrets.Ref{Kind: "store", Name: name})
		wants(t, name, err, "INVALID_CONFIG", "secret://store/NAME")
	}
	_, err := s.Resolve(t.Context(), ref(t, "secret://file/a"))
	wants(t, "another kind", err, "INVALID_CONFIG", "secret://store/NAME")
	_, err = s.Put(t.Context(), "a", "", password(t, "hunter2"))
	wants(t, "no user", err, "INVALID_INPUT", "username is empty")
	_, err = s.PutPending(t.Context(), "a", "root", secrets.Password{})
	wants(t, "no password", err, "INVALID_INPUT", "password is not there")
	dry := secrets.NewStore(filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "k"), iotest.ErrReader(syscall.EIO))
	if _, err := dry.Put(t.Context(), "a", "root", password(t, "hunter2")); !errors.Is(err, syscall.EIO) {
		t.Errorf("no entropy: %v", err)
	}
}

func TestStoreRefusesFiles(t *testing.T) {
	another, _ := pairs(t)
	for name, c := range map[string]struct {
		spoil     func(store, key string) error
		code, why string
	}{
		"the store is wide":   {func(s, _ string) error { return os.Chmod(s, 0o640) }, "INVALID_CONFIG", "mode 0640"},
		"the key is wide":     {func(_, k string) error { return os.Chmod(k, 0o604) }, "INVALID_CONFIG", "mode 0604"},
		"the key is gone":     {func(_, k string) error { return os.Remove(k) }, "INVALID_CONFIG", "restore it"},
		"the key is another":  {func(_, k string) error { return os.WriteFile(k, []byte(another.secret), 0o600) }, "INVALID_CONFIG", "none of these identities"},
		"the key is none":     {func(_, k string) error { return os.WriteFile(k, []byte("hunter2"), 0o600) }, "INVALID_CONFIG", "identities"},
		"the store is cut":    {func(s, _ string) error { return os.Truncate(s, 250) }, "INVALID_CONFIG", "cut or altered"},
		"the store is empty":  {func(s, _ string) error { return os.Truncate(s, 0) }, "INVALID_CONFIG", "cut or altered"},
		"the store is a link": {func(s, _ string) error { return errors.Join(os.Rename(s, s+"2"), os.Symlink(s+"2", s)) }, "INVALID_CONFIG", "symbolic link"},
		"the store is a pipe": {func(s, _ string) error { return errors.Join(os.Remove(s), syscall.Mkfifo(s, 0o600)) }, "INVALID_CONFIG", "regular file"},
	} {
		dir := t.TempDir()
		put(t, storeIn(dir), "a", "hunter2")
		if err := c.spoil(filepath.Join(dir, "secrets.age"), filepath.Join(dir, "secrets.key")); err != nil {
			t.Fatal(err)
		}
		_, err := storeIn(dir).Resolve(t.Context(), ref(t, "secret://store/a"))
		wants(t, name, err, c.code, c.why)
		file := filepath.Join(dir, "secrets.age")
		before, err := os.Lstat(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = storeIn(dir).Put(t.Context(), "b", "root", password(t, "hunter3"))
		wants(t, name+": put", err, c.code, c.why)
		if after, err := os.Lstat(file); err != nil || !os.SameFile(before, after) || before.Size() != after.Size() {
			t.Errorf("%s: was changed all the same: %v", name, err)
		}
		if strings.Contains(renderings(t, err), "hunter") {
			t.Errorf("%s: tells: %v", name, err)
		}
	}
}

func TestRotateKey(t *testing.T) {
	dir := t.TempDir()
	s, reader := storeIn(dir), storeIn(dir)
	put(t, s, "a", "hunter2")
	gives(t, reader, "secret://store/a", "root", "hunter2")
	keyFile := filepath.Join(dir, "secrets.key")
	before, err := os.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RotateKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(keyFile)
	if err != nil || bytes.Contains(after, bytes.TrimSpace(before)) || bytes.Count(after, []byte("AGE-SECRET-KEY-")) != 1 {
		t.Errorf("the old key is still there, or none is: %d bytes, %v", len(after), err)
	}
	v := gives(t, reader, "secret://store/a", "root", "hunter2").Version
	if w := gives(t, storeIn(dir), "secret://store/a", "root", "hunter2").Version; v != w {
		t.Error("a new key is a new version")
	}
	if err := os.WriteFile(keyFile, before, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = storeIn(dir).Resolve(t.Context(), ref(t, "secret://store/a"))
	wants(t, "by the old key", err, "INVALID_CONFIG", "none of these identities")
	wants(t, "nothing to rotate", storeIn(t.TempDir()).RotateKey(t.Context()), "NOT_FOUND", "is not there")
}

func TestOneProcessChangesAtATime(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			s := storeIn(dir)
			for i := range 5 {
				if _, err := s.Put(t.Context(), fmt.Sprint("n", w, ".", i), "root", password(t, "hunter2")); err != nil {
					t.Error(err)
				}
				if w == 0 {
					if err := s.RotateKey(t.Context()); err != nil {
						t.Error(err)
					}
				}
				gives(t, s, fmt.Sprint("secret://store/n", w, ".", i), "root", "hunter2")
			}
		})
	}
	all.Wait()
	if l, err := storeIn(dir).List(t.Context()); err != nil || len(l) != 20 {
		t.Errorf("%d names, %v", len(l), err)
	}
}

func TestAHeldLockIsNotWaitedForForEver(t *testing.T) {
	dir := t.TempDir()
	s := storeIn(dir)
	put(t, s, "a", "hunter2")
	held, err := os.Open(filepath.Join(dir, "secrets.age.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := s.Put(t.Context(), "b", "root", password(t, "hunter2"))
		wants(t, "held", err, "UNAVAILABLE", "10 s")
		if d := time.Since(began); d != 10*time.Second {
			t.Errorf("waited %s", d)
		}
		ctx, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		if err := s.Delete(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
	gives(t, s, "secret://store/a", "root", "hunter2") // who reads waits for nobody
}

// What root puts there, the daemon's user must be able to read.
func TestStoreBelongsToTheFoldersOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal("run as root")
		}
		t.Skip("needs root to give a file away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, 12346); err != nil {
		t.Fatal(err)
	}
	s := storeIn(dir)
	put(t, s, "a", "hunter2")
	if err := s.RotateKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secrets.age", "secrets.key", "secrets.age.lock"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if of := info.Sys().(*syscall.Stat_t); of.Uid != 12345 || of.Gid != 12346 {
			t.Errorf("%s belongs to %d:%d", name, of.Uid, of.Gid)
		}
	}
	gives(t, storeIn(dir), "secret://store/a", "root", "hunter2")
}
