package bolt

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ingotmetal/ingot/statemachine/journal"
)

// A mark is the newest head that was acknowledged, kept outside of the database. It
// has two places, written in turn, so that a torn write leaves the head before.
// Each is: label (8 bytes), revision (64 bits), hash (32 bytes), and the first 16
// bytes of the SHA-256 of these. What it says is durable in the database; it may
// itself be up to a second behind after a loss of power.
const (
	markLabel = "ingotmk1"
	markBody  = len(markLabel) + 8 + len(journal.Hash{})
	markSize  = markBody + 16
	markStep  = 4096 // from one place to the other: never in one sector
	markSync  = time.Second
)

// Found is what Open found in the place of the mark.
type Found string

// The states of a mark. Missing and torn ones are made anew from the file, whose
// last commits are then unproven: find out why.
const (
	MarkKept    Found = "kept"    // it was there, and the file has what it names
	MarkNew     Found = "new"     // so is the store
	MarkMissing Found = "missing" // there was none, though the store is older
	MarkTorn    Found = "torn"    // neither of its places could be read
	MarkReset   Found = "reset"   // Options.ResetMark
	MarkUnused  Found = "unused"  // Options.NoSync
)

func encodeMark(h journal.Head) []byte {
	b := append(make([]byte, 0, markSize), markLabel...)
	b = binary.BigEndian.AppendUint64(b, h.Revision)
	b = append(b, h.Hash[:]...)
	sum := sha256.Sum256(b)
	return append(b, sum[:markSize-markBody]...)
}

func decodeMark(b []byte) (h journal.Head, ok bool) {
	if len(b) != markSize || !bytes.HasPrefix(b, []byte(markLabel)) {
		return h, false
	}
	copy(h.Hash[:], b[len(markLabel)+8:])
	h.Revision = binary.BigEndian.Uint64(b[len(markLabel):])
	return h, bytes.Equal(b, encodeMark(h))
}

// readMark returns the newest head of a mark, and the place that may be written
// next.
func readMark(path string) (h journal.Head, next int, found Found, err error) {
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h, 0, MarkMissing, nil
	case err != nil:
		return h, 0, "", &Refused{Path: path, Why: "cannot be read", Next: "mend that, or name another mark", Err: err}
	}
	found = MarkTorn
	for place := range 2 {
		at := place * markStep
		if len(raw) < at+markSize {
			break
		}
		if m, ok := decodeMark(raw[at : at+markSize]); ok && (found == MarkTorn || m.Revision > h.Revision) {
			h, next, found = m, 1-place, MarkKept
		}
	}
	return h, next, found, nil
}

// mark keeps a mark current. Its goroutine syncs it, at most once a second.
type mark struct {
	f       *os.File
	place   int
	written chan struct{} // holds one while something is not synced
	stop    chan struct{}
	done    chan struct{}

	mu  sync.Mutex
	err error // the newest write or sync failed so
}

// newMark makes a mark anew, whole or not at all.
func newMark(path string, h journal.Head) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	for place := range 2 {
		if _, err := tmp.WriteAt(encodeMark(h), int64(place*markStep)); err != nil {
			return err
		}
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(path)
}

// openMark begins to keep a mark whose place may be written.
func openMark(path string, place int) (*mark, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	m := &mark{f: f, place: place, written: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go m.run()
	return m, nil
}

// set writes h, which is durable in the database. A mark that cannot be written
// stays behind, which is safe; see Stats.MarkErr.
func (m *mark) set(h journal.Head) {
	if m == nil {
		return
	}
	_, err := m.f.WriteAt(encodeMark(h), int64(m.place*markStep))
	m.place = 1 - m.place
	m.note(err)
	select {
	case m.written <- struct{}{}:
	default:
	}
}

func (m *mark) note(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// trouble is why the mark is behind.
func (m *mark) trouble() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

func (m *mark) run() {
	defer close(m.done)
	for {
		select {
		case <-m.stop:
			return
		case <-m.written:
		}
		if err := m.f.Sync(); err != nil {
			m.note(err)
		}
		pause := time.NewTimer(markSync)
		select {
		case <-m.stop:
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// close syncs the mark a last time. Nothing may be set any more.
func (m *mark) close() error {
	if m == nil {
		return nil
	}
	close(m.stop)
	<-m.done
	return errors.Join(m.f.Sync(), m.f.Close())
}

// syncDir makes the name of path durable.
func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
