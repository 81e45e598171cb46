package apply

import (
	"io"

	"github.com/ingotmetal/ingot/disklayout"
)

// A Source is a disk of the machine.
type Source interface {
	// Identity is what the disk says of itself, without Signatures and
	// Partitions. It opens nothing that a running system could notice.
	Identity() (disklayout.Disk, error)
	// Look opens the disk to read it, beside others.
	Look() (Reader, error)
	// Claim opens the disk to write it, for this process alone. It fails with a
	// [*Refused] while somebody holds the disk.
	Claim() (Device, error)
}

// A Reader is a disk that can be read.
type Reader interface {
	io.ReaderAt
	io.Closer
}

// A Device is a claimed disk.
type Device interface {
	Reader
	io.WriterAt
	// Identity is that of the opened disk, whatever its name leads to by now.
	Identity() (disklayout.Disk, error)
	// Sync returns when all that was written is on the medium.
	Sync() error
	// Forget drops what is cached of the disk, so that it is read from the
	// medium.
	Forget() error
	// Reread lets the system see the table that is now on the disk.
	Reread() error
}
