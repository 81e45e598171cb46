package probe

import "github.com/ingotmetal/ingot/disklayout"

// An entry is a magic at a place, or at several. The first of the places of one
// entry that has it counts for itself, and so does each other one: copies are
// signatures of their own.
type entry struct {
	typ   string
	at    []spot
	magic string
	know  knower // nil: the magic is enough
}

// A knower looks closer at what has its magic at off. It returns type, label
// and UUID, the type only where it is another, and false where it is not what
// the magic says.
type knower func(v *view, off int64) (detail, bool)

type detail struct{ typ, label, uuid string }

// A spot is a place: n bytes from the start, n sectors of 512 bytes before the
// end, or n bytes before the end, which is rounded down to a multiple first.
type spot struct {
	n     int64
	from  from
	round int64
}

type from int

const (
	start from = iota
	sectors
	end
)

// on is where the spot lies in a place of size bytes; it may be outside.
func (s spot) on(size int64) int64 {
	switch s.from {
	case sectors:
		return (size/512 - s.n) * 512
	case end:
		return size/s.round*s.round - s.n
	}
	return s.n
}

func at(n ...int64) []spot     { return spots(start, 1, n) }
func before(n ...int64) []spot { return spots(sectors, 1, n) }

func tail(round int64, n ...int64) []spot { return spots(end, round, n) }

func spots(f from, round int64, n []int64) []spot {
	out := make([]spot, len(n))
	for i := range n {
		out[i] = spot{n[i], f, round}
	}
	return out
}

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// filesystems and what encrypts or checks.
var filesystems = []entry{
	{"ext4", at(1080), "\x53\xef", ext},
	{"xfs", at(0), "XFSB", xfs},
	{"btrfs", at(64*kib+0x40, 64*mib+0x40, 256*gib+0x40), "_BHRfS_M", btrfs},
	{"vfat", at(82), "FAT32   ", fat32},
	{"vfat", at(82), "MSWIN", fat32},
	{"vfat", at(54), "FAT16   ", fat16},
	{"vfat", at(54), "FAT12   ", fat16},
	{"vfat", at(54), "FAT     ", fat16},
	{"vfat", at(54), "MSDOS", fat16},
	{"vfat", at(bootMark), "\x55\xaa", fatBare},
	{"ntfs", at(3), "NTFS    ", ntfs},
	{"exfat", at(3), "EXFAT   ", nil},
	{"iso9660", at(0x8001), "CD001", iso},
	{"udf", at(0x8001), "BEA01", nil},
	{"udf", at(0x8001), "NSR02", nil},
	{"udf", at(0x8001), "NSR03", nil},
	{"squashfs", at(0), "hsqs", nil},
	{"squashfs", at(0), "sqsh", nil},
	{"erofs", at(1024), "\xe2\xe1\xf5\xe0", labelled(1024+48, 1024+64, 16)},
	{"f2fs", at(1024), "\x10\x20\xf5\xf2", labelled(1024+108, 0, 0)},
	{"jfs", at(0x8000), "JFS1", labelled(0x8000+136, 0x8000+152, 16)},
	{"reiserfs", at(0x10034), "ReIsEr", labelled(0x10000+84, 0x10000+100, 16)},
	{"reiserfs", at(8*kib+52, 8*kib+20), "ReIsEr", nil},
	{"reiser4", at(64 * kib), "ReIsEr4", nil},
	{"nilfs2", at(1030), "\x34\x34", nilfs},
	{"nilfs2", tail(4*kib, 4*kib-6), "\x34\x34", nilfs},
	{"gfs2", at(64 * kib), "\x01\x16\x19\x70", gfs},
	{"ocfs2", at(1024, 2*kib, 4*kib, 8*kib), "OCFSV2", nil},
	{"oracleasm", at(32), "ORCLDISK", nil},
	{"apfs", at(32), "NXSB", nil},
	{"hfsplus", at(1024), "H+", hfs},
	{"hfsplus", at(1024), "HX", hfs},
	{"ReFS", at(0), "\x00\x00\x00ReFS", nil},
	{"cramfs", at(0), "\x45\x3d\xcd\x28", nil},
	{"romfs", at(0), "-rom1fs-", nil},
	{"zonefs", at(0), "SFNZ", nil},
	{"befs", at(32, 544), "1SFB", nil},
	{"swap", at(4*kib-10, 8*kib-10, 16*kib-10, 32*kib-10, 64*kib-10), "SWAPSPACE2", labelled(1024+12, 1024+28, 16)},
	{"swap", at(4*kib-10, 8*kib-10, 16*kib-10, 32*kib-10, 64*kib-10), "SWAP-SPACE", nil},
	{"swsuspend", at(4*kib-10, 8*kib-10, 16*kib-10, 32*kib-10, 64*kib-10), "S1SUSPEND", nil},
	{"swsuspend", at(4*kib-10, 8*kib-10, 16*kib-10, 32*kib-10, 64*kib-10), "LINHIB0001", nil},
	{"crypto_LUKS", at(0), "LUKS\xba\xbe", luks},
	{"crypto_LUKS", at(16*kib, 32*kib, 64*kib, 128*kib, 256*kib, 512*kib, mib, 2*mib, 4*mib), "SKUL\xba\xbe", luks},
	{"BitLocker", at(3), "-FVE-FS-", nil},
	{"DM_verity_hash", at(0), "verity\x00\x00", labelled(16, 0, 0)},
	{"DM_integrity", at(0), "integrt\x00", nil},
	{"DM_snapshot_cow", at(0), "SnAp", nil},
	{"minix", at(1024 + 16), "\x7f\x13", minix},
	{"minix", at(1024 + 16), "\x8f\x13", minix},
	{"minix", at(1024 + 16), "\x68\x24", minix},
	{"minix", at(1024 + 16), "\x78\x24", minix},
	{"minix", at(1024 + 24), "\x5a\x4d", minix3},
	{"ufs", at(1372, 8*kib+1372, 64*kib+1372, 256*kib+1372), "\x54\x19\x01\x00", nil},
	{"ufs", at(1372, 8*kib+1372, 64*kib+1372, 256*kib+1372), "\x19\x01\x54\x19", nil},
	{"vxfs", at(1024), "\xf5\xfc\x01\xa5", nil},
	{"vxfs", at(8 * kib), "\xa5\x01\xfc\xf5", nil},
	{"aix", at(0), "\xc9\xc2\xd4\xc1", nil},
	{"mac", at(0), "ER", mac},
	{"sun", at(508), "\xda\xbe", sun},
	{"bsd", at(512), "\x57\x45\x56\x82", nil},
	{"sgi", at(0), "\x0b\xe5\xa9\x41", nil},
}

