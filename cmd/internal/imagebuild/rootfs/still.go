package rootfs

import (
	"encoding/binary"
	"os"
)

var le = binary.LittleEndian

// Places of a superblock's fields, and of an inode's (Documentation/filesystems/ext4 of
// Linux), and how long they are.
var (
	superTimes = [][2]int{{0x2c, 4}, {0x30, 4}, {0x40, 4}, {0x108, 4}, {0x274, 8}, {0x178, 8}}                                        // mounted, written, checked, made, high bits, KiB written
	inodeTimes = [][2]int{{0x8, 4}, {0xc, 4}, {0x10, 4}, {0x84, 4}, {0x88, 4}, {0x8c, 4}, {0x90, 4}, {0x94, 4}, {0x7c, 2}, {0x82, 2}} // and a checksum, which counts for nothing
)

// hashSeed is where a superblock has the seed of its folders' hashes.
const hashSeed = 0xec

// still takes out of an ext4 without checksums what go-diskfs draws by itself: the times,
// and the seed of hashes, which becomes the UUID.
func still(f *os.File, id [16]byte) error {
	super := make([]byte, 1024)
	if _, err := f.ReadAt(super, 1024); err != nil {
		return err
	}
	block := int64(1024) << le.Uint32(super[0x18:])
	perGroup, first := int64(le.Uint32(super[0x20:])), int64(le.Uint32(super[0x14:]))
	blocks := int64(le.Uint32(super[0x4:]))
	groups := (blocks - first + perGroup - 1) / perGroup
	for g := range groups {
		at := (first + g*perGroup) * block
		if g == 0 {
			at = 1024
		}
		if err := stillSuper(f, at, id); err != nil {
			return err
		}
	}
	return stillInodes(f, super, groups, block, first)
}

// stillSuper does so to a superblock, where there is one.
func stillSuper(f *os.File, at int64, id [16]byte) error {
	raw := make([]byte, 1024)
	if _, err := f.ReadAt(raw, at); err != nil {
		return err
	}
	if le.Uint16(raw[0x38:]) != 0xef53 {
		return nil
	}
	zero(raw, superTimes)
	copy(raw[hashSeed:], id[:])
	_, err := f.WriteAt(raw, at)
	return err
}

// stillInodes does so to the inodes of all groups.
func stillInodes(f *os.File, super []byte, groups, block, first int64) error {
	size := int64(32)
	if le.Uint32(super[0x60:])&0x80 != 0 { // 64bit
		size = int64(le.Uint16(super[0xfe:]))
	}
	each, count := int64(le.Uint16(super[0x58:])), int64(le.Uint32(super[0x28:]))
	for g := range groups {
		entry := make([]byte, 32)
		if _, err := f.ReadAt(entry, (first+1)*block+g*size); err != nil {
			return err
		}
		table := make([]byte, each*count)
		at := int64(le.Uint32(entry[8:])) * block
		if _, err := f.ReadAt(table, at); err != nil {
			return err
		}
		for i := range count {
			zero(table[i*each:][:each], inodeTimes)
		}
		if _, err := f.WriteAt(table, at); err != nil {
			return err
		}
	}
	return nil
}

func zero(raw []byte, fields [][2]int) {
	for _, field := range fields {
		if field[0]+field[1] <= len(raw) {
			clear(raw[field[0] : field[0]+field[1]])
		}
	}
}
