package agent

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// Where a [DiskKeep] writes: two copies in the gap before the first partition, after
// all that a table or a label of a pool has there and before the mark of package
// probe.
const (
	KeepFirst  = 576 << 10
	KeepSecond = 640 << 10
	KeepSize   = 12 << 10 // of a copy; whole sectors of either size
)

const keepMagic = "ingot keep 1\r\n\x00\x00"

// keepHeader is magic (16), CRC-32 of the whole with zeros here (4), length (4),
// generation (8) and the server's UUID (16). Numbers are little-endian.
const keepHeader = 48

// A DiskKeep keeps on the disk that was written for this machine, beside the mark, so
// that an agent in memory finds its key after a restart and no filesystem shows it to
// anybody. One copy is always whole, wherever a write is cut.
type DiskKeep struct {
	Machine disklayout.UUID
	Disks   func() ([]apply.Source, error)
}

// Load looks on all disks that were written for this machine, and returns what the
// newest setup kept.
func (k DiskKeep) Load() ([]byte, error) {
	sources, err := k.Disks()
	if err != nil {
		return nil, err
	}
	var best block
	var epoch uint64
	for _, s := range sources {
		m, b, err := k.look(s)
		if err != nil || m == nil || b.text == nil {
			continue // a disk that cannot be read has no key that could be used
		}
		if best.text == nil || m.Stamp.Epoch > epoch {
			best, epoch = b, m.Stamp.Epoch
		}
	}
	return best.text, nil
}

// look reads the mark and the newest block of a disk. The mark is nil where the disk
// is not this machine's.
func (k DiskKeep) look(s apply.Source) (*probe.Mark, block, error) {
	d, err := s.Identity()
	if err != nil {
		return nil, block{}, err
	}
	r, err := s.Look()
	if err != nil {
		return nil, block{}, err
	}
	defer r.Close()
	f, err := probe.Look(r, int64(min(d.Size, disklayout.MaxSize)), d.LogicalSector)
	if err != nil || f.Mark == nil || !f.Vouched || f.Mark.Stamp.Server != k.Machine {
		return nil, block{}, err
	}
	_, newest := k.blocks(r)
	return f.Mark, newest, nil
}

// Save writes to the disk that the newest setup wrote whole. Nothing is written where
// that is not one disk.
func (k DiskKeep) Save(text []byte) error {
	if len(text) > KeepSize-keepHeader {
		return &Unkept{"it is too long", nil}
	}
	s, err := k.written()
	if err != nil {
		return err
	}
	dev, err := s.Claim()
	for range claimTries { // who looks at the new table holds the disk for a moment
		if err == nil {
			break
		}
		time.Sleep(claimWait)
		dev, err = s.Claim()
	}
	if err != nil {
		return &Unkept{"the disk cannot be claimed", err}
	}
	defer dev.Close()
	return k.write(dev, text)
}

// How often a disk that was just written is claimed again.
const (
	claimTries = 20
	claimWait  = 500 * time.Millisecond
)

// written is the disk of the newest finished setup.
func (k DiskKeep) written() (apply.Source, error) {
	sources, err := k.Disks()
	if err != nil {
		return nil, err
	}
	var best apply.Source
	var epoch uint64
	twice := false
	for _, s := range sources {
		m, _, err := k.look(s)
		if err != nil || m == nil || !m.Done || best != nil && m.Stamp.Epoch < epoch {
			continue
		}
		twice = best != nil && m.Stamp.Epoch == epoch
		best, epoch = s, m.Stamp.Epoch
	}
	switch {
	case best == nil:
		return nil, &Unkept{"no disk was written for this machine", nil}
	case twice:
		return nil, &Unkept{"two disks say that the same setup wrote them; take the copy out", nil}
	}
	return best, nil
}

// write replaces the older copy first, so that a cut leaves one that is whole, and
// believes neither before it was read back.
func (k DiskKeep) write(dev apply.Device, text []byte) error {
	older, newest := k.blocks(dev)
	b := block{newest.generation + 1, text}
	raw := b.bytes(k.Machine)
	for _, at := range []int64{older, KeepFirst + KeepSecond - older} {
		if _, err := dev.WriteAt(raw, at); err != nil {
			return &Unkept{"the disk does not take it", err}
		}
		if err := dev.Sync(); err != nil {
			return &Unkept{"it did not reach the medium", err}
		}
	}
	if err := dev.Forget(); err != nil {
		return &Unkept{"what is cached of the disk cannot be dropped", err}
	}
	got := make([]byte, KeepSize)
	for _, at := range []int64{KeepFirst, KeepSecond} {
		if _, err := dev.ReadAt(got, at); err != nil || !bytes.Equal(got, raw) {
			return &Unkept{"the disk returns something else than was written", err}
		}
	}
	return nil
}

// blocks reads both copies: where the older one is, or the one that is not whole, and
// the newest, whose text is nil where there is none.
func (k DiskKeep) blocks(r apply.Reader) (older int64, newest block) {
	older = KeepFirst
	for _, at := range []int64{KeepFirst, KeepSecond} {
		raw := make([]byte, KeepSize)
		if _, err := r.ReadAt(raw, at); err != nil {
			continue
		}
		b, ok := parseBlock(raw, k.Machine)
		if ok && (newest.text == nil || b.generation > newest.generation) {
			newest, older = b, KeepFirst+KeepSecond-at
		}
	}
	return older, newest
}

// A block is one copy.
type block struct {
	generation uint64
	text       []byte
}

func (b block) bytes(machine disklayout.UUID) []byte {
	raw := make([]byte, KeepSize)
	copy(raw, keepMagic)
	binary.LittleEndian.PutUint32(raw[20:], uint32(len(b.text)))
	binary.LittleEndian.PutUint64(raw[24:], b.generation)
	copy(raw[32:], machine[:])
	copy(raw[keepHeader:], b.text)
	binary.LittleEndian.PutUint32(raw[16:], crc32.ChecksumIEEE(raw))
	return raw
}

// parseBlock reads a copy of a machine.
func parseBlock(raw []byte, machine disklayout.UUID) (block, bool) {
	if len(raw) < KeepSize || string(raw[:16]) != keepMagic {
		return block{}, false
	}
	raw = bytes.Clone(raw[:KeepSize])
	sum, n := binary.LittleEndian.Uint32(raw[16:]), binary.LittleEndian.Uint32(raw[20:])
	clear(raw[16:20])
	if crc32.ChecksumIEEE(raw) != sum || n == 0 || n > KeepSize-keepHeader || !bytes.Equal(raw[32:48], machine[:]) {
		return block{}, false
	}
	return block{binary.LittleEndian.Uint64(raw[24:]), raw[keepHeader : keepHeader+n]}, true
}
