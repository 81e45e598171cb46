package apply_test

import (
	"errors"
	"io"
	"maps"
	"math/rand/v2"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

var errCut = errors.New("the power is gone")

// A fake is a disk in memory. Writes reach its medium when it is synced, or
// when it pleases; cut at a write, it keeps some of what was not synced.
type fake struct {
	disk    disklayout.Disk
	medium  map[int64][]byte // sectors that were ever written
	pending []write
	writes  int
	cut     int        // the write before which the power goes; negative: never
	mode    cutMode    // what becomes of that write and the unsynced ones
	rng     *rand.Rand // decides it
	broken  error      // of the medium: each write from the cut on fails, reads do not
	dead    bool
	held    bool
	lies    int64 // a byte that is never read as it was written; 0: none
	rereads int
	stale   error // of the kernel, that does not take a table
}

type write struct {
	at int64
	b  []byte
}

type cutMode int

const (
	whole cutMode = iota // all before it is on the medium, nothing of it
	torn                 // and the first sectors of it
	lost                 // of the unsynced sectors some, in any order, and some of its
)

func newFake(d disklayout.Disk) *fake {
	return &fake{disk: d, medium: map[int64][]byte{}, cut: -1, rng: rand.New(rand.NewPCG(1, 2))}
}

// copy is another disk with the same medium.
func (f *fake) copy() *fake {
	g := newFake(f.disk)
	g.medium = maps.Clone(f.medium) // sectors are never changed in place
	return g
}

func (f *fake) sector() int64 { return int64(f.disk.LogicalSector) }

func (f *fake) Identity() (disklayout.Disk, error) { return f.disk, nil }
func (f *fake) Look() (apply.Reader, error)        { return f, nil }

func (f *fake) Claim() (apply.Device, error) {
	if f.held {
		return nil, errors.New("device or resource busy")
	}
	f.held = true
	return f, nil
}

func (f *fake) Close() error {
	f.held = false
	return nil
}

func (f *fake) ReadAt(b []byte, at int64) (int, error) {
	n := len(b)
	if at+int64(n) > int64(f.disk.Size) {
		return 0, io.EOF
	}
	if f.dead {
		return 0, errCut
	}
	clear(b)
	s := f.sector()
	for p := at / s * s; p < at+int64(n); p += s {
		if have := f.medium[p]; have != nil {
			lo, hi := max(p, at), min(p+s, at+int64(n))
			copy(b[lo-at:hi-at], have[lo-p:hi-p])
		}
	}
	for _, w := range f.pending {
		lo, hi := max(w.at, at), min(w.at+int64(len(w.b)), at+int64(n))
		if lo < hi {
			copy(b[lo-at:hi-at], w.b[lo-w.at:hi-w.at])
		}
	}
	if f.lies > 0 && f.lies >= at && f.lies < at+int64(n) {
		b[f.lies-at] ^= 1
	}
	return n, nil
}

func (f *fake) WriteAt(b []byte, at int64) (int, error) {
	s := f.sector()
	if at < 0 || at%s != 0 || int64(len(b))%s != 0 || at+int64(len(b)) > int64(f.disk.Size) {
		return 0, errors.New("a write that is no whole sectors of this disk")
	}
	if f.dead {
		return 0, errCut
	}
	f.writes++
	w := write{at, append([]byte(nil), b...)}
	if f.cut >= 0 && f.writes > f.cut {
		if f.broken != nil {
			return 0, f.broken
		}
		f.die(w)
		return 0, errCut
	}
	f.pending = append(f.pending, w)
	return len(b), nil
}

// die is the power going.
func (f *fake) die(w write) {
	f.dead = true
	switch f.mode {
	case torn:
		f.settle(w.first(f.rng.Int64N(int64(len(w.b))/f.sector()+1) * f.sector()))
	case lost:
		all := f.pending
		f.pending = nil
		for _, p := range append(all, w) {
			for at := int64(0); at < int64(len(p.b)); at += f.sector() {
				if f.rng.IntN(2) == 0 {
					f.settle(write{p.at + at, p.b[at : at+f.sector()]})
				}
			}
		}
	default:
		f.settle(write{})
	}
}

func (w write) first(n int64) write { return write{w.at, w.b[:n]} }

// settle puts what is pending on the medium, and w after it.
func (f *fake) settle(w write) {
	s := f.sector()
	for _, p := range append(f.pending, w) {
		for at := int64(0); at < int64(len(p.b)); at += s {
			f.medium[p.at+at] = p.b[at : at+s]
		}
	}
	f.pending = nil
}

func (f *fake) Sync() error {
	if f.dead {
		return errCut
	}
	f.settle(write{})
	return nil
}

func (f *fake) Forget() error { return nil }

func (f *fake) Reread() error {
	f.rereads++
	return f.stale
}

// plant writes to the medium as somebody else did before.
func (f *fake) plant(at int64, what string) {
	s := f.sector()
	for i := range len(what) {
		p := (at + int64(i)) / s * s
		sector := make([]byte, s)
		copy(sector, f.medium[p])
		sector[at+int64(i)-p] = what[i]
		f.medium[p] = sector
	}
}

// again is the power coming back.
func (f *fake) again() {
	f.dead, f.held, f.cut, f.writes, f.pending = false, false, -1, 0, nil
}
