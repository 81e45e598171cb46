package images

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// chunk is how much is read at a time.
const chunk = 1 << 20

// copy copies and hashes the file i of the draft, and states what it is.
func (w *staging) copy(i int) error {
	f := &w.m.Files[i]
	src, err := w.source(f.Name)
	if err != nil {
		return &Unreadable{f.Name, err}
	}
	defer src.Close()
	to, err := w.create(i)
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := w.pour(to, src, sum, f)
	if err != nil {
		_ = to.Close()
		return err
	}
	if err := w.end(to, nil); err != nil {
		return err
	}
	return f.state(n, hex.EncodeToString(sum.Sum(nil)))
}

// state sets what was not stated, and refuses what was stated otherwise.
func (f *File) state(size int64, sum string) error {
	switch {
	case size == 0:
		return &Unreadable{f.Name, errors.New("it is empty")}
	case f.Size != 0 && f.Size != size:
		return &Mismatch{f.Name, "size", fmt.Sprint(f.Size), fmt.Sprint(size)}
	case f.SHA256 != "" && f.SHA256 != sum:
		return &Mismatch{f.Name, "sha256", f.SHA256, sum}
	}
	f.Size, f.SHA256 = size, sum
	return nil
}

// source opens where a file comes from.
func (w *staging) source(name string) (io.ReadCloser, error) {
	s := w.sources[name]
	if s.Reader != nil {
		return io.NopCloser(s.Reader), nil
	}
	return os.Open(s.Path)
}

// measure is the sum of the sizes, as far as they can be known before, or 0.
func (w *staging) measure() (sum int64) {
	for _, f := range w.m.Files {
		size := f.Size
		if s := w.sources[f.Name]; size == 0 && s.Reader == nil {
			if fi, err := os.Stat(s.Path); err == nil && fi.Mode().IsRegular() {
				size = fi.Size()
			}
		}
		if size == 0 {
			return 0
		}
		sum += size
	}
	return sum
}

// pour copies src to its end, or to one byte after the most that f may have.
func (w *staging) pour(to io.Writer, src io.Reader, sum hash.Hash, f *File) (n int64, err error) {
	most := f.Size
	if most == 0 {
		most = MaxSize
	}
	buf := make([]byte, chunk)
	for {
		k, err := read(w.ctx, src, buf)
		n += int64(k)
		if n > most {
			return n, &Mismatch{f.Name, "size", fmt.Sprint(most), fmt.Sprintf("%d or more", n)}
		}
		sum.Write(buf[:k])
		if _, bad := to.Write(buf[:k]); bad != nil {
			return n, w.failed(bad)
		}
		if w.done += int64(k); w.progress != nil {
			w.progress(Progress{w.m.Name, f.Name, w.done, w.total})
		}
		switch {
		case w.ctx.Err() != nil: // before an end, which the end of ctx may have made
			return n, context.Cause(w.ctx)
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, &Unreadable{f.Name, err}
		}
	}
}

// read fills buf as far as it goes. At the end of src the error is io.EOF.
func read(ctx context.Context, src io.Reader, buf []byte) (int, error) {
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(src, buf)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
