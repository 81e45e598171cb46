//go:build !linux

package bolt

import "os"

func fdatasync(f *os.File) error { return f.Sync() }

// flock leaves the lock to bbolt, which takes it once the pages have been looked at.
func flock(*os.File, bool) (taken bool, err error) { return false, nil }

// forget leaves it to the system which pages stay resident.
func forget(uintptr, int64) {}
