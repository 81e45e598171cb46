package cpio

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// A Reader reads an archive whose entries take at most limit bytes together.
type Reader struct {
	r    io.Reader
	left int64
	done bool
}

// NewReader reads from r.
func NewReader(r io.Reader, limit int64) *Reader { return &Reader{r: r, left: limit} }

// Next reads an entry, and is io.EOF after the last. What the kernel would not unpack,
// an archive that is cut off and one above the limit are an *Invalid.
func (r *Reader) Next() (Entry, error) {
	if r.done {
		return Entry{}, io.EOF
	}
	raw, err := r.take("", headerSize)
	if err != nil {
		return Entry{}, err
	}
	fields, err := numbers(raw)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Mode: fields[1], Major: fields[9], Minor: fields[10]}
	if e.Name, err = r.name(int64(fields[11])); err != nil {
		return Entry{}, err
	}
	size := int64(fields[6])
	if e.Body, err = r.take(e.Name, size+-size&3); err != nil {
		return Entry{}, err
	}
	e.Body = e.Body[:size]
	if e.Name == trailer {
		r.done = true
		return Entry{}, io.EOF
	}
	return e, nil
}

// name reads a name of n bytes, its end included.
func (r *Reader) name(n int64) (string, error) {
	if n < 2 || n > MaxName+1 {
		return "", &Invalid{"", fmt.Sprintf("has a name of %d bytes", n)}
	}
	raw, err := r.take("", n+-(headerSize+n)&3)
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(raw, 0) != int(n)-1 {
		return "", &Invalid{string(raw[:n]), "is no name with an end"}
	}
	return string(raw[:n-1]), nil
}

// numbers reads a header.
func numbers(raw []byte) (out [13]uint32, err error) {
	if magic := string(raw[:6]); magic != "070701" {
		return out, &Invalid{magic, "is not how an entry begins in the form newc"}
	}
	for i := range out {
		text := string(raw[6+8*i : 14+8*i])
		n, err := strconv.ParseUint(text, 16, 32)
		if err != nil {
			return out, &Invalid{text, "is no hexadecimal number"}
		}
		out[i] = uint32(n)
	}
	return out, nil
}

// take reads n bytes, and allocates no more than what comes.
func (r *Reader) take(name string, n int64) ([]byte, error) {
	if n > r.left {
		return nil, &Invalid{name, "is beyond the limit of the archive"}
	}
	r.left -= n
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r.r, n); err != nil {
		if err == io.EOF {
			return nil, &Invalid{name, "is cut off"}
		}
		return nil, err
	}
	return b.Bytes(), nil
}
