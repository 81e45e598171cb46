// Package deb reads the files of a Debian package (deb(5)) without installing it:
// nothing of it is run, and nothing is written.
//
// It does not check where the package comes from: apt does, where it downloads it.
package deb

import "fmt"

// Bounds of a package.
const (
	MaxUnpacked = 4 << 30   // bytes of its files, unpacked
	MaxFiles    = 1 << 18   // how many it has
	MaxFile     = 256 << 20 // bytes of one that is read
)

// Invalid reports a package that cannot be read.
type Invalid struct{ Why string }

// Error says why.
func (e *Invalid) Error() string { return "deb: the package " + e.Why }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }

func invalid(format string, args ...any) error { return &Invalid{fmt.Sprintf(format, args...)} }
