//go:build !linux

package vmlab

import (
	"context"
	"io"
	"os"
	"syscall"

	"github.com/ingotmetal/ingot/cmd/internal/vmlab/panel"
)

// Inside is for Linux.
func Inside() bool { return false }

// Enter is for Linux.
func Enter(context.Context, io.Reader, io.Writer, io.Writer) (int, error) {
	return 0, onlyLinux()
}

func onlyLinux() error {
	return &Missing{"Linux", "run it there: network namespaces and taps are the kernel's"}
}

// Detach is for Linux.
func Detach(context.Context, Options, Stay, func()) (panel.Lab, error) {
	return panel.Lab{}, onlyLinux()
}

// Ready is for Linux.
func Ready() (func(panel.Started), error) {
	return nil, onlyLinux()
}

func dying() *syscall.SysProcAttr { return nil }

func room(string) uint64 { return 1 << 62 }

func peakOf(*os.ProcessState) int64 { return 0 }
