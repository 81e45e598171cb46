package apply

import (
	"os"

	"github.com/ingotmetal/ingot/disklayout"
)

// A File is a file that plays a disk, best a sparse one.
type File struct {
	Path string
	// Disk is what it says of itself. A zero Size is the file's.
	Disk disklayout.Disk
}

// Identity is Disk, with the size that the file has.
func (f File) Identity() (disklayout.Disk, error) {
	d := f.Disk
	s, err := os.Stat(f.Path)
	if err != nil {
		return d, refuse(Unidentified, d.Name, "its file has no size", err)
	}
	if d.Size == 0 {
		d.Size = uint64(s.Size())
	}
	return d, nil
}

// Look opens the file to read it.
func (f File) Look() (Reader, error) { return os.Open(f.Path) }

// Claim opens the file to write it, and locks it where the system can.
func (f File) Claim() (Device, error) {
	file, err := os.OpenFile(f.Path, os.O_RDWR, 0)
	if err != nil {
		return nil, refuse(Busy, f.Disk.Serial, "its file cannot be opened", err)
	}
	if err := lock(file); err != nil {
		file.Close()
		return nil, refuse(Busy, f.Disk.Serial, "somebody else holds its file", err)
	}
	return &openFile{file, f}, nil
}

// An openFile is a claimed File.
type openFile struct {
	*os.File
	of File
}

// Identity has the opened file's size, unless the file was to play another.
func (o *openFile) Identity() (disklayout.Disk, error) {
	d := o.of.Disk
	s, err := o.Stat()
	if err != nil {
		return d, err
	}
	if d.Size == 0 {
		d.Size = uint64(s.Size())
	}
	return d, nil
}

func (o *openFile) Forget() error { return forget(o.File) }
func (o *openFile) Reread() error { return nil }
