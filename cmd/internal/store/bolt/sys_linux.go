package bolt

import (
	"os"
	"syscall"
)

// fdatasync is what bbolt itself calls here.
func fdatasync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }

// flock locks f, alone or with others, and reports whether somebody else has it.
// bbolt takes the same lock again, which is no harm on the same file.
func flock(f *os.File, alone bool) (taken bool, err error) {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return true, nil
	}
	return false, err
}
