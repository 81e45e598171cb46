package images

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// lockPause is how long a process that waits for its turn sleeps between two tries.
const lockPause = 100 * time.Millisecond

var errLocked = errors.New("another process stages or removes")

// tryLock takes the lock of those who change the folder, or returns errLocked.
func (s *Store) tryLock() (unlock func(), err error) {
	if fi, err := s.root.Lstat(lockFile); err == nil && !fi.Mode().IsRegular() {
		return nil, &Harmed{lockFile, "no file but " + kind(fi)}
	}
	f, err := s.root.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, &Failed{s.dir, err}
	}
	if err := flock(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// lock waits for tryLock's turn.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	tick := time.NewTicker(lockPause)
	defer tick.Stop()
	for {
		unlock, err := s.tryLock()
		if !errors.Is(err, errLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, &Busy{s.dir, context.Cause(ctx)}
		case <-tick.C:
		}
	}
}

// sync makes the names in a folder durable.
func (s *Store) sync(name string) error {
	dir, err := s.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// makeDirs makes the folders within the store. Whether each is one, sweep finds out.
func (s *Store) makeDirs() error {
	for _, name := range []string{imagesDir, "blobs", blobsDir, tmpDir} {
		err := s.root.Mkdir(name, 0o755)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return &Failed{s.dir, err}
		}
	}
	if err := errors.Join(s.sync("."), s.sync("blobs")); err != nil {
		return &Failed{s.dir, err}
	}
	return nil
}
