package deb

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/unpack"
)

// window bounds the memory of a decompressor of zst, in bytes.
const window = 128 << 20

// Walk visits the plain files of a package, in its order, by names like
// boot/vmlinuz-6.1: visit gets those that want accepts, each whole. The error is an
// *Invalid, visit's, or that of reading r.
func Walk(r io.Reader, want func(name string) bool, visit func(name string, body []byte) error) error {
	name, body, err := member(r, func(name string) bool { return strings.HasPrefix(name, "data.tar") })
	if err != nil {
		return err
	}
	source := &noting{r: body}
	plain, done, err := opened(name, bufio.NewReaderSize(source, 1<<16)) // xz reads single bytes
	if err != nil {
		return cause(source, err)
	}
	defer done()
	limited := &io.LimitedReader{R: plain, N: MaxUnpacked}
	t := tar.NewReader(limited)
	for range MaxFiles {
		h, err := t.Next()
		switch {
		case err == io.EOF && limited.N > 0:
			return nil
		case limited.N <= 0:
			return invalid("has more than %d bytes", int64(MaxUnpacked))
		case err != nil:
			return cause(source, err)
		}
		if err := file(t, h, want, visit); err != nil {
			return cause(source, err)
		}
	}
	return invalid("has more than %d files", MaxFiles)
}

// opened undoes the compression that a name shows.
func opened(name string, r io.Reader) (io.Reader, func(), error) {
	end := path.Ext(name)
	if end == ".tar" {
		return r, func() {}, nil
	}
	plain, done, known, err := unpack.Reader(end, r, window)
	if !known {
		return nil, nil, invalid("is compressed as %.20q; known are xz, zst and gz", name)
	}
	return plain, done, err
}

// A visitError is one that is not of the package.
type visitError struct{ error }

// file reads one that is wanted.
func file(t *tar.Reader, h *tar.Header, want func(string) bool, visit func(string, []byte) error) error {
	name := path.Clean(strings.TrimPrefix(h.Name, "/"))
	if h.Typeflag != tar.TypeReg || name == ".." || strings.HasPrefix(name, "../") || !want(name) {
		return nil
	}
	if h.Size > MaxFile {
		return invalid("has %.80s with %d bytes, and %d are read at most", name, h.Size, int64(MaxFile))
	}
	body, err := io.ReadAll(t)
	if err != nil {
		return err
	}
	if err := visit(name, body); err != nil {
		return visitError{err}
	}
	return nil
}

// noting keeps the error of what is read, apart from those of its form.
type noting struct {
	r   io.Reader
	err error
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	if err != nil && err != io.EOF {
		n.err = err
	}
	return k, err
}

// cause is what went wrong first: the reading, the visit, or the package.
func cause(source *noting, err error) error {
	if v, ok := errors.AsType[visitError](err); ok {
		return v.error
	}
	if source.err != nil {
		return source.err
	}
	if _, ok := errors.AsType[*Invalid](err); ok {
		return err
	}
	return invalid("cannot be unpacked: %v", err)
}
