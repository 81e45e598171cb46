package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"
)

// Mount makes the filesystems that a machine's first process finds missing: /proc,
// /sys and /dev. One that is there stays as it is.
func Mount() error {
	var errs []error
	for _, m := range []struct{ kind, at string }{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}} {
		info, _ := os.ReadFile("/proc/self/mountinfo") // without /proc, nothing is
		if mounted(string(info), m.at) {
			continue
		}
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := unix.Mount(m.kind, m.at, m.kind, unix.MS_NOSUID, ""); err != nil {
			errs = append(errs, fmt.Errorf("%s is not mounted: %w", m.at, err))
		}
	}
	return errors.Join(errs...)
}

// mounted reports whether something is mounted at a place, by the fifth field of
// proc_pid_mountinfo(5).
func mounted(info, at string) bool {
	for line := range strings.Lines(info) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == at {
			return true
		}
	}
	return false
}

// Reap waits for children whose parents have ended, which the kernel gives to a
// machine's first process, until ctx ends. No other code of the process may wait for
// children.
func Reap(ctx context.Context, log *slog.Logger) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	for {
		reapAll(log)
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

func reapAll(log *slog.Logger) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		log.Debug("a process ended", "pid", pid, "status", status.ExitStatus())
	}
}
