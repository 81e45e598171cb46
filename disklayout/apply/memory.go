package apply

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/diskfs/go-diskfs/backend"
)

// page is what memory is kept in.
const page = 4096

// A memory is a disk in memory of which the written pages are kept, for
// go-diskfs to make a filesystem in.
type memory struct {
	size  int64
	pages map[int64][]byte
	at    int64
}

func newMemory(size int64) *memory { return &memory{size: size, pages: map[int64][]byte{}} }

func (m *memory) ReadAt(b []byte, at int64) (int, error) {
	n := 0
	for n < len(b) && at < m.size {
		p, off := at/page, at%page
		k := int(min(page-off, int64(len(b)-n), m.size-at))
		if have := m.pages[p]; have != nil {
			copy(b[n:n+k], have[off:])
		} else {
			clear(b[n : n+k])
		}
		n, at = n+k, at+int64(k)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memory) WriteAt(b []byte, at int64) (int, error) {
	if at < 0 || at > m.size-int64(len(b)) {
		return 0, io.ErrShortWrite
	}
	for n := 0; n < len(b); {
		p, off := at/page, at%page
		if m.pages[p] == nil {
			m.pages[p] = make([]byte, page)
		}
		k := copy(m.pages[p][off:], b[n:])
		n, at = n+k, at+int64(k)
	}
	return len(b), nil
}

// pieceSize is how much of a memory is written at once.
const pieceSize = 1 << 20

// pieces are the written pages, moved to where the memory lies on a disk and put
// together where they touch.
func (m *memory) pieces(start uint64) pieces {
	var out pieces
	for all := slices.Sorted(maps.Keys(m.pages)); len(all) > 0; {
		n := 1
		for n < len(all) && n < pieceSize/page && all[n] == all[0]+int64(n) {
			n++
		}
		b := make([]byte, 0, n*page)
		for _, p := range all[:n] {
			b = append(b, m.pages[p]...)
		}
		at := all[0] * page
		out = append(out, piece{start + uint64(at), b[:min(int64(len(b)), m.size-at)]})
		all = all[n:]
	}
	return out
}

// The rest is what go-diskfs's backend wants beside.

func (m *memory) Read(b []byte) (int, error) {
	n, err := m.ReadAt(b, m.at)
	m.at += int64(n)
	return n, err
}

func (m *memory) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		off += m.at
	case io.SeekEnd:
		off += m.size
	}
	m.at = off
	return off, nil
}

func (m *memory) Close() error                            { return nil }
func (m *memory) Sys() (*os.File, error)                  { return nil, backend.ErrNotSuitable }
func (m *memory) Writable() (backend.WritableFile, error) { return m, nil }
func (m *memory) Path() string                            { return "" }
func (m *memory) Stat() (fs.FileInfo, error)              { return memoryInfo{m.size}, nil }

type memoryInfo struct{ size int64 }

func (i memoryInfo) Name() string     { return "memory" }
func (i memoryInfo) Size() int64      { return i.size }
func (memoryInfo) Mode() fs.FileMode  { return 0 }
func (memoryInfo) ModTime() time.Time { return time.Time{} }
func (memoryInfo) IsDir() bool        { return false }
func (memoryInfo) Sys() any           { return nil }
