package probetest_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/ingotmetal/ingot/disklayout/probe/probetest"
)

func TestVectorsAreOnTheirDisks(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := probetest.Vectors(raw)
	if err != nil || len(all) != 71 {
		t.Fatalf("%d vectors, %v", len(all), err)
	}
	for _, v := range all {
		for _, size := range []int64{64 << 20, 5 << 40} {
			d, typ, err := v.OnDisk(size)
			if err != nil || typ == "" {
				t.Fatal(err)
			}
			for at, what := range d.Planted {
				got := make([]byte, len(what)+2)
				if n, err := d.ReadAt(got, at-1); at > 0 && (n < len(what)+1 || err != nil && at+int64(len(what)) < size || !bytes.Equal(got[1:][:len(what)], what)) {
					t.Errorf("%s on %d bytes: at %d %d, %v: % x, planted % x", v.Name, size, at, n, err, got, what)
				}
			}
		}
	}
	if _, _, err := (&probetest.Vector{Name: "nobody's"}).OnDisk(1 << 20); err == nil {
		t.Error("an unknown name is planted")
	}
}
