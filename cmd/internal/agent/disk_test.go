package agent_test

import (
	"errors"
	"io"
	"sync"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
)

const mib = disklayout.MiB

var (
	errDead = errors.New("the power is gone")
	no      = false
)

// A disk is in memory. What is written reaches the medium at once, and what a life of
// the machine that is over writes reaches nothing.
type disk struct {
	mu     sync.Mutex
	disk   disklayout.Disk
	medium map[int64][]byte // sectors that were ever written
	writes int
	held   int                 // life that holds it; 0: nobody
	life   int                 // of the machine
	torn   int                 // sectors until the power goes, and one; 0: it stays
	lies   int64               // a byte that is not read as it was written; 0: none
	wrote  func(at int64) bool // before each write, and with -1 before each sync: false cuts the power
}

func newDisk(serial string) *disk {
	return &disk{medium: map[int64][]byte{}, life: 1, disk: disklayout.Disk{Name: "sd" + serial, Serial: serial, Model: "M", Size: 64 * mib, LogicalSector: 512, PhysicalSector: 512,
		Rotational: &no, Transport: "sata"}}
}

// A handle is the disk as one life of the machine sees it.
type handle struct {
	*disk
	mine int
}

func (h handle) Identity() (disklayout.Disk, error) { return h.disk.disk, nil }
func (h handle) Look() (apply.Reader, error)        { return reader{h}, nil }

// reader is a handle that holds nothing.
type reader struct{ handle }

func (reader) Close() error { return nil }

func (h handle) Claim() (apply.Device, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == h.mine {
		return nil, errors.New("device or resource busy")
	}
	h.held = h.mine
	return h, nil
}

func (h handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == h.mine {
		h.held = 0
	}
	return nil
}

func (h handle) ReadAt(b []byte, at int64) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at < 0 || at+int64(len(b)) > int64(h.disk.disk.Size) {
		return 0, io.EOF
	}
	clear(b)
	for p := at / 512 * 512; p < at+int64(len(b)); p += 512 {
		if have := h.medium[p]; have != nil {
			lo, hi := max(p, at), min(p+512, at+int64(len(b)))
			copy(b[lo-at:hi-at], have[lo-p:hi-p])
		}
	}
	if h.lies > 0 && h.lies >= at && h.lies < at+int64(len(b)) {
		b[h.lies-at] ^= 1
	}
	return len(b), nil
}

func (h handle) alive(at int64) error {
	if h.wrote != nil && h.mine == h.life && !h.wrote(at) || h.mine != h.life {
		return errDead
	}
	return nil
}

func (h handle) WriteAt(b []byte, at int64) (int, error) {
	if at%512 != 0 || len(b)%512 != 0 || at+int64(len(b)) > int64(h.disk.disk.Size) {
		return 0, errors.New("a write that is no whole sectors of this disk")
	}
	if err := h.alive(at); err != nil {
		return 0, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes++
	for i := 0; i < len(b); i += 512 {
		if h.torn == 1 {
			return i, errDead
		}
		h.torn = max(h.torn-1, 0)
		h.medium[at+int64(i)] = append([]byte(nil), b[i:i+512]...)
	}
	return len(b), nil
}

func (h handle) Sync() error   { return h.alive(-1) }
func (h handle) Forget() error { return nil }
func (h handle) Reread() error { return nil }

// A machine is one life of a machine.
type machine struct {
	disk    *disk
	life    int
	set     func(at string) // of clock and restart
	clock   error
	facts   map[string]any
	restart func() error
}

const (
	uuid = "4c4c4544-0042-3510-8054-b7c04f4c4231"
	mac  = "02:00:00:00:00:01"
)
