package probe

import (
	"encoding/binary"
	"strconv"

	"github.com/ingotmetal/ingot/disklayout"
)

// A ZFS label: 256 KiB, with the list of names and values at 16 KiB and the
// uberblocks at 128 KiB, each 1 KiB or more.
const (
	zfsLabel  = 256 << 10
	zfsValues = 16 << 10
	zfsUber   = 128 << 10
)

// pools looks at the four places of a ZFS label. One that has lost its names
// still has its uberblocks, and zpool can still import it.
func (l *look) pools(v *view) {
	if v.size < 2*zfsLabel {
		return
	}
	end := v.size / zfsLabel * zfsLabel
	for _, at := range []int64{0, zfsLabel, end - 2*zfsLabel, end - zfsLabel} {
		s := disklayout.Signature{Type: "zfs_member", Offset: uint64(v.base + at)}
		values := zfsNames(v, at+zfsValues, &s)
		if values || uberblock(v, at) {
			l.add(s)
		}
	}
}

// uberblock reports whether a label has one, of either byte order.
func uberblock(v *view, label int64) bool {
	for at := label + zfsUber; at < label+zfsLabel; at += 1 << 10 {
		if v.has(at, "\x0c\xb1\xba\x00\x00\x00\x00\x00") || v.has(at, "\x00\x00\x00\x00\x00\xba\xb1\x0c") {
			return true
		}
	}
	return false
}

// zfsNames reads the pool's name and GUID from the list at off, in XDR: four
// bytes of encoding, version and flags, then pairs of size, size in memory,
// name, type, count and value.
func zfsNames(v *view, off int64, s *disklayout.Signature) bool {
	b := v.at(off, chunk)
	if b == nil || b[0] != 1 || b[1] > 1 || binary.BigEndian.Uint32(b[4:]) != 0 || binary.BigEndian.Uint32(b[8:]) == 0 {
		return false
	}
	found := false
	for b = b[12:]; len(b) >= 12; {
		size := int(binary.BigEndian.Uint32(b))
		if size < 24 || size > len(b) {
			break
		}
		name, typ, value := zfsPair(b[:size])
		switch {
		case name == "":
			return found
		case name == "name" && typ == 9 && len(value) >= 4:
			n := int(binary.BigEndian.Uint32(value))
			if n <= len(value)-4 {
				s.Label = text(value[4 : 4+n])
			}
		case name == "pool_guid" && typ == 8 && len(value) >= 8:
			s.UUID = strconv.FormatUint(binary.BigEndian.Uint64(value), 10)
		}
		found = true
		b = b[size:]
	}
	return found
}

// zfsPair takes a pair apart; without a name it is none.
func zfsPair(b []byte) (name string, typ uint32, value []byte) {
	n := int(binary.BigEndian.Uint32(b[8:]))
	padded := (n + 3) &^ 3
	if n <= 0 || n > 256 || 12+padded+8 > len(b) {
		return "", 0, nil
	}
	rest := b[12+padded:]
	return string(b[12 : 12+n]), binary.BigEndian.Uint32(rest), rest[8:]
}
