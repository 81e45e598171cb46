package vmlab

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"syscall"
)

// Places of a sparse file that hold data, and that do not, as lseek of Linux finds them.
const (
	seekData = 3
	seekHole = 4
)

// printBlock is the unit of a print, in bytes. One that is zero does not count, so that
// a hole and zeros that were written are alike.
const printBlock = 64 << 10

// A Print is the SHA-256 of a disk's file: of its size, and of what it holds where.
type Print [sha256.Size]byte

// PrintOf reads the file of a disk. Its holes are not read, where the system tells of
// them.
func PrintOf(path string) (p Print, err error) {
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return p, err
	}
	h := sha256.New()
	if err := binary.Write(h, binary.BigEndian, fi.Size()); err != nil {
		return p, err
	}
	for at := int64(0); at < fi.Size(); {
		from, to := extent(f, at, fi.Size())
		if at = to; from == to {
			continue
		}
		if err := printed(h, f, from-from%printBlock, to); err != nil {
			return p, err
		}
		at = min(fi.Size(), (to+printBlock-1)/printBlock*printBlock)
	}
	return Print(h.Sum(nil)), nil
}

// extent is the first place from at on that holds data: all of the rest, where nobody
// tells, and nothing at the end, where none does.
func extent(f *os.File, at, size int64) (from, to int64) {
	from, err := f.Seek(at, seekData)
	if errors.Is(err, syscall.ENXIO) { // holes to the end
		return size, size
	}
	if err != nil {
		return at, size
	}
	if to, err = f.Seek(from, seekHole); err != nil {
		return from, size
	}
	return from, to
}

// printed adds the blocks of a place to a print.
func printed(h hash.Hash, r io.ReaderAt, from, to int64) error {
	b, zero := make([]byte, printBlock), make([]byte, printBlock)
	for at := from; at < to; at += printBlock {
		n, err := r.ReadAt(b, at)
		if err != nil && err != io.EOF {
			return err
		}
		if bytes.Equal(b[:n], zero[:n]) {
			continue
		}
		if err := errors.Join(binary.Write(h, binary.BigEndian, at), binary.Write(h, binary.BigEndian, b[:n])); err != nil {
			return err
		}
	}
	return nil
}

// untouched runs what must not write these disks, and holds each file against what it
// was.
func untouched(drives []Drive, run func() error) error {
	before, err := prints(drives)
	if err != nil {
		return err
	}
	if err := run(); err != nil {
		return err
	}
	after, err := prints(drives)
	if err != nil {
		return err
	}
	for i, d := range drives {
		if before[i] != after[i] {
			return fmt.Errorf("disk %s was written: %s has other bytes now", d.Serial, d.Path)
		}
	}
	return nil
}

func prints(drives []Drive) ([]Print, error) {
	out := make([]Print, len(drives))
	for i, d := range drives {
		var err error
		if out[i], err = PrintOf(d.Path); err != nil {
			return nil, err
		}
	}
	return out, nil
}
