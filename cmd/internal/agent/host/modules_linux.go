package host

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Insert loads a module into the kernel (finit_module(2)). One that is loaded already,
// and one that finds no device, is no failure.
func Insert(f fs.File) error {
	file, ok := f.(interface{ Fd() uintptr })
	if !ok {
		return errors.ErrUnsupported
	}
	return inserted(unix.FinitModule(int(file.Fd()), "", 0))
}

// inserted is what loading a module came to.
func inserted(err error) error {
	if errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}
