package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall"
)

// A writer writes one claimed disk, within its bounds.
type writer struct {
	ctx     context.Context
	dev     Device
	disk    string // serial
	size    uint64
	written uint64
	step    Step
	buf     []byte
}

// put writes a piece. Nothing is written once the context ended.
func (w *writer) put(p piece) error {
	if err := w.ctx.Err(); err != nil {
		return w.failed(Canceled, "it was ended", err)
	}
	if p.at > w.size || uint64(len(p.bytes)) > w.size-p.at {
		return w.failed(DeviceFailed, fmt.Sprintf("bytes %d to %d are not on the disk", p.at, p.end()), nil)
	}
	n, err := w.dev.WriteAt(p.bytes, int64(p.at))
	w.written += uint64(max(n, 0))
	if err != nil || n != len(p.bytes) {
		return w.failed(DeviceFailed, fmt.Sprintf("writing %d bytes at byte %d failed%s", len(p.bytes), p.at, full(err)), err)
	}
	return nil
}

// full says where the room ended: under a file that plays a disk.
func full(err error) string {
	if errors.Is(err, syscall.ENOSPC) {
		return ", for want of room under it"
	}
	return ""
}

// putSynced writes pieces and has them on the medium.
func (w *writer) putSynced(ps ...piece) error {
	for _, p := range ps {
		if err := w.put(p); err != nil {
			return err
		}
	}
	return w.sync()
}

func (w *writer) sync() error {
	if err := w.dev.Sync(); err != nil {
		return w.failed(DeviceFailed, "what was written did not reach the medium"+full(err), err)
	}
	return nil
}

func (w *writer) forget() error {
	if err := w.dev.Forget(); err != nil {
		return w.failed(DeviceFailed, "what is cached of it cannot be dropped", err)
	}
	return nil
}

// buffer is memory for one read or write.
func (w *writer) buffer() []byte {
	if w.buf == nil {
		w.buf = make([]byte, imageChunk)
	}
	return w.buf
}

// same compares a piece with the disk.
func (w *writer) same(p piece) error {
	b := make([]byte, len(p.bytes))
	if len(b) <= len(w.buffer()) {
		b = w.buf[:len(b)]
	}
	if n, err := w.dev.ReadAt(b, int64(p.at)); n < len(b) {
		return w.failed(DeviceFailed, fmt.Sprintf("reading %d bytes at byte %d failed", len(b), p.at), err)
	}
	if !bytes.Equal(b, p.bytes) {
		return w.failed(ReadBack, fmt.Sprintf("the %d bytes at byte %d are not those that were written", len(b), p.at), nil)
	}
	return nil
}

func (w *writer) failed(r Reason, why string, err error) error {
	return &Failed{r, w.step, w.disk, why, err}
}
