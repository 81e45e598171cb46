package tftp

import (
	"errors"
	"fmt"
	"io"
)

// frames turns the blocks of a file into DATA packets, in one buffer that it
// uses again and again.
type frames struct {
	file  io.ReaderAt
	size  int64
	block int
	buf   []byte
}

// newFrames makes a buffer for as many blocks as a window, or the file, has.
func newFrames(f io.ReaderAt, size int64, t terms) *frames {
	blocks := min(int64(t.window), size/int64(t.block)+1)
	return &frames{f, size, t.block, make([]byte, int(blocks)*(t.block+headLen))}
}

// fill returns the packets of the blocks from first up to, not including,
// end: one behind the other, each block+headLen long but for the file's last.
// They are valid until the next call.
//
// It reads once, to where the last packet's bytes belong, and then moves each
// block forward to its place.
func (f *frames) fill(first, end int64) ([]byte, error) {
	n := int(end - first)
	from := (first - 1) * int64(f.block)
	length := int(min(f.size-from, int64(n)*int64(f.block)))
	data := f.buf[n*headLen : n*headLen+length]
	if got, err := f.file.ReadAt(data, from); got < length {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("tftp: read at %d: %w", from, err)
	}
	for i := range n {
		packet := f.buf[i*(f.block+headLen):]
		putHead(packet, first+int64(i))
		copy(packet[headLen:], data[i*f.block:min((i+1)*f.block, length)])
	}
	return f.buf[:n*headLen+length], nil
}
