package probe_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

// A disk is mostly zeros: what was planted, by its place.
type disk struct {
	size    int64
	planted map[int64][]byte
}

func newDisk(size int64) *disk { return &disk{size, map[int64][]byte{}} }

func (d *disk) plant(at int64, what string) { d.planted[at] = []byte(what) }

func (d *disk) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	for from, what := range d.planted {
		for i, c := range what {
			if p := from + int64(i) - at; p >= 0 && p < int64(len(b)) {
				b[p] = c
			}
		}
	}
	if n := d.size - at; n < int64(len(b)) {
		return int(max(n, 0)), io.EOF
	}
	return len(b), nil
}

// A vector is an entry of the public table of signatures.
type vector struct {
	Name   string          `json:"name"`
	Offset json.RawMessage `json:"offset"`
	From   string          `json:"from"`
	Magic  string          `json:"magic_hex"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	raw, err := os.ReadFile("../testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Signatures []vector }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Signatures
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
func (v *vector) place(t *testing.T, size int64) int64 {
	t.Helper()
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

// onDisk plants a vector and returns the type to find.
func (v *vector) onDisk(t *testing.T, size int64) (*disk, string) {
	t.Helper()
	want, ok := expected[v.Name]
	if !ok {
		t.Fatalf("nothing is expected of %q", v.Name)
	}
	d := newDisk(size)
	if at := v.place(t, size); at >= 0 {
		magic, err := hex.DecodeString(v.Magic)
		if err != nil {
			t.Fatal(err)
		}
		d.plant(at, string(magic))
	}
	for at, what := range want.also {
		if at < 0 && strings.HasPrefix(v.Name, "zfs") {
			at += size / (256 << 10) * (256 << 10)
		} else if at < 0 {
			at += size
		}
		d.plant(at, what)
	}
	if len(d.planted) == 0 {
		t.Fatalf("nothing is planted for %q", v.Name)
	}
	return d, want.typ
}

// TestEverySignatureIsFound plants each of the public table, on the disk and in
// a partition of it.
func TestEverySignatureIsFound(t *testing.T) {
	if n := len(vectors(t)); n != 71 {
		t.Fatalf("%d vectors, want 71", n)
	}
	for _, size := range []int64{64 << 20, 100<<20 + 7*512, 5 << 40} {
		for _, v := range vectors(t) {
			d, typ := v.onDisk(t, size)
			found, err := probe.Signatures(d, size, 512)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found, func(s disklayout.Signature) bool { return s.Type == typ }) {
				t.Errorf("%d bytes: %q is not found as %s but as %v", size, v.Name, typ, found)
			}
			inside := newDisk(8<<20 + size)
			for at, what := range d.planted {
				inside.plant(8<<20+at, string(what))
			}
			within, err := probe.Within(inside, inside.size, 8<<20, size)
			if err != nil || len(within) != len(found) {
				t.Errorf("%d bytes: %q in a partition is %v, %v; on a disk %v", size, v.Name, within, err, found)
			}
		}
	}
}

func TestAnEmptyDiskIsLookedAtAndEmpty(t *testing.T) {
	f, err := probe.Look(newDisk(64<<20), 64<<20, 512)
	if err != nil || f.Signatures == nil || len(f.Signatures) != 0 || f.Partitions == nil || len(f.Partitions) != 0 {
		t.Errorf("got %+v, %v", f, err)
	}
}

// failing fails on reads of one byte.
type failing struct {
	*disk
	at int64
}

func (d failing) ReadAt(b []byte, at int64) (int, error) {
	if d.at >= at && d.at < at+int64(len(b)) {
		return 0, errors.New("medium error")
	}
	return d.disk.ReadAt(b, at)
}

func TestAFailedReadIsNotEmpty(t *testing.T) {
	const size = 64 << 20
	for _, at := range []int64{0, 512, 132 << 10, 4 << 20, size - 1} {
		found, err := probe.Signatures(failing{newDisk(size), at}, size, 512)
		if _, ok := errors.AsType[*probe.NotLooked](err); !ok || found != nil {
			t.Errorf("byte %d fails: got %v, %v", at, found, err)
		}
	}
	if _, err := probe.Signatures(newDisk(1<<20), 2<<20, 512); err == nil {
		t.Error("a disk that ends early counts as looked at")
	}
}

// header is a GPT header with right checksums.
func header(sector int64, alternate, entries uint64, body []byte, count uint32) string {
	b := make([]byte, sector)
	copy(b, "EFI PART")
	le := binary.LittleEndian
	le.PutUint32(b[12:], 92)
	le.PutUint64(b[32:], alternate)
	copy(b[56:], "0123456789abcdef")
	le.PutUint64(b[72:], entries)
	le.PutUint32(b[80:], count)
	le.PutUint32(b[84:], 128)
	le.PutUint32(b[88:], crc32.ChecksumIEEE(body))
	le.PutUint32(b[16:], crc32.ChecksumIEEE(b[:92]))
	return string(b)
}

// TestABackupIsFoundWhereThePrimarySays is a disk that grew: the old backup is
// in its middle, and its partitions are looked into.
func TestABackupIsFoundWhereThePrimarySays(t *testing.T) {
	const size = 64 << 20
	for _, sector := range []int64{512, 4096} {
		d := newDisk(size)
		body := make([]byte, 128*128)
		copy(body, "some type, never")
		binary.LittleEndian.PutUint64(body[32:], uint64(8<<20/sector))
		binary.LittleEndian.PutUint64(body[40:], uint64(16<<20/sector)-1)
		old := 32<<20/sector - 1
		d.plant(sector, header(sector, uint64(old), 2, body, 128))
		d.plant(2*sector, string(body))
		d.plant(old*sector, header(sector, 1, uint64(old)-uint64(len(body))/uint64(sector), body, 128))
		d.plant(8<<20+0, "XFSB")
		f, err := probe.Look(d, size, uint32(sector))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range f.Signatures {
			got = append(got, s.Type)
		}
		if !slices.Equal(got, []string{"gpt", "xfs", "gpt"}) || len(f.Partitions) != 1 || f.Partitions[0].Start != 8<<20 || f.Partitions[0].Size != 8<<20 {
			t.Errorf("sectors of %d: got %v, %+v", sector, f.Signatures, f.Partitions)
		}
	}
}

func TestALargeTableIsNotLookedAt(t *testing.T) {
	d := newDisk(64 << 20)
	d.plant(512, header(512, 0, 2, nil, 1<<20))
	if found, err := probe.Signatures(d, d.size, 512); err == nil {
		t.Errorf("got %v", found)
	}
}

func FuzzLook(f *testing.F) {
	body := make([]byte, 128*128)
	f.Add([]byte("\x55\xaa"), int64(510), []byte("EFI PART"), int64(512), int64(1<<20))
	f.Add([]byte(header(512, 100, 2, body, 128)), int64(512), body, int64(1024), int64(4<<20))
	f.Add([]byte("\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x20\x00\x00\x00\x20\x00\x00\x00\x04name"), int64(16<<10), []byte(uber), int64(132<<10), int64(1<<20))
	m := probe.Mark{Parts: []probe.Place{{Start: 1, Size: 2}}}
	f.Add(m.Bytes(), int64(probe.MarkOffset), []byte{}, int64(0), int64(1<<20))
	f.Fuzz(func(t *testing.T, a []byte, at int64, b []byte, bt int64, size int64) {
		if size < 0 || size > 1<<42 {
			t.Skip()
		}
		d := newDisk(size)
		d.plant(at, string(a))
		d.plant(bt, string(b))
		for _, sector := range []uint32{512, 4096} {
			found, err := probe.Look(d, size, sector)
			if err != nil {
				continue
			}
			for _, s := range found.Signatures {
				if s.Offset >= uint64(size) || len(s.Label) > disklayout.MaxText {
					t.Errorf("%+v on a disk of %d bytes", s, size)
				}
			}
			for _, p := range found.Partitions {
				if p.Start >= uint64(size) || p.Size > uint64(size)-p.Start {
					t.Errorf("%+v on a disk of %d bytes", p, size)
				}
			}
		}
	})
}
