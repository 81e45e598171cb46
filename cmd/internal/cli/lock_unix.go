//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock waits for the file's lock and returns what lets it go. The file stays, so
// that everybody locks the same one.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
