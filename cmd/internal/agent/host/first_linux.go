package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Mount makes the filesystems that a machine's first process finds missing. One that
// is there stays as it is.
func Mount() error {
	var errs []error
	for _, m := range []struct{ kind, at, probe string }{
		{"proc", "/proc", "/proc/self"}, {"sysfs", "/sys", "/sys/class"}, {"devtmpfs", "/dev", "/dev/null"}, {"tmpfs", "/run", "/run/lock"},
	} {
		if _, err := os.Stat(m.probe); err == nil {
			continue
		}
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := unix.Mount(m.kind, m.at, m.kind, unix.MS_NOSUID, ""); err != nil && !errors.Is(err, unix.EBUSY) {
			errs = append(errs, fmt.Errorf("%s is not mounted: %w", m.at, err))
		}
	}
	return errors.Join(errs...)
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
