package apply

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the lock that udev and partitioning tools respect as well.
func lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// forget drops the page cache of a file. Pages that are not on the medium yet
// stay.
func forget(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
