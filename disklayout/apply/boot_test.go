package apply

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/disklayout"
)

// noise are n bytes that do not repeat.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b) // it never fails
	return b
}

// An ESP of any size holds its program, as fsck.fat judges, and the same bytes each
// time.
func TestESPWithAProgram(t *testing.T) {
	const mib = disklayout.MiB
	for _, c := range []struct {
		sector  uint32
		mib     uint64
		program int
	}{{512, 33, 1}, {512, 33, 30 * mib}, {512, 64, 20*mib + 77}, {512, 261, 4096}, {512, 512, 40 * mib}, {512, 8193, 9000}, {4096, 260, 20*mib + 1}, {4096, 512, 4096}} {
		t.Run(fmt.Sprintf("%d/%d/%d", c.sector, c.mib, c.program), func(t *testing.T) {
			p := &disklayout.Part{Number: 1, First: mib / uint64(c.sector), Start: mib, Size: c.mib * mib, UUID: disklayout.UUID{1, 2, 3, 4}}
			boot := &program{"/EFI/BOOT/BOOTX64.EFI", noise(c.program)}
			began := time.Now()
			made, err := esp(p, c.sector, boot)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.1f MiB in %v", float64(c.program)/mib, time.Since(began))
			again, err := esp(p, c.sector, boot)
			if err != nil || len(again) != len(made) {
				t.Fatalf("a second time it has %d pieces, not %d: %v", len(again), len(made), err)
			}
			for i := range made {
				if again[i].at != made[i].at || !bytes.Equal(again[i].bytes, made[i].bytes) {
					t.Fatalf("a second time piece %d is another", i)
				}
			}
			if last := made[len(made)-1]; made.overlaps() || made[0].at != mib || last.end() > p.Start+p.Size {
				t.Errorf("it lies at %d to %d", made[0].at, last.end())
			}
			fsck(t, made, p)
		})
	}
}
