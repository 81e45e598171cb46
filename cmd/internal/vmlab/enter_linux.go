package vmlab

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// The parent of a lab tells its child, in this variable, in which network namespace it
// is itself.
const outsideEnv = "INGOT_LAB_OUTSIDE"

// Inside reports whether this process is the child of a lab, in a namespace of its own.
func Inside() bool {
	outside, own := os.Getenv(outsideEnv), namespace()
	return outside != "" && own != "" && own != outside
}

func namespace() string {
	ns, _ := os.Readlink("/proc/self/ns/net")
	return ns
}

// Enter runs this program again with the same arguments in a network namespace of its
// own, and returns its exit code. Without root it takes a user namespace as well.
func Enter(ctx context.Context, in io.Reader, out, errs io.Writer) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Env = append(os.Environ(), outsideEnv+"="+namespace())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	cmd.SysProcAttr = inside(&syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL})
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, noNamespace(err)
	}
	return 0, nil
}

// inside has a process begin in namespaces of its own.
func inside(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Cloneflags = syscall.CLONE_NEWNET
	if os.Getuid() != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return a
}

func noNamespace(err error) error {
	return &Missing{"a network namespace", "run it as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1): " + err.Error()}
}

// dying is of a process that ends with this one.
func dying() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// peakOf is the peak of the memory of a process that has ended, in MiB.
func peakOf(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) >> 10 // KiB (getrusage(2))
	}
	return 0
}

// room is how many bytes the disk under a folder has free; it is large where that cannot
// be told.
func room(dir string) uint64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 1 << 62
	}
	return s.Bavail * uint64(s.Bsize)
}
