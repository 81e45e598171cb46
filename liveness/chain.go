package liveness

import "time"

// A chain is a run of faults of one scope, each too close to the one before for
// nodes to be judged in between.
type chain struct {
	begin, end Instant       // the grace that the latest fault earned
	over       Instant       // a fault that begins then or later starts a new chain
	used       time.Duration // of GraceMax, up to begin
	bounded    bool          // some fault earned less than it asked for
}

// earn adds a fault that lasted from an instant until back, and asks for a
// grace from back on.
//
// Each fault uses up the grace that ran before it, and its own length up to
// OutageAfter: without that a crash loop that never stays up would cost
// nothing, and with the whole length a single long outage would cost all. A
// chain is over when a lease has passed since the end of the grace it asked
// for: by then every dead node could be judged.
func (c *chain) earn(w *Windows, from, back Instant, grace time.Duration) {
	if from >= c.over {
		*c = chain{end: c.end}
	} else {
		c.used += c.ran(from) + min(back.Sub(from), w.OutageAfter)
	}
	left := w.GraceMax - c.used
	if left < max(grace, 1) {
		c.bounded = true
	}
	if left > 0 {
		c.end = max(c.end, back.Add(min(grace, left)))
	}
	c.begin = back
	c.over = max(c.over, back.Add(grace+w.Lease))
}

// ran is how much of the latest grace had run at an instant.
func (c *chain) ran(at Instant) time.Duration {
	return max(0, min(at, c.end).Sub(c.begin))
}

func (c *chain) cut(now Instant) bool { return c.bounded && now < c.over }

func (c *chain) row(gateway string, now Instant) GraceRow {
	return GraceRow{
		Gateway: gateway,
		Left:    c.end.Sub(now),
		Over:    c.over.Sub(now),
		Used:    c.used + c.ran(now),
		Bounded: c.bounded,
	}
}
