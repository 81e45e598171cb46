package host_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/agent/host"
	"github.com/ingotmetal/ingot/cmd/internal/sessions"
)

const (
	first  = api.Secret("$6$CANARYa$one")
	second = api.Secret("$6$CANARYb$two")
	others = "ada:$6$CANARYc$three:19000:0:99999:7:::\n"
)

// etc is a folder of password files, and what was logged.
type etc struct {
	t   *testing.T
	dir string
	log strings.Builder
}

func newEtc(t *testing.T, root string) *etc {
	e := &etc{t: t, dir: t.TempDir()}
	if root != "" {
		file(t, e.shadow(), root+others)
	}
	return e
}

func file(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func (e *etc) shadow() string { return filepath.Join(e.dir, "shadow") }
func (e *etc) note() string   { return filepath.Join(e.dir, "state", "root") }

func (e *etc) set(hash api.Secret) error {
	e.t.Helper()
	r := host.Root{Shadow: e.shadow(), Lock: filepath.Join(e.dir, ".pwd.lock"), Note: e.note(), Now: time.Now, Log: slog.New(slog.NewTextHandler(&e.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	err := r.Set(e.t.Context(), hash)
	if all := fmt.Sprint(err) + e.log.String(); strings.Contains(all, "CANARY") {
		e.t.Errorf("a hash is seen: %s", all)
	}
	return err
}

// root is the password field of root.
func (e *etc) root() string {
	e.t.Helper()
	raw, err := os.ReadFile(e.shadow())
	if err != nil || !strings.HasSuffix(string(raw), others) {
		e.t.Fatalf("%q, %v", raw, err)
	}
	return strings.Split(string(raw), ":")[1]
}

// The life of a root password: set, changed, changed by somebody else and put back,
// cleared.
func TestRootPassword(t *testing.T) {
	e := newEtc(t, "root:!:19000:0:99999:7:::\n")
	for i, c := range []struct {
		hash  api.Secret
		local string // set by somebody else before
		want  string
	}{
		{"", "", "!"}, {first, "", first.Show()}, {first, "", first.Show()}, {second, "", second.Show()}, {second, "$6$x$local", second.Show()},
		{"", "", "*"}, {"", "", "*"}, {first, "", first.Show()}, {"", "$6$x$local", "$6$x$local"}, {"", "", "$6$x$local"},
	} {
		if c.local != "" {
			file(t, e.shadow(), "root:"+c.local+":1::::::\n"+others)
		}
		if err := e.set(c.hash); err != nil || e.root() != c.want {
			t.Errorf("step %d: %q, %v", i, e.root(), err)
		}
		if noted, _ := os.ReadFile(e.note()); strings.Contains(string(noted), "$") || (len(noted) == 0) != (c.hash == "") {
			t.Errorf("step %d: the note is %q", i, noted)
		}
	}
	if n := strings.Count(e.log.String(), "level=INFO"); n != 5 {
		t.Errorf("%d changes are logged:\n%s", n, e.log.String())
	}
}

// What is so already is not written again.
func TestRootPasswordStays(t *testing.T) {
	e := newEtc(t, "root:"+first.Show()+":19000::::::\n")
	before, err := os.Stat(e.shadow())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.set(first); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(e.shadow())
	if err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the file was replaced: %v, %v", after, err)
	}
}

// The new file has the mode, the owner and the access list of the old one.
func TestRootPasswordKeepsTheFilesOwn(t *testing.T) {
	if os.Getuid() != 0 {
		missing(t, "only root gives files away: run the test as root")
	}
	e := newEtc(t, "root:*:1::::::\n")
	if err := errors.Join(os.Chown(e.shadow(), 0, 42), os.Chmod(e.shadow(), 0o640)); err != nil {
		t.Fatal(err)
	}
	// A list that lets user 1000 read as well, as setfacl(1) would write it.
	list := []byte{2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 0xe8, 3, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255, 16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255}
	withList := unix.Setxattr(e.shadow(), "system.posix_acl_access", list, 0) == nil // not every filesystem has them
	if err := e.set(first); err != nil {
		t.Fatal(err)
	}
	var s unix.Stat_t
	if err := unix.Stat(e.shadow(), &s); err != nil || s.Mode&0o7777 != 0o640 || s.Uid != 0 || s.Gid != 42 {
		t.Errorf("mode %o, owner %d:%d, %v", s.Mode&0o7777, s.Uid, s.Gid, err)
	}
	got := make([]byte, 256)
	if n, err := unix.Getxattr(e.shadow(), "system.posix_acl_access", got); withList && (err != nil || string(got[:n]) != string(list)) {
		t.Errorf("the access list is %x, %v", got[:max(n, 0)], err)
	}
}

// Nothing is changed where something is not as it must be.
func TestRootPasswordRefusals(t *testing.T) {
	e := newEtc(t, "")
	if err := e.set(first); err != nil {
		t.Errorf("without a file: %v", err)
	}
	if all, _ := os.ReadDir(e.dir); len(all) != 0 {
		t.Errorf("without a file: %v", all)
	}
	e = newEtc(t, "root:*:1::::::\n")
	for _, bad := range []api.Secret{"hunter2", "$6$a$b:0", "$6$a$b\nx::0::::::"} {
		if no, ok := errors.AsType[*sessions.NoHash](e.set(bad)); !ok || e.root() != "*" {
			t.Errorf("%q: %v", bad.Show(), no)
		}
	}
	e = newEtc(t, "root:*:1::::::\nroot:*:1::::::\n")
	if no, ok := errors.AsType[*host.NoShadow](e.set(first)); !ok || e.root() != "*" {
		t.Errorf("two of root: %v", no)
	}
	e = newEtc(t, "")
	file(t, filepath.Join(e.dir, "real"), "root:*:1::::::\n")
	if err := os.Symlink("real", e.shadow()); err != nil {
		t.Fatal(err)
	}
	if no, ok := errors.AsType[*host.NoShadow](e.set(first)); !ok || !strings.Contains(no.Error(), "no regular file") {
		t.Errorf("a link: %v", no)
	}
}

// A program that holds the lock, as passwd(1) does, is waited for, and not for ever.
func TestRootPasswordLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEtc(t, "root:*:1::::::\n")
		f, err := os.Create(filepath.Join(e.dir, ".pwd.lock"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		hold := func(kind int16) { // as lckpwdf(3); a process loses it as soon as it closes the file anywhere
			if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: kind}); err != nil {
				t.Error(err)
			}
		}
		hold(unix.F_WRLCK)
		from := time.Now()
		if no, ok := errors.AsType[*host.NoShadow](e.set(first)); !ok || !strings.Contains(no.Error(), "another program holds") || e.root() != "*" || time.Since(from).Round(time.Second) != 15*time.Second {
			t.Errorf("after %s: %v, %q", time.Since(from), no, e.root())
		}
		hold(unix.F_WRLCK)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := host.Root{Shadow: e.shadow(), Lock: f.Name(), Note: e.note(), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		if err := r.Set(ctx, first); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		hold(unix.F_WRLCK)
		var other sync.WaitGroup
		defer other.Wait()
		other.Go(func() { time.Sleep(3 * time.Second); hold(unix.F_UNLCK) })
		from = time.Now()
		if err := e.set(first); err != nil || e.root() != first.Show() || time.Since(from).Round(time.Second) != 3*time.Second {
			t.Errorf("once it is free, after %s: %v, %q", time.Since(from), err, e.root())
		}
	})
}
