package deb

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// magic begins an archive of ar's, and headerEnd ends the header of a member.
const (
	magic     = "!<arch>\n"
	headerEnd = "`\n"
)

// member finds the first member of an archive of ar's that want accepts. What is
// there is three members; a package with many more is none.
func member(r io.Reader, want func(name string) bool) (name string, body io.Reader, err error) {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != magic {
		return "", nil, brokenOff(err, "is no archive of Debian's")
	}
	for range 16 {
		name, size, err := header(r)
		if err != nil {
			return "", nil, err
		}
		if want(name) {
			return name, io.LimitReader(r, size), nil
		}
		if n, err := io.CopyN(io.Discard, r, size+size&1); err != nil {
			return "", nil, brokenOff(err, "is cut off: %s has %d bytes of %d", name, n, size)
		}
	}
	return "", nil, invalid("has no data among its first members")
}

// header reads the header of a member.
func header(r io.Reader) (name string, size int64, err error) {
	var raw [60]byte
	if _, err := io.ReadFull(r, raw[:]); err != nil {
		return "", 0, brokenOff(err, "has no data")
	}
	if string(raw[58:]) != headerEnd {
		return "", 0, invalid("has a member without a header")
	}
	size, err = strconv.ParseInt(strings.TrimRight(string(raw[48:58]), " "), 10, 64)
	if err != nil || size < 0 {
		return "", 0, invalid("has a member of %.10q bytes", raw[48:58])
	}
	text, _, _ := bytes.Cut(raw[:16], []byte{0})
	return strings.TrimSuffix(strings.TrimRight(string(text), " "), "/"), size, nil
}

// brokenOff is the error of a package that ends too early, or the reader's.
func brokenOff(err error, format string, args ...any) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalid(format, args...)
	}
	return err
}
