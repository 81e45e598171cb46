//go:build !unix

package images

import "os"

// flock does nothing where there are no advisory locks: there, one process at a time
// may stage or remove.
func flock(*os.File) error { return nil }
