package host

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ingotmetal/ingot/cmd/internal/pause"
)

// How long another program may hold the lock of the password files: as long as
// lckpwdf(3) waits for it.
const (
	lockWait  = 15 * time.Second
	lockRetry = 100 * time.Millisecond
)

// lock takes the lock that lckpwdf(3) takes, which ends with the process at the latest.
func lock(ctx context.Context, path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &NoShadow{"is left alone, since its lock cannot be opened: " + err.Error()}
	}
	for range lockWait / lockRetry {
		l := unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_SET}
		err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EINTR) || !pause.For(ctx, lockRetry) {
			break
		}
	}
	_ = f.Close()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, &NoShadow{"is left alone, since another program holds " + path + ": " + err.Error()}
}

// like gives a new file the mode, the owner and the labels of the one at path.
func like(f *os.File, path string) error {
	var s unix.Stat_t
	if err := unix.Lstat(path, &s); err != nil {
		return err
	}
	fd := int(f.Fd())
	if err := unix.Fchown(fd, int(s.Uid), int(s.Gid)); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, s.Mode&0o7777); err != nil {
		return err
	}
	for _, name := range []string{"security.selinux", "system.posix_acl_access"} {
		value := make([]byte, 4096)
		n, err := unix.Lgetxattr(path, name, value)
		if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
			continue
		}
		if err == nil {
			err = unix.Fsetxattr(fd, name, value[:n], 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
