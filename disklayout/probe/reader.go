package probe

import (
	"bytes"
	"errors"
	"io"
)

// Bounds of one look.
const (
	MaxRead       = 256 << 20 // bytes read of one disk
	MaxPartitions = 128       // looked into
	MaxTable      = 1 << 20   // bytes of one array of partition entries
)

// chunk is how much is read at once: it holds most of what a place tells in its
// beginning, and a lonely magic costs no more than that.
const chunk = 16 << 10

// A reader reads a disk in chunks and keeps those of one place. Its first
// failure is the look's.
type reader struct {
	r      io.ReaderAt
	size   int64
	left   int64 // bytes that may still be read
	kept   map[int64][]byte
	spare  [][]byte
	failed *NotLooked
}

func newReader(r io.ReaderAt, size int64) *reader {
	return &reader{r: r, size: size, left: MaxRead, kept: map[int64][]byte{}}
}

// forget makes the kept chunks' memory free for the next place.
func (d *reader) forget() {
	for at, c := range d.kept {
		d.spare = append(d.spare, c[:chunk])
		delete(d.kept, at)
	}
}

// fail keeps the first reason.
func (d *reader) fail(at int64, why string, err error) {
	if d.failed == nil {
		d.failed = &NotLooked{at, why, err}
	}
}

// load returns the chunk that begins at a multiple of its size, shorter at the
// disk's end, or nil if it cannot be read.
func (d *reader) load(at int64) []byte {
	if c, ok := d.kept[at]; ok {
		return c
	}
	n := min(chunk, d.size-at)
	if d.left < n {
		d.fail(at, "the disk has more to look at than one look reads", nil)
		return nil
	}
	d.left -= n
	c := d.memory()[:n]
	if got, err := d.r.ReadAt(c, at); got < len(c) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		d.fail(at, "it cannot be read", err)
		return nil
	}
	d.kept[at] = c
	return c
}

func (d *reader) memory() []byte {
	if n := len(d.spare); n > 0 {
		c := d.spare[n-1]
		d.spare = d.spare[:n-1]
		return c
	}
	return make([]byte, chunk)
}

// bytes returns n bytes from the disk, or nil where they are not on it or cannot
// be read. They are the caller's to read until forget.
func (d *reader) bytes(at, n int64) []byte {
	if d.failed != nil || at < 0 || n < 0 || at > d.size-n {
		return nil
	}
	first := at / chunk * chunk
	c := d.load(first)
	if c == nil {
		return nil
	}
	if at+n <= first+int64(len(c)) {
		return c[at-first : at-first+n]
	}
	var out bytes.Buffer
	for at, end := at, at+n; at < end; {
		first := at / chunk * chunk
		c := d.load(first)
		if c == nil {
			return nil
		}
		part := c[at-first : min(int64(len(c)), end-first)]
		out.Write(part)
		at += int64(len(part))
	}
	return out.Bytes()
}

// A view is one place of a disk: all of it, or a partition.
type view struct {
	*reader
	base, size int64
}

// at returns n bytes from a place's byte off, or nil.
func (v *view) at(off, n int64) []byte {
	if off < 0 || n < 0 || off > v.size-n {
		return nil
	}
	return v.bytes(v.base+off, n)
}

// has reports whether the bytes of want are at off.
func (v *view) has(off int64, want string) bool {
	b := v.at(off, int64(len(want)))
	return b != nil && string(b) == want
}
