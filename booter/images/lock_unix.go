//go:build unix

package images

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// flock locks a file until it is closed, or returns errLocked.
func flock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
