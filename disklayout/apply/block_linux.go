package apply

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ingotmetal/ingot/disklayout"
)

// Claim opens the device with O_EXCL, which fails while a mount, swap or an
// array has it, and takes the lock by which udev keeps its hands off.
func (b Block) Claim() (Device, error) {
	f, err := b.open(os.O_RDWR | unix.O_EXCL)
	if err != nil {
		return nil, refuse(Busy, b.Name, "it cannot be opened for this process alone", err)
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, refuse(Busy, b.Name, "somebody else has locked it", err)
	}
	return &openBlock{f, b}, nil
}

// open opens the device node, and makes sure that it is the device of which
// sysfs speaks.
func (b Block) open(flags int) (*os.File, error) {
	f, err := os.OpenFile(b.path(), flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := b.is(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (b Block) is(f *os.File) error {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return err
	}
	here := fmt.Sprintf("%d:%d", unix.Major(uint64(s.Rdev)), unix.Minor(uint64(s.Rdev)))
	if there := attribute(b.Sys, path.Join("block", b.Name), "dev"); s.Mode&unix.S_IFMT != unix.S_IFBLK || here != there {
		return fmt.Errorf("%s is device %s, sysfs has %s for it", b.path(), here, strings.TrimSpace(there))
	}
	return nil
}

// An openBlock is a claimed Block.
type openBlock struct {
	*os.File
	of Block
}

// Identity is sysfs's, as long as the name is still that of the opened device,
// with the size and sectors that the opened device has.
func (o *openBlock) Identity() (disklayout.Disk, error) {
	if err := o.of.is(o.File); err != nil {
		return disklayout.Disk{Name: o.of.Name}, err
	}
	d, err := o.of.Identity()
	if err != nil {
		return d, err
	}
	fd := int(o.Fd())
	var size uint64
	if _, _, no := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.BLKGETSIZE64, uintptr(unsafe.Pointer(&size))); no != 0 {
		return d, no
	}
	logical, err := unix.IoctlGetInt(fd, unix.BLKSSZGET)
	if err != nil {
		return d, err
	}
	physical, err := unix.IoctlGetInt(fd, unix.BLKPBSZGET)
	if err != nil {
		return d, err
	}
	if size != d.Size || uint32(logical) != d.LogicalSector || uint32(physical) != d.PhysicalSector {
		return d, fmt.Errorf("opened it has %d bytes in sectors of %d and %d, sysfs has %d in %d and %d", size, logical, physical, d.Size, d.LogicalSector, d.PhysicalSector)
	}
	return d, nil
}

// Forget writes the device's buffers and drops them. Drives keep a cache of
// their own; a sync has told them to empty it.
func (o *openBlock) Forget() error {
	fd := int(o.Fd())
	if err := unix.IoctlSetInt(fd, unix.BLKFLSBUF, 0); err != nil {
		return err
	}
	return unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED)
}

// Reread lets the kernel read the table. A device that has no partitions by its
// nature, as a loop device may, refuses with EINVAL: then nothing is stale.
func (o *openBlock) Reread() error {
	err := unix.IoctlSetInt(int(o.Fd()), unix.BLKRRPART, 0)
	if errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}
