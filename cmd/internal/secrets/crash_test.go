package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/cmd/internal/secrets"
)

// lifeVar names the folder of a child that lives the life below.
const lifeVar = "INGOT_SECRETS_LIFE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(lifeVar); dir != "" {
		if err := life(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A step is a change of the store, and what it holds after it.
type step struct {
	do        func(context.Context, *secrets.Store) error
	now, next string
}

// steps5 are a life: a first password, another one, a rotation, a new key.
func steps5() []step {
	set := func(how func(*secrets.Store, context.Context, string, string, secrets.Password) (secrets.Kept, error), text string) func(context.Context, *secrets.Store) error {
		return func(ctx context.Context, s *secrets.Store) error {
			p, err := secrets.NewPassword(text)
			if err == nil {
				_, err = how(s, ctx, "a", "root", p)
			}
			return err
		}
	}
	confirm := func(ctx context.Context, s *secrets.Store) error {
		l, err := s.List(ctx)
		if err != nil {
			return err
		}
		return s.Confirm(ctx, "a", l[0].Pending)
	}
	return []step{
		{nil, "", ""},
		{set((*secrets.Store).Put, "one"), "one", ""},
		{set((*secrets.Store).Put, "two"), "two", ""},
		{set((*secrets.Store).PutPending, "three"), "two", "three"},
		{confirm, "three", ""},
		{func(ctx context.Context, s *secrets.Store) error { return s.RotateKey(ctx) }, "three", ""},
	}
}

// life takes every step, and notes each that was acknowledged, on one thread, so
// that its calls can be counted.
func life(dir string) error {
	runtime.LockOSThread()
	s := storeIn(dir)
	for _, step := range steps5()[1:] {
		if err := step.do(context.Background(), s); err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(dir, "acked"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if _, err := f.WriteString("x"); err != nil {
			return errors.Join(err, f.Close())
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// survived fails unless the folder holds what the acknowledged steps made, or the
// next one, and takes another change.
func survived(t *testing.T, dir string) {
	t.Helper()
	notes, err := os.ReadFile(filepath.Join(dir, "acked"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	all := steps5()
	s := storeIn(dir)
	now, next, err := s.Rotation(t.Context(), ref(t, "secret://store/a"))
	if gone, ok := errors.AsType[*secrets.Unresolved](err); ok && gone.Code() == "NOT_FOUND" {
		err = nil
	}
	got := step{nil, now.Password.Show(), next.Password.Show()}
	is := func(k int) bool { return k < len(all) && got.now == all[k].now && got.next == all[k].next }
	if k := len(notes); err != nil || !is(k) && !is(k+1) {
		t.Errorf("after %d steps it holds %q, %q, %v", k, got.now, got.next, err)
	}
	put(t, s, "b", "four")
	gives(t, storeIn(dir), "secret://store/b", "root", "four")
	if err := s.RotateKey(t.Context()); err != nil {
		t.Error(err)
	}
	gives(t, storeIn(dir), "secret://store/b", "root", "four")
}

// A process that is killed in any call that writes, or whose call fails there,
// leaves the old content or the new, and never neither. An ordinary run takes some
// of the calls, one with INGOT_CRASH=full all.
func TestEveryCutLeavesOldOrNew(t *testing.T) {
	tracer, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(tracer, "-o", os.DevNull, "true").Run()
	}
	if err != nil {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal("needs strace, and the right to use it: ", err)
		}
		t.Skip("needs strace, and the right to use it: ", err)
	}
	full := os.Getenv("INGOT_CRASH") == "full"
	for _, call := range []string{"openat", "write", "fsync", "linkat", "renameat", "unlinkat"} {
		for _, fault := range []string{"signal=KILL", "error=EIO"} {
			every := map[string]int{"openat": 13, "write": 5, "fsync": 2, "unlinkat": 3}[call]
			if full || every == 0 {
				every = 1
			}
			for n := 1; n < 200; n += every {
				dir := folder(t)
				cut := lived(t, tracer, dir, fmt.Sprintf("inject=%s:%s:when=%d", call, fault, n))
				survived(t, dir)
				if t.Failed() {
					t.Fatalf("%s of %s, number %d", fault, call, n)
				}
				if !cut {
					if n == 1 {
						t.Errorf("%s was never cut", call)
					}
					break
				}
			}
		}
	}
}

// folder is a new one, in memory where that is possible: what is cut is the process,
// not the disk.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "ingot-secrets-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// lived lives a life in dir, with a fault, and reports whether it was met.
func lived(t *testing.T, tracer, dir, inject string) bool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	calls, _, _ := strings.Cut(strings.TrimPrefix(inject, "inject="), ":")
	trace := filepath.Join(folder(t), "trace")
	cmd := exec.CommandContext(t.Context(), tracer, "-f", "-o", trace, "-e", "signal=none", "-e", "trace="+calls, "-e", inject, self)
	cmd.Env = append(os.Environ(), lifeVar+"="+dir)
	ended := cmd.Run()
	raw, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	return ended != nil || strings.Contains(string(raw), "(INJECTED)")
}

// A file that is cut anywhere, or left beside, is never taken for the store.
func TestWhatACrashLeavesBesideIsNotRead(t *testing.T) {
	dir := t.TempDir()
	s := storeIn(dir)
	put(t, s, "a", "hunter2")
	raw, err := os.ReadFile(filepath.Join(dir, "secrets.age"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n <= len(raw); n += 7 {
		write(t, filepath.Join(dir, ".secrets.age.1.new"), raw[:n], 0o600)
		write(t, filepath.Join(dir, ".secrets.key.1.new"), raw[:n], 0o600)
		gives(t, storeIn(dir), "secret://store/a", "root", "hunter2")
	}
	for n := range len(raw) {
		write(t, filepath.Join(dir, "secrets.age"), raw[:n], 0o600)
		if _, err := storeIn(dir).List(t.Context()); err == nil {
			t.Fatalf("cut at %d it is read all the same", n)
		}
	}
}
