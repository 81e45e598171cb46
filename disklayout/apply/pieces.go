package apply

import (
	"cmp"
	"io"
	"slices"
)

// A piece is bytes at a place of a disk.
type piece struct {
	at    uint64
	bytes []byte
}

func (p *piece) end() uint64 { return p.at + uint64(len(p.bytes)) }

// pieces read as a disk that is zero elsewhere. They are in order.
type pieces []piece

func (ps pieces) sorted() pieces {
	return slices.SortedFunc(slices.Values(ps), func(a, b piece) int { return cmp.Compare(a.at, b.at) })
}

// ReadAt never ends: the size is for whoever asks to know.
func (ps pieces) ReadAt(b []byte, at int64) (int, error) {
	if at < 0 {
		return 0, io.EOF
	}
	clear(b)
	from, to := uint64(at), uint64(at)+uint64(len(b))
	for i := range ps {
		p := &ps[i]
		if lo, hi := max(from, p.at), min(to, p.end()); lo < hi {
			copy(b[lo-from:hi-from], p.bytes[lo-p.at:])
		}
	}
	return len(b), nil
}

// overlaps reports whether two pieces share a byte.
func (ps pieces) overlaps() bool {
	for i := 1; i < len(ps); i++ {
		if ps[i].at < ps[i-1].end() {
			return true
		}
	}
	return false
}
