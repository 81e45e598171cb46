package probetest

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// A Vector is an entry of the public table of signatures.
type Vector struct {
	Name   string          `json:"name"`
	Offset json.RawMessage `json:"offset"`
	From   string          `json:"from"`
	Magic  string          `json:"magic_hex"`
}

// Vectors reads the table, signatures.json of disklayout's test data.
func Vectors(raw []byte) ([]Vector, error) {
	var file struct{ Signatures []Vector }
	err := json.Unmarshal(raw, &file)
	return file.Signatures, err
}

// expected has, for every name of the vectors, the type, and for those whose
// place or magic is words there what to plant.
var expected = map[string]struct {
	typ  string
	also map[int64]string // beside the magic: what libblkid checks; from the end if negative
}{
	"mbr/pmbr":                       {typ: "dos"},
	"gpt primary (512-byte sectors)": {typ: "gpt"}, "gpt primary (4096-byte sectors)": {typ: "gpt"}, "gpt backup header": {typ: "gpt"},
	"ext2/3/4, jbd": {typ: "ext2", also: map[int64]string{1024: "\x01\x00\x00\x00\x01\x00\x00\x00"}},
	"xfs":           {typ: "xfs"}, "btrfs": {typ: "btrfs"}, "vfat FAT32 text": {typ: "vfat"}, "vfat FAT16 text": {typ: "vfat"}, "vfat FAT12 text": {typ: "vfat"},
	"ntfs": {typ: "ntfs"}, "exfat": {typ: "exfat"}, "iso9660": {typ: "iso9660"}, "udf": {typ: "udf"}, "squashfs": {typ: "squashfs"}, "erofs": {typ: "erofs"},
	"f2fs": {typ: "f2fs"}, "jfs": {typ: "jfs"}, "reiserfs": {typ: "reiserfs"},
	"nilfs2":   {typ: "nilfs2", also: map[int64]string{1024: "\x02\x00\x00\x00", 1032: "\x00\x01"}},
	"gfs/gfs2": {typ: "gfs2"}, "ocfs2": {typ: "ocfs2"}, "vmfs volume member": {typ: "VMFS_volume_member"}, "vmfs": {typ: "VMFS"}, "oracleasm": {typ: "oracleasm"},
	"apfs": {typ: "apfs"}, "hfs+": {typ: "hfsplus", also: map[int64]string{1026: "\x00\x04", 1064: "\x00\x00\x10\x00"}}, "refs": {typ: "ReFS"},
	"swap (page 4096)": {typ: "swap"}, "swap (page 8192)": {typ: "swap"}, "swap (page 16384)": {typ: "swap"}, "swap (page 32768)": {typ: "swap"}, "swap (page 65536)": {typ: "swap"},
	"luks1/luks2 primary": {typ: "crypto_LUKS"}, "luks2 secondary": {typ: "crypto_LUKS"}, "bitlocker": {typ: "BitLocker"},
	"dm-verity": {typ: "DM_verity_hash"}, "dm-integrity": {typ: "DM_integrity"}, "lvm2 label": {typ: "LVM2_member"},
	"md 0.90": {typ: "linux_raid_member"}, "md 1.0": {typ: "linux_raid_member"}, "md 1.1": {typ: "linux_raid_member"}, "md 1.2": {typ: "linux_raid_member"},
	"zfs label L0": {typ: "zfs_member", also: map[int64]string{132 << 10: uber}}, "zfs label L1": {typ: "zfs_member", also: map[int64]string{(256 + 132) << 10: uber}},
	"zfs label L2": {typ: "zfs_member", also: map[int64]string{-(512 - 132) << 10: uber}}, "zfs label L3": {typ: "zfs_member", also: map[int64]string{-(256 - 132) << 10: uber}},
	"bcache": {typ: "bcache"}, "bcachefs extra copies": {typ: "bcachefs", also: map[int64]string{2<<20 + 24: bcache, -1<<20 + 24: bcache}},
	"ceph bluestore": {typ: "ceph_bluestore"},
	"stratis":        {typ: "stratis", also: map[int64]string{516: stratis, 9*512 + 4: stratis}}, "vdo": {typ: "vdo"},
	"drbd meta": {typ: "drbd", also: map[int64]string{-4096 + 60: "\x83\x74\x02\x6d"}}, "intel imsm": {typ: "isw_raid_member"},
	"ddf":              {typ: "ddf_raid_member", also: map[int64]string{-512: "\xde\x11\xde\x11", -257 * 512: "\xde\x11\xde\x11"}},
	"jmicron fakeraid": {typ: "jmicron_raid_member", also: map[int64]string{-512: "JM\xb6\xb2"}},
	"silicon medley fakeraid": {typ: "silicon_medley_raid_member", also: map[int64]string{-512 + 0x60: "\x00\x00\x00\x2f",
		-512 + 0x13e: "\x00\xd1"}},
	"adaptec fakeraid":       {typ: "adaptec_raid_member", also: map[int64]string{-512: "\x37\xfc\x4d\x1e"}},
	"lsi megaraid fakeraid":  {typ: "lsi_mega_raid_member", also: map[int64]string{-512: "$XIDE$"}},
	"nvidia fakeraid":        {typ: "nvidia_raid_member", also: map[int64]string{-1024: "NVIDIA  "}},
	"highpoint 45x fakeraid": {typ: "hpt45x_raid_member", also: map[int64]string{-11 * 512: "\xf3\x16\x78\x5a"}},
	"promise fasttrack":      {typ: "promise_fasttrack_raid_member", also: map[int64]string{-3087 * 512: promise, -16 * 512: promise}},
	"highpoint 37x":          {typ: "hpt37x_raid_member"},
}

const (
	uber    = "\x0c\xb1\xba\x00\x00\x00\x00\x00"
	bcache  = "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"
	stratis = "!Stra0tis\x86\xff\x02^\x41rh"
	promise = "Promise Technology, Inc."
)

// place is where a vector's magic is on a disk of size bytes, or -1.
func (v *Vector) place(size int64) int64 {
	var n int64
	words := json.Unmarshal(v.Offset, &n) != nil
	switch {
	case v.Name == "md 0.90":
		return size/65536*65536 - 65536
	case v.Name == "md 1.0":
		return size/4096*4096 - 8192
	case words || v.Magic == "":
		return -1
	case v.From == "end_sector":
		return size + 512*n
	}
	return n
}

// OnDisk plants a vector on an empty disk of size bytes, and returns the type that
// libblkid gives it.
func (v *Vector) OnDisk(size int64) (*Disk, string, error) {
	want, ok := expected[v.Name]
	if !ok {
		return nil, "", fmt.Errorf("probetest: nothing is expected of %q", v.Name)
	}
	d := NewDisk(size)
	if at := v.place(size); at >= 0 {
		magic, err := hex.DecodeString(v.Magic)
		if err != nil {
			return nil, "", err
		}
		d.Plant(at, string(magic))
	}
	for at, what := range want.also {
		if at < 0 && strings.HasPrefix(v.Name, "zfs") {
			at += size / (256 << 10) * (256 << 10)
		} else if at < 0 {
			at += size
		}
		d.Plant(at, what)
	}
	if len(d.Planted) == 0 {
		return nil, "", fmt.Errorf("probetest: nothing is planted for %q", v.Name)
	}
	return d, want.typ, nil
}
