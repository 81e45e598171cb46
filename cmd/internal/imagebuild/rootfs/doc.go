// Package rootfs makes the filesystem of a root partition, as an image that is written
// as it is: an ext4 without a journal, with a few files.
//
// The same inputs give the same bytes: owners are 0 and times are the epoch's begin.
package rootfs

import "fmt"

// Bounds of an image, in bytes.
const (
	MinSize = 4 << 20
	MaxSize = 1 << 40
	unit    = 1 << 20 // of sizes
)

// Invalid reports what no filesystem can be made of.
type Invalid struct{ What, Why string }

// Error says why.
func (e *Invalid) Error() string { return fmt.Sprintf("rootfs: the %s %s", e.What, e.Why) }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }
