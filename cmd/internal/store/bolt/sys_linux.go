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

// forget takes the pages of a mapping out of the process's resident set. They stay in
// the page cache, and come back when they are read (madvise(2)).
func forget(data uintptr, size int64) {
	if size > 0 {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, data, uintptr(size), syscall.MADV_DONTNEED) // advice alone
	}
}
