package apply_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/disklayout/apply"
	"github.com/ingotmetal/ingot/disklayout/probe"
	"github.com/ingotmetal/ingot/disklayout/probe/probetest"
)

// TestAnythingIsResumed plants several signatures of the public table at once,
// on the disk and in an MBR's partition, perhaps over our mark, overrides them
// all, cuts the install anywhere, and lets the same attempt install again.
func TestAnythingIsResumed(t *testing.T) {
	raw, err := os.ReadFile("../testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := probetest.Vectors(raw)
	if err != nil {
		t.Fatal(err)
	}
	tables := slices.DeleteFunc(slices.Clone(vectors), func(v probetest.Vector) bool {
		return !strings.Contains(v.Name, "gpt") && !strings.Contains(v.Name, "mbr") && !strings.Contains(v.Name, "swap")
	})
	rapid.Check(t, func(rt *rapid.T) {
		f := small("S1", 512)
		if rapid.IntRange(0, 3).Draw(rt, "mark") == 0 {
			m := probe.Mark{Stamp: stampOf(own, 3), Parts: []probe.Place{{Start: mib, Size: 20 * mib}}}
			f.plant(probe.MarkOffset, string(m.Bytes()))
		}
		vectors := vectors
		if rapid.Bool().Draw(rt, "tables") {
			vectors = tables
		}
		for _, v := range rapid.SliceOfN(rapid.SampledFrom(vectors), 1, 6).Draw(rt, "vectors") {
			plantAll(t, f, &v, rapid.SampledFrom([]int64{0, 0, 2 * mib}).Draw(rt, "start"))
		}
		if rapid.Bool().Draw(rt, "mbr") {
			f.plant(510, "\x55\xaa")
			f.plant(446, "\x00\x00\x00\x00\x83\x00\x00\x00"+le32(2*mib/512)+le32(8*mib/512))
		}
		req := request(f)
		req.Overrides = foreignOnes(f)
		o := order(t, f, req, stampOf(own, 7))
		f.cut, f.mode = rapid.IntRange(0, 30).Draw(rt, "cut"), cutMode(rapid.IntRange(0, 2).Draw(rt, "mode"))
		f.rng = seeded(rapid.Uint64().Draw(rt, "seed"))
		if _, err := install(t, o, nil, f); err != nil {
			if e, ok := errors.AsType[*apply.Refused](err); ok && e.Reason == apply.Hidden && f.writes == 0 {
				return // no table showed it to the plan
			}
			if !f.dead {
				rt.Fatal(err)
			}
			f.again()
			if _, err := install(t, o, nil, f); err != nil {
				rt.Fatal(err)
			}
		}
		installed(t, f, o, nil)
	})
}

// plantAll plants a vector as on a disk that begins at start.
func plantAll(t *testing.T, f *fake, v *probetest.Vector, start int64) {
	t.Helper()
	size := int64(f.disk.Size)
	if start > 0 {
		size = 8 * mib
	}
	d, _, err := v.OnDisk(size)
	if err != nil {
		t.Fatal(err)
	}
	for at, what := range d.Planted {
		f.plant(start+at, string(what))
	}
}
