package probe_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/probe"
	"github.com/ingotmetal/ingot/disklayout/probe/probetest"
)

const uber = "\x0c\xb1\xba\x00\x00\x00\x00\x00" // of ZFS

func vectors(t testing.TB) []probetest.Vector {
	t.Helper()
	raw, err := os.ReadFile("../testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := probetest.Vectors(raw)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEverySignatureIsFound plants each of the public table, on the disk and in
// a partition of it.
func TestEverySignatureIsFound(t *testing.T) {
	if n := len(vectors(t)); n != 71 {
		t.Fatalf("%d vectors, want 71", n)
	}
	for _, size := range []int64{64 << 20, 100<<20 + 7*512, 5 << 40} {
		for _, v := range vectors(t) {
			d, typ, err := v.OnDisk(size)
			if err != nil {
				t.Fatal(err)
			}
			found, err := probe.Signatures(d, size, 512)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found, func(s disklayout.Signature) bool { return s.Type == typ }) {
				t.Errorf("%d bytes: %q is not found as %s but as %v", size, v.Name, typ, found)
			}
			inside := probetest.NewDisk(8<<20 + size)
			for at, what := range d.Planted {
				inside.Plant(8<<20+at, string(what))
			}
			within, err := probe.Within(inside, inside.Size, 8<<20, size)
			if err != nil || len(within) != len(found) {
				t.Errorf("%d bytes: %q in a partition is %v, %v; on a disk %v", size, v.Name, within, err, found)
			}
		}
	}
}

func TestAnEmptyDiskIsLookedAtAndEmpty(t *testing.T) {
	f, err := probe.Look(probetest.NewDisk(64<<20), 64<<20, 512)
	if err != nil || f.Signatures == nil || len(f.Signatures) != 0 || f.Partitions == nil || len(f.Partitions) != 0 {
		t.Errorf("got %+v, %v", f, err)
	}
}

// failing fails on reads of one byte.
type failing struct {
	*probetest.Disk
	at int64
}

func (d failing) ReadAt(b []byte, at int64) (int, error) {
	if d.at >= at && d.at < at+int64(len(b)) {
		return 0, errors.New("medium error")
	}
	return d.Disk.ReadAt(b, at)
}

func TestAFailedReadIsNotEmpty(t *testing.T) {
	const size = 64 << 20
	for _, at := range []int64{0, 512, 132 << 10, 4 << 20, size - 1} {
		found, err := probe.Signatures(failing{probetest.NewDisk(size), at}, size, 512)
		if _, ok := errors.AsType[*probe.NotLooked](err); !ok || found != nil {
			t.Errorf("byte %d fails: got %v, %v", at, found, err)
		}
	}
	if _, err := probe.Signatures(probetest.NewDisk(1<<20), 2<<20, 512); err == nil {
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
		d := probetest.NewDisk(size)
		body := make([]byte, 128*128)
		copy(body, "some type, never")
		binary.LittleEndian.PutUint64(body[32:], uint64(8<<20/sector))
		binary.LittleEndian.PutUint64(body[40:], uint64(16<<20/sector)-1)
		old := 32<<20/sector - 1
		d.Plant(sector, header(sector, uint64(old), 2, body, 128))
		d.Plant(2*sector, string(body))
		d.Plant(old*sector, header(sector, 1, uint64(old)-uint64(len(body))/uint64(sector), body, 128))
		d.Plant(8<<20+0, "XFSB")
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

// TestLogicalPartitions follows a chain, and gives up on one that is too long.
func TestLogicalPartitions(t *testing.T) {
	le32 := func(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	chain := func(n int) (probe.Found, error) {
		d := probetest.NewDisk(64 << 20)
		d.Plant(446, "\x00\x00\x00\x00\x05\x00\x00\x00"+le32(2048)+le32(100000))
		d.Plant(510, "\x55\xaa")
		for i := range n {
			at := int64(2048 + 100*i)
			next := ""
			if i < n-1 {
				next = "\x00\x00\x00\x00\x05\x00\x00\x00" + le32(100*(i+1)) + le32(100)
			}
			d.Plant(at*512+446, "\x00\x00\x00\x00\x83\x00\x00\x00"+le32(8)+le32(80)+next)
			d.Plant(at*512+510, "\x55\xaa")
		}
		d.Plant(2056*512, "XFSB")
		return probe.Look(d, d.Size, 512)
	}
	f, err := chain(3)
	if err != nil || len(f.Partitions) != 3 || f.Partitions[2].Number != 7 || f.Partitions[2].Start != 2256*512 || len(f.Signatures) != 2 || f.Signatures[1].Type != "xfs" {
		t.Errorf("got %+v, %v", f, err)
	}
	if f, err := chain(300); err == nil {
		t.Errorf("got %d partitions", len(f.Partitions))
	}
}

// TestVouching is what a mark vouches for, and what not.
func TestVouching(t *testing.T) {
	const size = 64 << 20
	var server disklayout.UUID
	copy(server[:], "some server here")
	guid := disklayout.UUID{'3', '2', '1', '0', '5', '4', '7', '6', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'} // of header
	for name, c := range map[string]struct {
		plant func(d *probetest.Disk)
		want  []string // types with the stamp
	}{
		"alone":                   {func(*probetest.Disk) {}, []string{probe.MarkType}},
		"what is in its parts":    {func(d *probetest.Disk) { d.Plant(2<<20, "\x5e\xf1\xab\x2f") }, []string{probe.MarkType, "VMFS"}},
		"not what is before them": {func(d *probetest.Disk) { d.Plant(0, "XFSB") }, []string{probe.MarkType}},
		"not what is behind them": {func(d *probetest.Disk) { d.Plant(size-1024, "NVIDIA") }, []string{probe.MarkType}},
		"its own table":           {func(d *probetest.Disk) { d.Plant(512, header(512, 0, 2, nil, 0)) }, []string{"gpt", probe.MarkType}},
		"a damaged table":         {func(d *probetest.Disk) { d.Plant(512, "EFI PART") }, []string{"gpt", probe.MarkType}},
		"not under an MBR": {func(d *probetest.Disk) {
			d.Plant(510, "\x55\xaa")
			d.Plant(2<<20, "\x5e\xf1\xab\x2f")
		}, []string{probe.MarkType}},
	} {
		d := probetest.NewDisk(size)
		m := probe.Mark{Stamp: disklayout.Stamp{Server: server, Epoch: 3}, Disk: guid, Parts: []probe.Place{{Start: 1 << 20, Size: 8 << 20}}}
		d.Plant(probe.MarkOffset, string(m.Bytes()))
		c.plant(d)
		f, err := probe.Look(d, size, 512)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range f.Signatures {
			if s.Stamp == m.Stamp.String() {
				got = append(got, s.Type)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: it vouches for %q, want %q, of %+v", name, got, c.want, f.Signatures)
		}
	}
	d := probetest.NewDisk(size)
	m := probe.Mark{Stamp: disklayout.Stamp{Server: server}, Disk: disklayout.UUID{1}}
	d.Plant(probe.MarkOffset, string(m.Bytes()))
	d.Plant(512, header(512, 0, 2, nil, 0))
	if f, err := probe.Look(d, size, 512); err != nil || f.Vouched || f.Signatures[0].Stamp != "" {
		t.Errorf("it vouches for somebody else's table: %+v, %v", f, err)
	}
	torn := m.Bytes()
	torn[30] ^= 1
	if probe.ParseMark(torn) != nil || probe.ParseMark(nil) != nil {
		t.Error("a mark with a wrong checksum is read")
	}
}

func TestALargeTableIsNotLookedAt(t *testing.T) {
	d := probetest.NewDisk(64 << 20)
	d.Plant(512, header(512, 0, 2, nil, 1<<20))
	if found, err := probe.Signatures(d, d.Size, 512); err == nil {
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
		d := probetest.NewDisk(size)
		d.Plant(at, string(a))
		d.Plant(bt, string(b))
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
