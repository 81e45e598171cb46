//go:build !linux

package apply

import (
	"errors"
	"os"
)

// Claim is for Linux.
func (b Block) Claim() (Device, error) {
	return nil, refuse(Busy, b.Name, "block devices are claimed on Linux alone", errors.ErrUnsupported)
}

func (b Block) open(int) (*os.File, error) { return nil, errors.ErrUnsupported }
