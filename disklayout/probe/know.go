package probe

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

var le = binary.LittleEndian

// labelled takes a UUID and a label of n bytes from fixed places.
func labelled(id, label, n int64) knower {
	return func(v *view, _ int64) (detail, bool) {
		d := detail{uuid: uuid(v.at(id, 16))}
		if n > 0 {
			d.label = text(v.at(label, n))
		}
		return d, true
	}
}

// ext tells ext2, ext3, ext4 and an external journal apart by their features.
func ext(v *view, _ int64) (detail, bool) {
	b := v.at(1024, 264)
	if b == nil || le.Uint32(b[24:]) > 6 || le.Uint32(b) == 0 && le.Uint32(b[4:]) == 0 { // block size, inodes and blocks
		return detail{}, false
	}
	d := detail{typ: "ext2", uuid: uuid(b[104:120]), label: text(b[120:136])}
	compat, incompat, readonly := le.Uint32(b[92:]), le.Uint32(b[96:]), le.Uint32(b[100:])
	switch {
	case incompat&8 != 0:
		d.typ = "jbd"
	case incompat&^0x16 != 0 || readonly&^7 != 0: // more than ext3 knows
		d.typ = "ext4"
	case compat&4 != 0:
		d.typ = "ext3"
	}
	return d, true
}

func xfs(v *view, _ int64) (detail, bool) {
	b := v.at(0, 120)
	if b == nil {
		return detail{}, true
	}
	return detail{uuid: uuid(b[32:48]), label: text(b[108:120])}, true
}

func btrfs(v *view, off int64) (detail, bool) {
	base := off - 0x40
	return detail{uuid: uuid(v.at(base+0x20, 16)), label: text(v.at(base+0x12b, 256))}, true
}

func fat32(v *view, _ int64) (detail, bool) { return fatDetail(v, 67, 71) }
func fat16(v *view, _ int64) (detail, bool) { return fatDetail(v, 39, 43) }

func fatDetail(v *view, serial, label int64) (detail, bool) {
	b := v.at(0, 512)
	if b == nil {
		return detail{}, true
	}
	d := detail{uuid: volume(b[serial:]), label: text(b[label : label+11])}
	if d.label == "NO NAME" {
		d.label = ""
	}
	return d, true
}

// fatBare is a FAT without its text: its parameters must be those of one.
func fatBare(v *view, _ int64) (detail, bool) {
	b := v.at(0, 512)
	if b == nil || !fatBlock(b) || fatNamed(b) {
		return detail{}, false
	}
	return detail{}, true
}

func fatNamed(b []byte) bool {
	for _, t := range []string{string(b[82:90]), string(b[54:62])} {
		if t == "FAT32   " || t == "FAT16   " || t == "FAT12   " || t == "FAT     " || t[:5] == "MSWIN" || t[:5] == "MSDOS" {
			return true
		}
	}
	return false
}

// fatBlock reports whether a boot sector has the parameters of a FAT.
func fatBlock(b []byte) bool {
	sector, cluster, media := le.Uint16(b[11:]), b[13], b[21]
	return sector >= 512 && sector <= 4096 && bits.OnesCount16(sector) == 1 && bits.OnesCount8(cluster) == 1 &&
		le.Uint16(b[14:]) != 0 && b[16] != 0 && (media >= 0xf8 || media == 0xf0) && string(b[54:62]) != "JFS     " && string(b[54:62]) != "HPFS    "
}

func ntfs(v *view, _ int64) (detail, bool) {
	b := v.at(72, 8)
	if b == nil {
		return detail{}, true
	}
	return detail{uuid: fmt.Sprintf("%016X", le.Uint64(b))}, true
}

func iso(v *view, _ int64) (detail, bool) { return detail{label: text(v.at(0x8000+40, 32))}, true }

// nilfs has a magic of two bytes; its revision and length are known.
func nilfs(v *view, off int64) (detail, bool) {
	b := v.at(off-6, 168)
	if b == nil || le.Uint32(b) != 2 || le.Uint16(b[8:]) < 64 || le.Uint16(b[8:]) > 1024 {
		return detail{}, false
	}
	return detail{uuid: uuid(b[152:168])}, true
}

func gfs(v *view, _ int64) (detail, bool) {
	b := v.at(64*kib, 32)
	if b != nil && binary.BigEndian.Uint32(b[24:]) == 1309 {
		return detail{typ: "gfs"}, true
	}
	return detail{}, true
}

