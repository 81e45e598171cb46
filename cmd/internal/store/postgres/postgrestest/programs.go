package postgrestest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// A Missing reports a program of PostgreSQL that is not installed.
type Missing struct{ Program string }

// Error says what to install.
func (e *Missing) Error() string {
	return "postgrestest: " + e.Program + " is not installed; on Debian: apt-get install postgresql"
}

// Need skips a test whose server could not start for want of its programs, unless
// INGOT_TEST_ALL=1 wants every test to run. Any other error fails the test.
func Need(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if _, missing := errors.AsType[*Missing](err); missing && os.Getenv("INGOT_TEST_ALL") != "1" {
		t.Skip(err)
	}
	t.Fatal(err)
}

// program finds one of PostgreSQL's programs: Debian's newest first, since its
// postgres is not in the PATH.
func program(name string) (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) > 0 {
		return found[len(found)-1], nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &Missing{name}
	}
	return path, nil
}

// unprivileged is whom the server runs as where the test is root, which PostgreSQL
// refuses to be.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}
