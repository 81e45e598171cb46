package apply

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ingotmetal/ingot/disklayout"
)

// TestESPSizes makes FATs of many sizes, those that go-diskfs gets wrong among
// them, and lets fsck.fat judge those that it can.
func TestESPSizes(t *testing.T) {
	const mib = disklayout.MiB
	for sector, sizes := range map[uint32][]uint64{
		512:  {33, 64, 128, 260, 261, 512, 4095, 4096, 8193},
		4096: {260, 512, 4096, 8192},
	} {
		for _, n := range sizes {
			p := &disklayout.Part{Number: 1, First: mib / uint64(sector), Start: mib, Size: n * mib, UUID: disklayout.UUID{1, 2, 3, 4}}
			made, err := esp(p, sector, nil)
			if err != nil {
				t.Errorf("%d MiB in sectors of %d: %v", n, sector, err)
				continue
			}
			again, err := esp(p, sector, nil)
			if err != nil || len(again) != len(made) || !bytes.Equal(made[0].bytes, again[0].bytes) {
				t.Errorf("%d MiB: a second time it is another: %v", n, err)
			}
			if last := made[len(made)-1]; made.overlaps() || made[0].at != mib || last.end() > p.Start+p.Size {
				t.Errorf("%d MiB: it lies at %d to %d", n, made[0].at, last.end())
			}
			t.Run(fmt.Sprintf("%d/%d", sector, n), func(t *testing.T) { fsck(t, made, p) })
		}
	}
}

func TestESPTooLargeForFAT32IsRefused(t *testing.T) {
	p := &disklayout.Part{Number: 1, Start: disklayout.MiB, Size: 600 * disklayout.GiB}
	_, err := esp(p, 512, nil)
	if e, ok := err.(*Refused); !ok || e.Reason != ESPUnsupported {
		t.Errorf("got %v", err)
	}
}

func fsck(t *testing.T, made pieces, p *disklayout.Part) {
	t.Helper()
	if _, err := exec.LookPath("fsck.fat"); err != nil {
		if os.Getenv("INGOT_TEST_ALL") == "1" {
			t.Fatal("fsck.fat is missing: install dosfstools")
		}
		t.Skip("fsck.fat is missing: install dosfstools")
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "esp"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(p.Size)); err != nil {
		t.Fatal(err)
	}
	dirt := bytes.Repeat([]byte("whatever"), 1<<21) // what the disk held before
	if _, err := f.WriteAt(dirt, 0); err != nil {
		t.Fatal(err)
	}
	for _, m := range made {
		if _, err := f.WriteAt(m.bytes, int64(m.at-p.Start)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("fsck.fat", "-n", f.Name()).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
