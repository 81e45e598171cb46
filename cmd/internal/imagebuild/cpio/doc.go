// Package cpio writes and reads archives in the form "newc", which the Linux kernel
// unpacks as its first root (Documentation/driver-api/early-userspace/buffer-format.rst).
//
// What is written depends on the entries alone: owner and group are 0, times are 0, and
// inodes are counted. There are no hard links, and no padding beyond the form's own.
package cpio

import "fmt"

// Bounds of an entry.
const (
	MaxName = 4096      // bytes of a name or of a link's target
	MaxBody = 1<<32 - 1 // bytes of a file: the field has 32 bits
)

// Kinds of entries, as the upper bits of a mode (inode(7)).
const (
	Regular   = 0o100000
	Directory = 0o040000
	Link      = 0o120000
	Character = 0o020000
	kinds     = 0o170000
)

// An Entry is one file of an archive.
type Entry struct {
	Name         string // slash-separated, without a slash at either end
	Mode         uint32 // a kind, and permissions
	Body         []byte // of a file, or where a link leads
	Major, Minor uint32 // of a device
}

// Invalid reports an archive, or an entry of one, that is none.
type Invalid struct{ Name, Why string }

// Error names the entry.
func (e *Invalid) Error() string { return fmt.Sprintf("cpio: %.80q %s", e.Name, e.Why) }

// Code is the error's wire name (API-3).
func (*Invalid) Code() string { return "INVALID_INPUT" }