// members of volumes, arrays and caches.
var members = []entry{
	{"LVM2_member", at(0x018, 0x218, 0x418, 0x618), "LVM2 001", lvm},
	{"linux_raid_member", tail(64*kib, 64*kib), "\xfc\x4e\x2b\xa9", raid0},
	{"linux_raid_member", tail(64*kib, 64*kib), "\xa9\x2b\x4e\xfc", nil},
	{"linux_raid_member", tail(4*kib, 8*kib), "\xfc\x4e\x2b\xa9", raid1},
	{"linux_raid_member", at(0, 4*kib), "\xfc\x4e\x2b\xa9", raid1},
	{"bcache", at(4120), bcacheMagic, labelled(4120+16, 4120+48, 32)},
	{"bcachefs", at(4120), bcachefsMagic, labelled(4120+32, 4120+48, 32)},
	{"bcachefs", at(2*mib + 24), bcacheMagic, nil},
	{"bcachefs", at(2*mib + 24), bcachefsMagic, nil},
	{"bcachefs", tail(512, mib-24), bcacheMagic, nil},
	{"bcachefs", tail(512, mib-24), bcachefsMagic, nil},
	{"ceph_bluestore", at(0), "bluestore block device", nil},
	{"stratis", at(512+4, 9*512+4), "!Stra0tis\x86\xff\x02^\x41rh", nil},
	{"vdo", at(0), "dmvdo001", nil},
	{"mpool", at(0), "mpoolDev", nil},
	{"VMFS_volume_member", at(mib), "\x0d\xd0\x01\xc0", nil},
	{"VMFS", at(2 * mib), "\x5e\xf1\xab\x2f", nil},
	{"drbd", tail(512, 4*kib-60), "\x83\x74\x02\x6b", nil},
	{"drbd", tail(512, 4*kib-60), "\x83\x74\x02\x6c", nil},
	{"drbd", tail(512, 4*kib-60), "\x83\x74\x02\x6d", nil},
	{"isw_raid_member", before(2), "Intel Raid ISM Cfg Sig. ", nil},
	{"ddf_raid_member", before(1, 257), "\xde\x11\xde\x11", nil},
	{"ddf_raid_member", before(1, 257), "\x11\xde\x11\xde", nil},
	{"jmicron_raid_member", before(1), "JM", jmicron},
	{"silicon_medley_raid_member", tail(512, 512-0x60), "\x00\x00\x00\x2f", silicon},
	{"adaptec_raid_member", before(1), "\x37\xfc\x4d\x1e", nil},
	{"lsi_mega_raid_member", before(1), "$XIDE$", nil},
	{"nvidia_raid_member", before(2), "NVIDIA", nil},
	{"hpt45x_raid_member", before(11), "\xf3\x16\x78\x5a", nil},
	{"hpt45x_raid_member", before(11), "\xfd\x16\x78\x5a", nil},
	{"hpt37x_raid_member", at(4640), "\xf0\x16\x78\x5a", nil},
	{"hpt37x_raid_member", at(4640), "\xfd\x16\x78\x5a", nil},
	{"promise_fasttrack_raid_member", before(63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087), "Promise Technology, Inc.", nil},
}

const (
	bcacheMagic   = "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"
	bcachefsMagic = "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"
)

// magics looks for every entry.
func (l *look) magics(v *view) {
	for _, table := range [][]entry{filesystems, members} {
		for i := range table {
			for _, s := range table[i].at {
				l.magic(v, &table[i], s.on(v.size))
			}
		}
	}
}

func (l *look) magic(v *view, e *entry, off int64) {
	if !v.has(off, e.magic) {
		return
	}
	s := disklayout.Signature{Type: e.typ, Offset: uint64(v.base + off)}
	if e.know != nil {
		d, ok := e.know(v, off)
		if !ok {
			return
		}
		if d.typ != "" {
			s.Type = d.typ
		}
		s.Label, s.UUID = d.label, d.uuid
	}
	l.add(s)
}
