package bolt

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Probe is how long the disk takes to keep what it was given.
type Probe struct {
	Median time.Duration // of a few writes of 8 KiB, each synced; 0: not measured
	// Implausible says that no disk is this fast without a cache that survives a
	// loss of power: what it reports as kept may not be.
	Implausible bool
	Err         error // why nothing was measured
}

const (
	probeSize  = 8 << 10
	probeTimes = 5
	tooFast    = 20 * time.Microsecond
)

// probe measures beside path. A clock that stands still measures nothing.
func probe(path string, now func() time.Time) Probe {
	f, err := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if err != nil {
		return Probe{Err: err}
	}
	defer os.Remove(f.Name())
	defer f.Close()
	took, block := make([]time.Duration, probeTimes), make([]byte, probeSize)
	for i := range took {
		from := now()
		if _, err = f.WriteAt(block, 0); err == nil {
			err = fdatasync(f)
		}
		if err != nil {
			return Probe{Err: err}
		}
		took[i] = now().Sub(from)
	}
	slices.Sort(took)
	median := took[probeTimes/2]
	return Probe{Median: median, Implausible: 0 < median && median < tooFast}
}
