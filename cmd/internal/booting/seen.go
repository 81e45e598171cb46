package booting

import (
	"encoding/hex"
	"slices"
	"time"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/cmd/api"
)

// The bounds of BOOT-10.
const (
	seenMACs = 256
	seenLife = 24 * time.Hour
)

// Seen is the sightings of MACs that are not known (BOOT-10): a bounded memory that is
// reported whole. It is not safe for concurrent use.
type Seen struct {
	by    map[booter.MAC]*api.SeenBoot
	dirty bool // something is there that was not reported
}

// Note takes a sighting in. When there are too many, the one seen longest ago goes.
func (s *Seen) Note(r booter.Request, arch booter.Arch, now time.Time) {
	if s.by == nil {
		s.by = map[booter.MAC]*api.SeenBoot{}
	}
	s.dirty = true
	b, ok := s.by[r.MAC]
	if !ok {
		if len(s.by) >= seenMACs {
			s.forgetOldest()
		}
		b = &api.SeenBoot{MAC: r.MAC.String(), FirstSeen: now}
		s.by[r.MAC] = b
	}
	b.LastSeen, b.Arch, b.Relay = now, int(arch), addrText(r.RelayIP)
	if r.UUID != ([16]byte{}) {
		b.Product = uuidText(r.UUID)
	}
	b.Count++
}

func (s *Seen) forgetOldest() {
	var oldest booter.MAC
	for mac, b := range s.by {
		if o, ok := s.by[oldest]; !ok || b.LastSeen.Before(o.LastSeen) {
			oldest = mac
		}
	}
	delete(s.by, oldest)
}

// Forget lets go of a MAC that has a record now.
func (s *Seen) Forget(mac booter.MAC) {
	if _, ok := s.by[mac]; ok {
		delete(s.by, mac)
		s.dirty = true
	}
}

// Report is all that is remembered, in the order of the MACs; false where nothing
// changed since the last one.
func (s *Seen) Report(now time.Time) ([]api.SeenBoot, bool) {
	for mac, b := range s.by {
		if now.Sub(b.LastSeen) > seenLife {
			delete(s.by, mac)
			s.dirty = true
		}
	}
	if !s.dirty {
		return nil, false
	}
	s.dirty = false
	out := make([]api.SeenBoot, 0, len(s.by))
	for _, b := range s.by {
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b api.SeenBoot) int { return slices.Compare([]byte(a.MAC), []byte(b.MAC)) })
	return out, true
}

// Len is how many are remembered.
func (s *Seen) Len() int { return len(s.by) }

// Again says that the last report did not arrive.
func (s *Seen) Again() { s.dirty = true }

// uuidText is a product UUID as it was sent.
func uuidText(u [16]byte) string {
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Served is what was answered or not, for the control plane's record of boots: a
// bounded queue that drops the oldest, with equal silences counted as one. It is not
// safe for concurrent use.
type Served struct {
	queue   []api.ServedOnce
	Dropped uint64
}

// Note adds one.
func (s *Served) Note(once api.ServedOnce) {
	once.Count = 1
	s.add(once)
}

func (s *Served) add(once api.ServedOnce) {
	for i := range s.queue {
		q := &s.queue[i]
		if q.MAC == once.MAC && q.Stage == once.Stage && q.Image == once.Image && q.Silence == once.Silence {
			q.Time, q.Count = once.Time, q.Count+once.Count
			return
		}
	}
	if len(s.queue) >= seenMACs {
		s.Dropped += s.queue[0].Count
		s.queue = s.queue[1:]
	}
	s.queue = append(s.queue, once)
}

// Back puts back what was taken and did not arrive.
func (s *Served) Back(taken []api.ServedOnce) {
	since := s.queue
	s.queue = nil
	for _, once := range slices.Concat(taken, since) {
		s.add(once)
	}
}

// Take empties the queue.
func (s *Served) Take() []api.ServedOnce {
	out := s.queue
	s.queue = nil
	return out
}
