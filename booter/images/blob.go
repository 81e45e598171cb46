package images

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// A Blob is an open file of an image. It is an io.ReadSeeker and an io.ReaderAt; ReadAt may
// be called concurrently. The kernel can send it without a copy, since it is a
// syscall.Conn and an fs.File as well. Close it after use.
type Blob struct {
	f    *os.File
	sum  string
	size int64
	mod  time.Time
}

// OpenFile opens a file of an image that is whole. The error is an *[Unknown] where
// there is none, and an *[Harmed] where the image is not whole.
func (s *Store) OpenFile(image, file string) (*Blob, error) {
	i, err := s.Image(image)
	if err != nil {
		return nil, err
	}
	f, ok := i.File(file)
	if !ok {
		return nil, &Unknown{What: "file " + short(file) + " in the image " + image}
	}
	return s.blob(f.SHA256, f.Size)
}

// OpenDigest opens the file with a SHA-256, in hexadecimal digits, of any image that
// is whole. The error is an *[Unknown] where there is none.
func (s *Store) OpenDigest(sha256 string) (*Blob, error) {
	size, ok := s.now.Load().sizes[sha256]
	if !ok {
		return nil, &Unknown{What: "file with the digest " + short(sha256)}
	}
	return s.blob(sha256, size)
}

func (s *Store) blob(sum string, size int64) (*Blob, error) {
	name := blobsDir + "/" + sum
	gone := &Unknown{What: "file with the digest " + sum + " any more"} // another process removed the image
	fi, err := s.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, gone
	case err != nil:
		return nil, &Failed{s.dir, err}
	case fi.Mode().IsRegular() && fi.Size() != size:
		return nil, &Harmed{name, "its size is another"}
	}
	f, err := open(s.root, name, fi)
	switch {
	case errors.Is(err, fs.ErrNotExist): // between the two
		return nil, gone
	case err != nil:
		return nil, &Harmed{name, err.Error()}
	}
	return &Blob{f, sum, size, fi.ModTime()}, nil
}

// SHA256 is the digest of the content, in hexadecimal digits.
func (b *Blob) SHA256() string { return b.sum }

// Size is the length in bytes.
func (b *Blob) Size() int64 { return b.size }

// ModTime is when it was staged.
func (b *Blob) ModTime() time.Time { return b.mod }

// Read reads on from where the last Read or Seek ended.
func (b *Blob) Read(p []byte) (int, error) { return b.f.Read(p) }

// ReadAt reads from an offset.
func (b *Blob) ReadAt(p []byte, off int64) (int, error) { return b.f.ReadAt(p, off) }

// Seek sets where Read goes on.
func (b *Blob) Seek(offset int64, whence int) (int64, error) { return b.f.Seek(offset, whence) }

// Stat is the file's.
func (b *Blob) Stat() (fs.FileInfo, error) { return b.f.Stat() }

// SyscallConn is the file's.
func (b *Blob) SyscallConn() (syscall.RawConn, error) { return b.f.SyscallConn() }

// Close closes the file.
func (b *Blob) Close() error { return b.f.Close() }
