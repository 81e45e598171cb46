//go:build !linux

package vmlab

import (
	"context"
	"io"
	"syscall"
)

// Inside is for Linux.
func Inside() bool { return false }

// Enter is for Linux.
func Enter(context.Context, io.Reader, io.Writer, io.Writer) (int, error) {
	return 0, &Missing{"Linux", "run it there: network namespaces and taps are the kernel's"}
}

func dying() *syscall.SysProcAttr { return nil }
