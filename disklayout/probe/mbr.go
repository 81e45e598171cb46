package probe

import (
	"encoding/binary"
	"fmt"

	"github.com/ingotmetal/ingot/disklayout"
)

const bootMark = 510 // where a boot sector has 55 AA

// mbr looks for a table of the MBR kind: dos, or PMBR where a protective one
// stands without its GPT. A boot sector that is a filesystem's is no table.
func (l *look) mbr(v *view, whole bool) {
	b := v.at(0, 512)
	if b == nil || b[510] != 0x55 || b[511] != 0xaa || bootSector(b) {
		return
	}
	b = append([]byte(nil), b...)
	protective := false
	for i := range 4 {
		e := b[446+16*i:]
		if e[0] != 0 && e[0] != 0x80 {
			return // no table: boot code
		}
		protective = protective || e[4] == 0xee
	}
	at := uint64(v.base + bootMark)
	switch {
	case protective && whole && len(l.tables) > 0:
	case protective:
		l.add(disklayout.Signature{Type: "PMBR", Offset: at})
		l.other = l.other || whole
	default:
		id := binary.LittleEndian.Uint32(b[440:])
		l.add(disklayout.Signature{Type: "dos", Offset: at, UUID: fmt.Sprintf("%08x", id)})
		if whole {
			l.other = true
			l.primaries(v, b, id)
		}
	}
}

// bootSector reports whether a sector with 55 AA begins a filesystem.
func bootSector(b []byte) bool {
	switch string(b[3:11]) {
	case "NTFS    ", "EXFAT   ", "-FVE-FS-":
		return true
	}
	return fatBlock(b)
}

// primaries notes the partitions of an MBR, logical ones too.
func (l *look) primaries(v *view, b []byte, id uint32) {
	logical := uint32(5)
	for i := range 4 {
		typ, first, size := primary(b, i)
		switch {
		case size == 0 || typ == 0:
		case typ == 5 || typ == 0x0f || typ == 0x85:
			logical = l.logicals(v, first, id, logical)
		default:
			l.legacy(uint32(i+1), typ, first, size, id)
		}
	}
}

// logicals follows the chain of an extended partition, as long as it leads
// forward, and not too far.
func (l *look) logicals(v *view, start uint64, id, number uint32) uint32 {
	at := start
	for range 2 * MaxPartitions {
		b := v.at(int64(at)*l.sector, 512)
		if b == nil || b[510] != 0x55 || b[511] != 0xaa {
			return number
		}
		if typ, first, size := primary(b, 0); size != 0 {
			l.legacy(number, typ, at+first, size, id)
			number++
		}
		_, next, size := primary(b, 1)
		if size == 0 || start+next <= at {
			return number
		}
		at = start + next
	}
	l.fail(int64(at)*l.sector, "its chain of logical partitions is too long", nil)
	return number
}

func primary(b []byte, i int) (typ byte, first, size uint64) {
	e := b[446+16*i:]
	return e[4], uint64(binary.LittleEndian.Uint32(e[8:])), uint64(binary.LittleEndian.Uint32(e[12:]))
}

// legacy notes a partition that lies on the disk, cut at its end.
func (l *look) legacy(number uint32, typ byte, first, size uint64, id uint32) {
	start := int64(first) * l.sector
	if start == 0 || start >= l.reader.size {
		return
	}
	l.partition(disklayout.Partition{Number: number, Start: uint64(start), Size: uint64(min(int64(size)*l.sector, l.reader.size-start)),
		Type: fmt.Sprintf("0x%02x", typ), UUID: fmt.Sprintf("%08x-%02x", id, number)})
}
