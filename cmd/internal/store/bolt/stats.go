package bolt

import (
	"sync"
	"time"
)

// SizeAlarm is the file size, in bytes, at which Stats.SizeAlarm goes up. bbolt's
// files never shrink.
const SizeAlarm = 4 << 30

// A Latency says how long commits took.
type Latency struct {
	Bounds []time.Duration // upper bounds of the buckets
	Counts []uint64        // cumulative, one for each bound
	Count  uint64
	Sum    time.Duration
	Last   time.Duration
	Max    time.Duration
}

// Stats are a store's figures at one instant.
type Stats struct {
	FileSize  int64 // bytes
	SizeAlarm bool  // FileSize has reached SizeAlarm
	PageSize  int   // bytes
	// FreePages are free to be used again; PendingPages will be once the oldest
	// reader has ended.
	FreePages, PendingPages int
	Readers                 int           // views and backups under way
	OldestReader            time.Duration // its age
	Commits, Closures       uint64        // closures that the commits made durable
	Commit                  Latency
	Mark                    Found // what Open found
	MarkErr                 error // why the mark on disk is behind, else nil
	Probe                   Probe
}

// timing gathers how long commits took.
type timing struct {
	mu sync.Mutex
	l  Latency
}

// bounds are those of the histogram: 0.1 ms to 1.6 s, by doubling.
func bounds() []time.Duration {
	var out []time.Duration
	for d := 100 * time.Microsecond; d < 2*time.Second; d *= 2 {
		out = append(out, d)
	}
	return out
}

func (t *timing) took(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.l.Counts == nil {
		t.l.Bounds = bounds()
		t.l.Counts = make([]uint64, len(t.l.Bounds))
	}
	for i, bound := range t.l.Bounds {
		if d <= bound {
			t.l.Counts[i]++
		}
	}
	t.l.Count++
	t.l.Sum += d
	t.l.Last, t.l.Max = d, max(t.l.Max, d)
}

func (t *timing) latency() Latency {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.l
	l.Bounds = bounds()
	l.Counts = append(make([]uint64, 0, len(l.Bounds)), l.Counts...)[:len(l.Bounds)]
	return l
}

// Stats returns the store's figures. They are no snapshot: each is read by itself.
func (s *Store) Stats() Stats {
	db := s.db.Stats()
	out := Stats{FreePages: db.FreePageN, PendingPages: db.PendingPageN, PageSize: s.pageSize,
		Commit: s.timing.latency(), Mark: s.was, MarkErr: s.mark.trouble(), Probe: s.probe}
	if info, err := s.file.Stat(); err == nil { // not after Close
		out.FileSize = info.Size()
	}
	out.SizeAlarm = out.FileSize >= SizeAlarm
	out.Readers, out.OldestReader = s.readers.oldest(s.opt.Now())
	out.Commits, out.Closures = s.c.Counts()
	return out
}
