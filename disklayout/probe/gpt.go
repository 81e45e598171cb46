package probe

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"unicode/utf16"

	"github.com/ingotmetal/ingot/disklayout"
)

// A gpt is one copy of a GPT (UEFI specification, chapter 5).
type gpt struct {
	at, sector        int64 // of the header, bytes in the view
	sound             bool  // the header's CRC is right
	guid              disklayout.UUID
	alternate         uint64 // LBA
	entries           uint64 // LBA
	count, size, body uint32 // entries, bytes each, CRC of all
}

// readHeader reads the header at off, or returns nil where none begins. Of a
// header whose CRC is wrong only its place is known.
func readHeader(v *view, off, sector int64) *gpt {
	b := v.at(off, sector)
	if b == nil || string(b[:8]) != "EFI PART" {
		return nil
	}
	h := &gpt{at: off, sector: sector}
	n := binary.LittleEndian.Uint32(b[12:])
	if n < 92 || int64(n) > sector {
		return h
	}
	head := append([]byte(nil), b[:n]...)
	clear(head[16:20])
	if crc32.ChecksumIEEE(head) != binary.LittleEndian.Uint32(b[16:]) {
		return h
	}
	h.sound, h.guid = true, mixed(b[56:72])
	h.alternate, h.entries = binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[72:])
	h.count, h.size, h.body = binary.LittleEndian.Uint32(b[80:]), binary.LittleEndian.Uint32(b[84:]), binary.LittleEndian.Uint32(b[88:])
	return h
}

func (h *gpt) signature(v *view) disklayout.Signature {
	s := disklayout.Signature{Type: "gpt", Offset: uint64(v.base + h.at)}
	if h.sound {
		s.UUID = h.guid.String()
	}
	return s
}

// gpts looks for every copy: at both ends, in both sector sizes, and where a
// primary says that its backup is.
func (l *look) gpts(v *view) {
	for _, sector := range []int64{512, 4096} {
		first := l.gpt(v, sector, sector)
		l.gpt(v, v.size-sector, sector)
		if first != nil && first.sound && first.alternate < math.MaxInt64/4096 {
			l.gpt(v, int64(first.alternate)*sector, sector)
		}
	}
	l.entriesOf(v)
}

func (l *look) gpt(v *view, off, sector int64) *gpt {
	h := readHeader(v, off, sector)
	if h == nil || l.isTable(off) {
		return nil
	}
	l.tables = append(l.tables, *h)
	l.add(h.signature(v))
	return h
}

// entriesOf notes the partitions of every copy, those of whole ones first.
func (l *look) entriesOf(v *view) {
	for _, whole := range []bool{true, false} {
		for i := range l.tables {
			t := &l.tables[i]
			if !t.sound {
				continue
			}
			if b, ok := l.array(v, t); b != nil && ok == whole {
				l.entries(t, b)
			}
		}
	}
}

// array reads the entries of t, and whether their CRC is right.
func (l *look) array(v *view, t *gpt) ([]byte, bool) {
	n := int64(t.count) * int64(t.size)
	switch {
	case t.size < 128 || t.size%8 != 0 || n == 0:
		return nil, false
	case n > MaxTable:
		l.fail(t.at, "its GPT has more entries than one look reads", nil)
		return nil, false
	case t.entries > math.MaxInt64/4096:
		return nil, false
	}
	b := v.at(int64(t.entries)*t.sector, n)
	return b, b != nil && crc32.ChecksumIEEE(b) == t.body
}

func (l *look) entries(t *gpt, b []byte) {
	for i := range int(t.count) {
		e := b[i*int(t.size):][:128]
		first, last := binary.LittleEndian.Uint64(e[32:]), binary.LittleEndian.Uint64(e[40:])
		if typ := mixed(e[:16]); typ != (disklayout.UUID{}) && first > 0 && first <= last && last < uint64(l.reader.size/t.sector) {
			sector := uint64(t.sector)
			l.partition(disklayout.Partition{Number: uint32(i + 1), Start: first * sector, Size: (last - first + 1) * sector,
				Type: typ.String(), UUID: mixed(e[16:32]).String(), Label: wide(e[56:128], binary.LittleEndian)})
		}
	}
}

// mixed is a GUID as a GPT has it: the first three groups little-endian.
func mixed(b []byte) disklayout.UUID {
	return disklayout.UUID{b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]}
}

// wide is text in UTF-16 up to its first zero.
func wide(b []byte, order binary.ByteOrder) string {
	var units []uint16
	for ; len(b) >= 2; b = b[2:] {
		u := order.Uint16(b)
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return plain(string(utf16.Decode(units)))
}
