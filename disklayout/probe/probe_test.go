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
