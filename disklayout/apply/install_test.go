package apply_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/disklayout/probe"
)

func TestInstall(t *testing.T) {
	for _, sector := range []uint32{512, 4096} {
		for _, n := range []int{0, 1, 4096, 3<<20 + 17} {
			f, other := small("S1", sector), small("S2", sector)
			req := request(f)
			var image []byte
			if n > 0 {
				image, req.Image = content(n)
			}
			if n%2 == 0 {
				_, req.Boot = uefi(9000)
			}
			o := order(t, f, req, stampOf(own, 7))
			r, err := install(t, o, image, other, f)
			if err != nil {
				t.Fatal(err)
			}
			installed(t, f, o, image)
			if other.writes != 0 || other.held || f.held || f.rereads != 1 || r.Image != uint64(n) || r.Already || len(r.Disk.Partitions) != 3 {
				t.Errorf("%d writes to another disk; %+v", other.writes, r)
			}
			f.writes = 0
			r, err = install(t, o, image, other, f)
			if err != nil || !r.Already || f.writes != 0 {
				t.Errorf("a second time: %+v, %v, %d writes", r, err, f.writes)
			}
		}
	}
}

// scenario is a disk before an install, and whether a request needs overrides.
type scenario struct {
	name      string
	before    func(t *testing.T, f *fake)
	overrides func(f *fake) []disklayout.Override
}

func scenarios() []scenario {
	by := func(typ string, at uint64) func(*fake) []disklayout.Override {
		return func(f *fake) []disklayout.Override {
			return []disklayout.Override{{Serial: f.disk.Serial, Type: typ, Offset: at}}
		}
	}
	return []scenario{
		{name: "empty"},
		{name: "an older layout of ours", before: func(t *testing.T, f *fake) {
			req := request(f)
			req.Root = 2 * mib
			if _, err := install(t, order(t, f, req, stampOf(own, 3)), nil, f); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "another server's, overridden", before: func(t *testing.T, f *fake) {
			if _, err := install(t, order(t, f, request(f), stampOf(foe, 3)), nil, f); err != nil {
				t.Fatal(err)
			}
		}, overrides: everything},
		{name: "lvm, overridden", before: func(_ *testing.T, f *fake) { f.plant(0x218, "LVM2 001") }, overrides: by("LVM2_member", 0x218)},
		{name: "an MBR with a filesystem, overridden", before: func(_ *testing.T, f *fake) {
			f.plant(510, "\x55\xaa")
			f.plant(446, "\x00\x00\x00\x00\x83\x00\x00\x00"+le32(2*mib/uint64(f.sector()))+le32(8*mib/uint64(f.sector())))
			f.plant(2*mib+0x400, "\x01")
			f.plant(2*mib+0x438, "\x53\xef")
			f.plant(2*mib+4086, "SWAPSPACE2") // and what it was before
			f.plant(2*mib+1036, "0123456789abcdef")
		}, overrides: everything},
		{name: "our mark under somebody else's table, overridden", before: func(t *testing.T, f *fake) {
			if _, err := install(t, order(t, f, request(f), stampOf(foe, 3)), nil, f); err != nil {
				t.Fatal(err)
			}
			mine := probe.Mark{Stamp: stampOf(own, 2), Disk: disklayout.UUID{9}, Parts: []probe.Place{{Start: mib, Size: 60 * mib}}}
			f.plant(probe.MarkOffset, string(mine.Bytes()))
		}, overrides: func(f *fake) []disklayout.Override {
			return slices.DeleteFunc(everything(f), func(o disklayout.Override) bool { return o.Type == probe.MarkType })
		}},
		{name: "a pool, overridden", before: func(_ *testing.T, f *fake) {
			f.plant(16<<10, "\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"+
				"\x00\x00\x00\x24\x00\x00\x00\x20\x00\x00\x00\x04name\x00\x00\x00\x09\x00\x00\x00\x01\x00\x00\x00\x04tank")
			for at := int64(128 << 10); at < 256<<10; at += 1 << 10 {
				f.plant(at, "\x0c\xb1\xba\x00\x00\x00\x00\x00")
			}
		}, overrides: everything},
	}
}

// everything overrides all that a look finds.
func everything(f *fake) []disklayout.Override {
	var out []disklayout.Override
	for _, s := range look(f).Signatures {
		o := disklayout.Override{Serial: f.disk.Serial, Type: s.Type, UUID: s.UUID}
		if s.UUID == "" {
			o.Offset = s.Offset
		}
		same := func(p disklayout.Override) bool { return p == o }
		if !contains(out, same) {
			out = append(out, o)
		}
	}
	return out
}

// TestEveryCutIsResumed cuts an install at each of its writes, in three ways,
// and lets the same attempt install again.
func TestEveryCutIsResumed(t *testing.T) {
	for _, sector := range []uint32{512, 4096} {
		for i, s := range scenarios() {
			if sector == 4096 && i > 2 && os.Getenv("INGOT_TEST_ALL") != "1" {
				continue // as long again
			}
			t.Run(fmt.Sprintf("%d/%s", sector, s.name), func(t *testing.T) {
				t.Parallel()
				cuts(t, sector, s)
			})
		}
	}
}

func cuts(t *testing.T, sector uint32, s scenario) {
	t.Helper()
	size := 5000
	if s.before == nil {
		size = 1<<20 + 100 // two writes
	}
	image, name := content(size)
	base, other := small("S1", sector), small("S2", sector)
	if s.before != nil {
		s.before(t, base)
	}
	req := request(base)
	req.Image = name
	if s.before == nil {
		_, req.Boot = uefi(9000)
	}
	if s.overrides != nil {
		req.Overrides = s.overrides(base)
	}
	o := order(t, base, req, stampOf(own, 7))
	whole := base.copy()
	if _, err := install(t, o, image, whole, other); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	for cut := range whole.writes {
		for mode := range cutMode(3) {
			for seed := range uint64([]int{1, 1, 2}[mode]) {
				resume(t, s.name, o, image, base, other, cut, mode, seed)
			}
		}
	}
	if other.writes != 0 {
		t.Errorf("%d writes to another disk", other.writes)
	}
}

func resume(t *testing.T, name string, o apply.Order, image []byte, base, other *fake, cut int, mode cutMode, seed uint64) {
	t.Helper()
	f := base.copy()
	f.cut, f.mode, f.rng = cut, mode, seeded(seed+uint64(cut)*64)
	_, err := install(t, o, image, f, other)
	if e, ok := errors.AsType[*apply.Failed](err); !ok || !errors.Is(e, errCut) {
		t.Fatalf("%s, cut %d: %v", name, cut, err)
	}
	f.again()
	if _, err := install(t, o, image, f, other); err != nil {
		t.Errorf("%s, sectors of %d, cut at write %d in mode %d, seed %d: %v", name, f.sector(), cut, mode, seed, err)
		return
	}
	installed(t, f, o, image)
}

func le32(n uint64) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
