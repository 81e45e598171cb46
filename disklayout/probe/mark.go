package probe

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/ingotmetal/ingot/disklayout"
)

// Where a mark is, how long, and what its signature is called.
const (
	MarkOffset = 768 << 10
	MarkSize   = 512
	MarkType   = "ingot_stamp"
)

// MaxMarked is how many partitions a mark names.
const MaxMarked = 8

const markMagic = "ingot stamp 1\r\n\x00"

// A Mark is what lies beside a GPT of ours and says whose it is; see the
// package's comment.
type Mark struct {
	Stamp disklayout.Stamp
	Disk  disklayout.UUID   // the GPT's disk GUID
	Plan  disklayout.Digest // of the plan that is written
	Parts []Place           // at most MaxMarked
	Done  bool              // written, and read back as it should be
}

// A Place is a range of bytes from a disk's start.
type Place struct{ Start, Size uint64 }

// Bytes is the mark as it lies on a disk, MarkSize bytes: magic (16), CRC-32 of
// the whole with zeros here (4), length of the stamp's text (2), done (1), number
// of partitions (1), GUID (16), digest (32), start and size of each (16), and
// from byte 200 the stamp's text. Numbers are little-endian. A mark of over
// MaxMarked partitions is nil.
func (m *Mark) Bytes() []byte {
	if len(m.Parts) > MaxMarked {
		return nil
	}
	b := make([]byte, MarkSize)
	text := m.Stamp.String()
	copy(b, markMagic)
	binary.LittleEndian.PutUint16(b[20:], uint16(len(text)))
	if m.Done {
		b[22] = 1
	}
	b[23] = byte(len(m.Parts))
	copy(b[24:], m.Disk[:])
	copy(b[40:], m.Plan[:])
	for i, p := range m.Parts {
		binary.LittleEndian.PutUint64(b[72+16*i:], p.Start)
		binary.LittleEndian.PutUint64(b[80+16*i:], p.Size)
	}
	copy(b[200:], text)
	binary.LittleEndian.PutUint32(b[16:], crc32.ChecksumIEEE(b))
	return b
}

// ParseMark reads a mark, or returns nil where there is none.
func ParseMark(b []byte) *Mark {
	if len(b) < MarkSize || string(b[:16]) != markMagic {
		return nil
	}
	b = append([]byte(nil), b[:MarkSize]...)
	sum := binary.LittleEndian.Uint32(b[16:])
	clear(b[16:20])
	n, parts := int(binary.LittleEndian.Uint16(b[20:])), int(b[23])
	if crc32.ChecksumIEEE(b) != sum || n > MarkSize-200 || parts > MaxMarked {
		return nil
	}
	m := &Mark{Disk: disklayout.UUID(b[24:40]), Plan: disklayout.Digest(b[40:72]), Done: b[22] == 1}
	var ok bool
	if m.Stamp, ok = parseStamp(string(b[200 : 200+n])); !ok {
		return nil
	}
	for i := range parts {
		m.Parts = append(m.Parts, Place{binary.LittleEndian.Uint64(b[72+16*i:]), binary.LittleEndian.Uint64(b[80+16*i:])})
	}
	return m
}

// parseStamp reads what Stamp.String wrote.
func parseStamp(text string) (disklayout.Stamp, bool) {
	var s disklayout.Stamp
	server, epoch, dated := strings.Cut(text, "/")
	if s.Server.UnmarshalText([]byte(server)) != nil {
		return s, false
	}
	if dated {
		n, err := strconv.ParseUint(epoch, 10, 64)
		if err != nil {
			return s, false
		}
		s.Epoch = n
	}
	return s, s.String() == text
}

func readMark(v *view) *Mark { return ParseMark(v.at(MarkOffset, MarkSize)) }

// vouch gives the mark's stamp to what is of its layout.
func (l *look) vouch() {
	if l.mark == nil || l.other {
		return
	}
	var own []span
	for _, p := range l.mark.Parts {
		if p.Start < 1<<62 && p.Size < 1<<62 {
			own = append(own, span{int64(p.Start), int64(p.Size)})
		}
	}
	for i := range l.tables {
		if t := &l.tables[i]; t.sound && t.guid != l.mark.Disk {
			return // somebody else's table
		}
	}
	l.vouched = true
	own = append(own, l.places...)
	text := l.mark.Stamp.String()
	for i := range l.sigs {
		s := &l.sigs[i]
		if s.Type == "gpt" && l.isTable(int64(s.Offset)) {
			s.Stamp = text
		}
		for _, p := range own {
			if p.holds(int64(s.Offset)) {
				s.Stamp = text
			}
		}
	}
}

// isTable reports whether one of the disk's own tables has its header at off.
func (l *look) isTable(off int64) bool {
	for i := range l.tables {
		if l.tables[i].at == off {
			return true
		}
	}
	return false
}