// hfs has a magic of two bytes; its version is 4 or 5.
func hfs(v *view, _ int64) (detail, bool) {
	b := v.at(1024, 48)
	if b == nil {
		return detail{}, false
	}
	version, block := binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint32(b[40:])
	return detail{}, (version == 4 || version == 5) && block >= 512 && bits.OnesCount32(block) == 1
}

func luks(v *view, off int64) (detail, bool) {
	d := detail{uuid: text(v.at(off+168, 40))}
	if b := v.at(off+6, 2); b != nil && binary.BigEndian.Uint16(b) == 2 {
		d.label = text(v.at(off+24, 48))
	}
	return d, true
}

// lvm has a UUID of its own alphabet, in groups of 6, 4, 4, 4, 4, 4 and 6.
func lvm(v *view, off int64) (detail, bool) {
	b := text(v.at(off+8, 32))
	if len(b) != 32 {
		return detail{}, true
	}
	id := b[:6]
	for i := 6; i < 26; i += 4 {
		id += "-" + b[i:i+4]
	}
	return detail{uuid: id + "-" + b[26:]}, true
}

func raid0(v *view, off int64) (detail, bool) {
	b := v.at(off, 64)
	if b == nil {
		return detail{}, true
	}
	words := [4]uint32{le.Uint32(b[20:]), le.Uint32(b[52:]), le.Uint32(b[56:]), le.Uint32(b[60:])}
	var id []byte
	for _, w := range words {
		id = le.AppendUint32(id, w)
	}
	return detail{uuid: uuid(id)}, true
}

func raid1(v *view, off int64) (detail, bool) {
	return detail{uuid: uuid(v.at(off+16, 16)), label: text(v.at(off+32, 32))}, true
}

// jmicron has a magic of two bytes; the sum of its words is 0 or 1.
func jmicron(v *view, off int64) (detail, bool) {
	b := v.at(off, 128)
	if b == nil {
		return detail{}, false
	}
	sum := uint16(0)
	for i := 0; i < len(b); i += 2 {
		sum += le.Uint16(b[i:])
	}
	return detail{}, sum <= 1
}

// silicon has a magic of one byte and three zeros; its checksum must be right.
func silicon(v *view, off int64) (detail, bool) {
	b := v.at(off-0x60, 512)
	if b == nil || b[0x116] >= 8 {
		return detail{}, false
	}
	sum := uint16(0)
	for i := 0; i < 0x13e; i += 2 {
		sum += le.Uint16(b[i:])
	}
	return detail{}, -sum == le.Uint16(b[0x13e:])
}

// minix has a magic of two bytes; its bitmaps must be large enough for what it
// counts.
func minix(v *view, _ int64) (detail, bool) {
	b := v.at(1024, 32)
	if b == nil {
		return detail{}, false
	}
	inodes, zones, first := uint32(le.Uint16(b)), uint32(le.Uint16(b[2:])), uint32(le.Uint16(b[8:]))
	if zones == 0 { // the second version counts elsewhere
		zones = le.Uint32(b[20:])
	}
	imap, zmap := uint32(le.Uint16(b[4:])), uint32(le.Uint16(b[6:]))
	return detail{}, inodes > 0 && first < zones && le.Uint16(b[10:]) == 0 && imap*8192 > inodes && zmap > 0 && le.Uint16(b[18:]) <= 3
}

func minix3(v *view, _ int64) (detail, bool) {
	b := v.at(1024, 32)
	return detail{}, b != nil && le.Uint32(b) > 0 && le.Uint32(b[20:]) > uint32(le.Uint16(b[10:])) && le.Uint16(b[6:]) > 0 && le.Uint16(b[28:]) >= 1024
}

// mac has a map of its partitions in the next sector.
func mac(v *view, _ int64) (detail, bool) {
	b := v.at(0, 4)
	return detail{}, b != nil && (v.has(512, "PM") || v.has(int64(binary.BigEndian.Uint16(b[2:])), "PM"))
}

// sun has a label whose words cancel each other out.
func sun(v *view, _ int64) (detail, bool) {
	b := v.at(0, 512)
	if b == nil {
		return detail{}, false
	}
	sum := uint16(0)
	for i := 0; i < 512; i += 2 {
		sum ^= binary.BigEndian.Uint16(b[i:])
	}
	return detail{}, sum == 0
}
